import { randomUUID } from 'node:crypto';
import { closestName } from '../../../core/closest-name.ts';
import { groupTitle } from '../../../core/group.ts';
import { type IncidentId, parseIncidentId } from '../../../core/ids.ts';
import { formatStanding } from '../../../incidents/questions/format-state.ts';
import type { SlackContext } from '../../context.ts';
import { type Say, sayStory, sayText } from '../../outbound/tell.ts';
import { readableBy } from '../../people/access.ts';
import { messageUrl } from '../../people/identity.ts';
import { heading, list, paragraph, prose, words } from '../../views/blocks/build.ts';
import { cut } from '../../views/blocks/text.ts';
import { incidentLine } from '../../views/home.ts';
import { createManualIncident } from './create-manual-incident.ts';
import { incidentCommand } from './incident-orders.ts';
import { memoryCommand, promotionsCommand } from './memory-command.ts';
import { mergeCommand } from './merge-command.ts';

/** Read half awake, on a phone: what to type, by what one wants. Drawn like a story: `*bold*`, `` `code` ``. */
const HELP = [
  'What I can do:',
  '',
  '*Ask*',
  '`/sentry why INC-7` what happened, with its evidence, and who approved what',
  '`/sentry incidents` the newest',
  '`/sentry status` am I all right, and is anything stopped?',
  '`/sentry cost` what the model cost',
  '',
  '*Begin*',
  '`/sentry investigate checkout is slow` opens an incident; so does mentioning me outside a thread',
  '',
  '*Take*',
  '`/sentry ack INC-7` you have it, and nobody else is called, until `/sentry release INC-7`',
  '`/sentry assign INC-7 @olivia` she has it, and is told',
  '`/sentry severity INC-7 warning` it is as bad as you say',
  '`/sentry close INC-7 fixed by hand` it is over, because you say so',
  '',
  '*Stop*',
  '`/sentry stop INC-7` one incident rests, until `/sentry resume INC-7`',
  '`/sentry stop` nothing is changed anywhere, until `/sentry resume` (admins)',
  '`/sentry stop shop-db for 2h` the same for one target or domain',
  '',
  '*One problem, or two*',
  '`/sentry merge INC-5 into INC-3` INC-5 rests as a part of INC-3, until `/sentry split INC-5`',
  '',
  '*Mute*',
  '`/sentry mute alertname="DiskFull", severity="warning" 2h deploying` its alerts wait; what still fires then is opened',
  '`/sentry mutes` what is muted; `/sentry unmute M3` ends one',
  '`/sentry silence INC-7 2h` asks to silence its alert at Alertmanager or Grafana, which somebody approves',
  '',
  '*Watch*',
  '`/sentry watch` the watched logs, how much comes in, and what cannot be read',
  '`/sentry watch stop shop-host` nothing of its logs opens incidents, until `/sentry watch start shop-host` (admins)',
  '',
  '*Remember*',
  '`/sentry memory` what is remembered, and how to add to it',
  '`/sentry promotions` what waits to become part of everybody’s memory',
  '',
  '*In an incident’s thread*',
  'Mention me with a question, “stop”, “resume”, “close”, “assign @olivia”, “severity warning”, “split” or “merge into INC-3”. “hint: …” makes me look again with what you know. “remember: …” keeps it.',
  '',
  '*Alone with me*',
  'Write me a direct message: any question about an incident, or what you see going wrong.',
].join('\n');

export const helpSay = (): Say => sayStory(HELP);

/** So many incidents are listed. */
const NEWEST = 15;

interface CommandPlace {
  readonly channel: string;
  readonly threadTs: string | null;
}

/** Who typed a command, and how to tell them something before its answer. */
interface Asking {
  readonly userId: string;
  readonly teamId: string | null;
  readonly say: (say: Say) => void;
}

/** Answers `/sentry …`. `threadTs`: where known, the thread it was asked in. */
export async function sentryCommand(
  context: SlackContext,
  text: string,
  place: CommandPlace,
  asking: Asking,
): Promise<Say> {
  const [verb = 'help', ...rest] = text.trim().split(/\s+/).filter(Boolean);
  switch (verb.toLowerCase()) {
    case 'why':
      return why(context, rest.join(' '), place, asking.userId);
    case 'status':
      return sayText((await context.statusLines()).join('\n'));
    case 'incidents':
      return incidents(context, asking.userId, place.channel);
    case 'investigate':
      return createManualIncident(context, { ...asking, text: rest.join(' '), key: randomUUID() });
    case 'memory':
      return memoryCommand(context, rest, text, { ...place, ...asking });
    case 'promotions':
      return promotionsCommand(context, { ...place, ...asking });
    case 'split':
    case 'merge': {
      const said = { verb: verb.toLowerCase() as 'split' | 'merge', text };
      return mergeCommand(context, said, { ...place, ...asking });
    }
    case 'close':
    case 'assign':
    case 'severity':
      return incidentCommand(context, text, { ...place, ...asking });
    case 'help':
      return helpSay();
    default:
      if (parseIncidentId(verb)) return why(context, verb, place, asking.userId);
      return (
        (await further(context, verb.toLowerCase(), rest.join(' '), place, asking)) ??
        sayText(unknownVerb(verb, Object.keys(context.deps.commands)))
      );
  }
}

