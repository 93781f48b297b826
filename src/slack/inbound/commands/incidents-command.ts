import { closestName } from '../../../core/closest-name.ts';
import { groupTitle } from '../../../core/group.ts';
import type { Incident } from '../../../core/incident.ts';
import { formatStanding } from '../../../incidents/questions/format-state.ts';
import type { SlackContext } from '../../context.ts';
import { type Say, sayText } from '../../outbound/tell.ts';
import { readableBy } from '../../people/access.ts';
import { messageUrl } from '../../people/identity.ts';
import { heading, list, paragraph, prose, small, words } from '../../views/blocks/build.ts';
import { cut } from '../../views/blocks/text.ts';
import { incidentLine } from '../../views/home.ts';
import type { Asked } from './command.ts';

/** So many incidents are listed. */
const NEWEST = 15;
/** Among so many, newest first, those of a system or a day are looked for. */
const LOOKED_AT = 200;
const DAY_MS = 24 * 60 * 60_000;

/** Also where Slack cannot say now who may read what. */
export const NONE_TO_TELL = 'There is no incident that I may tell you of here.';

/** Which of them are asked for, and how the list is called. */
interface Wanted {
  readonly title: string;
  readonly incidents: readonly Incident[];
  readonly none: string;
}

/** `/sentry incidents [open|today|mine|<system>]`: the newest that this person may read of. */
export async function incidentsCommand(context: SlackContext, asked: Asked): Promise<Say> {
  const { title, incidents, none } = await wanted(context, asked);
  const [first] = incidents;
  if (first === undefined) return sayText(none);
  const found = incidents.slice(0, NEWEST);
  const url = (inChannel: string | null, ts: string | null): string | null =>
    inChannel && ts ? messageUrl(context.identity(), inChannel, ts) : null;
  return {
    text: cut(
      found.map((each) => `${each.id} ${groupTitle(each)} (${formatStanding(each)})`).join('\n'),
      2900,
    ),
    blocks: [
      heading(title),
      prose(
        paragraph(words(found.length < incidents.length ? `The newest ${found.length}:` : 'Newest first:')),
        list(found.map((each) => incidentLine(each, url(each.channel, each.threadTs)))),
      ),
      small(
        `All of one: /sentry why ${first.id} · only some: /sentry incidents open, today, mine, or a system’s name`,
      ),
    ],
    share: true,
  };
}

async function wanted(context: SlackContext, { userId, channel, rest }: Asked): Promise<Wanted> {
  const { records } = context.deps;
  const readable = async (incidents: readonly Incident[]) => readableBy(context, userId, channel, incidents);
  const which = rest.replace(/^(?:of|on|for|in|at)\s+/i, '').toLowerCase();
  switch (which) {
    case '':
    case 'all':
    case 'newest':
      return {
        title: 'Newest incidents',
        incidents: await readable(await records.list({ limit: 4 * NEWEST })),
        none: NONE_TO_TELL,
      };
    case 'open':
      return {
        title: 'Open incidents',
        incidents: await readable(await records.list({ limit: 4 * NEWEST, open: true })),
        none: 'None is open that I may tell you of here.',
      };
    case 'today': {
      const since = Date.now() - DAY_MS;
      const newest = await records.list({ limit: LOOKED_AT });
      return {
        title: 'Incidents of the last 24 hours',
        incidents: await readable(newest.filter(({ openedAt }) => Date.parse(openedAt) >= since)),
        none: 'None began in the last 24 hours that I may tell you of here.',
      };
    }
    case 'mine':
    case 'my':
      return {
        title: 'Open incidents that you have',
        incidents: await readable(await hadBy(context, userId)),
        none: 'You have none. To have one: /sentry ack INC-7',
      };
    default:
      return ofSystem(which, await readable(await records.list({ limit: LOOKED_AT })));
  }
}

/** Those at work or waiting that this person has taken, or was given. */
async function hadBy({ deps: { sql, records } }: SlackContext, userId: string): Promise<readonly Incident[]> {
  const open = await records.list({ limit: LOOKED_AT, open: true });
  const rows = await sql<{ readonly id: string }>`
    SELECT incident_id AS id FROM escalation
     WHERE incident_id = ANY (${sql.array(open.map(({ id }) => id))}::text[]) AND acknowledged_by = ${userId}`;
  const had = new Set(rows.map(({ id }) => id));
  return open.filter(({ id }) => had.has(id));
}

/** Of a system or a service; its name need not be spelt right, and nothing is guessed from what this person may not read. */
function ofSystem(name: string, incidents: readonly Incident[]): Wanted {
  const named = incidents.filter((each) => systemsOf(each).includes(name));
  const known = [...new Set(incidents.flatMap(systemsOf))];
  const near = closestName(name, known);
  const meant =
    near === null
      ? ` I know of ${cut(known.slice(0, 5).join(', ') || 'none', 200)}.`
      : ` Did you mean “${near}”?`;
  return {
    title: `Incidents of ${cut(name, 80)}`,
    incidents: named,
    none: `No incident of “${cut(name, 80)}” is among the newest ${LOOKED_AT} that I may tell you of.${meant}`,
  };
}

/** What people call it by: the target, and what its alert says it is of. */
function systemsOf({ target, labels }: Incident): readonly string[] {
  const named = [target, labels['service'], labels['app'], labels['namespace']];
  return named
    .filter((each): each is string => typeof each === 'string' && each !== '')
    .map((each) => each.toLowerCase());
}