function unknownVerb(verb: string, further: readonly string[]): string {
  const near = closestName(verb.toLowerCase(), [...OWN_VERBS, ...further]);
  const meant = near === null ? '' : ` Did you mean “${near}”?`;
  return `I do not know “${cut(verb, 40)}”.${meant} /sentry help lists what I can do.`;
}

const OWN_VERBS = [
  'why',
  'status',
  'incidents',
  'investigate',
  'memory',
  'promotions',
  'split',
  'merge',
  'close',
  'assign',
  'severity',
  'help',
];

/** The commands that others bring; undefined when there is none of that name. */
async function further(
  context: SlackContext,
  verb: string,
  text: string,
  { channel, threadTs }: CommandPlace,
  asking: Asking,
): Promise<Say | undefined> {
  const { commands, records } = context.deps;
  const command = Object.hasOwn(commands, verb) ? commands[verb] : undefined;
  if (!command) return undefined;
  const may = await context.directory.mayAct(asking.userId, asking.teamId);
  if (!may.ok) return sayText(may.reason);
  const incidentId = threadTs ? await records.findByThread(channel, threadTs) : null;
  // Whatever is asked for: what may not be read can neither be stopped nor gone on with, nor be learnt of by trying.
  const [first = ''] = text.trim().split(/\s+/);
  const named = verb === 'cost' || /^inc-/i.test(first) ? parseIncidentId(first) : undefined;
  if (named && named !== incidentId) {
    const found = await records.load(named);
    const mayRead = found && (await context.access.mayRead(asking.userId, found.incident, channel));
    if (!mayRead) return sayText(notToSee(named));
  }
  const say = (words: string): void => asking.say(sayText(words));
  return sayText(await context.withNames(await command({ text, by: asking.userId, incidentId, say })));
}

/** The named incident, else the thread's, else the newest. */
async function why(context: SlackContext, named: string, place: CommandPlace, userId: string): Promise<Say> {
  const { records } = context.deps;
  const asked = named.trim();
  const id = asked ? parseIncidentId(asked) : undefined;
  if (asked && !id)
    return sayText(`“${cut(asked, 60)}” is not an incident’s number. Say it like this: /sentry why INC-7`);
  const here = place.threadTs ? await records.findByThread(place.channel, place.threadTs) : null;
  const newest =
    id || here ? [] : await readableBy(context, userId, place.channel, await records.list({ limit: NEWEST }));
  const chosen = id ?? here ?? newest[0]?.id;
  if (!chosen) return sayText(NONE_TO_TELL);
  const record = await records.load(chosen);
  const may =
    record !== null &&
    (chosen === here || (await context.access.mayRead(userId, record.incident, place.channel)));
  return may ? sayStory(context.deps.why(record)) : sayText(notToSee(chosen));
}

/** Also where Slack cannot say now who may read what. */
const NONE_TO_TELL = 'There is no incident that I may tell you of here.';

/** The same words for both: whether there is one in a private channel is its members' to know. */
const notToSee = (id: IncidentId): string => `There is no ${id} that you may see.`;

async function incidents(context: SlackContext, userId: string, channel: string): Promise<Say> {
  const newest = await context.deps.records.list({ limit: 4 * NEWEST });
  const found = (await readableBy(context, userId, channel, newest)).slice(0, NEWEST);
  if (found.length === 0) return sayText(NONE_TO_TELL);
  const url = (channel: string | null, ts: string | null): string | null =>
    channel && ts ? messageUrl(context.identity(), channel, ts) : null;
  return {
    text: cut(
      found.map((each) => `${each.id} ${groupTitle(each)} (${formatStanding(each)})`).join('\n'),
      2900,
    ),
    blocks: [
      heading('Newest incidents'),
      prose(
        paragraph(words(`The newest ${found.length}, newest first:`)),
        list(found.map((each) => incidentLine(each, url(each.channel, each.threadTs)))),
      ),
    ],
  };
}
