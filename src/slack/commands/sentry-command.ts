import { parseIncidentId } from '../../domain/ids.ts';
import { heading, list, paragraph, prose, words } from '../blocks/build.ts';
import { escape } from '../blocks/text.ts';
import type { SlackContext } from '../context.ts';
import { messageUrl } from '../identity.ts';
import { type Say, sayStory, sayText } from '../tell.ts';
import { incidentLine } from '../views/home.ts';

export const HELP = [
  'What I can do:',
  '/sentry why [INC-n]: what happened, which evidence, what was run, who approved, what it cost',
  '/sentry status: what runs, and whether anything keeps me from working',
  '/sentry incidents: the newest incidents',
  '/sentry help: this',
  'In an incident’s thread, mention me with a question, or with what you know (“hint: …”), and I look again.',
].join('\n');

/** Answers `/sentry …`. `threadTs`: where known, the thread it was asked in. */
export async function sentryCommand(
  context: SlackContext,
  text: string,
  place: { readonly channel: string; readonly threadTs: string | null },
): Promise<Say> {
  const [verb = 'help', ...rest] = text.trim().split(/\s+/).filter(Boolean);
  switch (verb.toLowerCase()) {
    case 'why':
      return why(context, rest.join(' '), place);
    case 'status':
      return sayText((await context.statusLines()).join('\n'));
    case 'incidents':
      return incidents(context);
    case 'help':
      return sayText(HELP);
    default:
      return parseIncidentId(verb)
        ? why(context, verb, place)
        : sayText(`I do not know “${verb}”.\n\n${HELP}`);
  }
}

/** The named incident, else the thread's, else the newest. */
async function why(
  context: SlackContext,
  named: string,
  place: { readonly channel: string; readonly threadTs: string | null },
): Promise<Say> {
  const { records } = context.deps;
  const asked = named.trim();
  const id = asked ? parseIncidentId(asked) : undefined;
  if (asked && !id) return sayText(`“${asked}” is not an incident. Say it like this: /sentry why INC-7`);
  const here = place.threadTs ? await records.findByThread(place.channel, place.threadTs) : null;
  const newest = id || here ? [] : await records.list({ limit: 1 });
  const chosen = id ?? here ?? newest[0]?.id;
  if (!chosen) return sayText('There has been no incident yet.');
  const record = await records.load(chosen);
  return record ? sayStory(context.deps.why(record)) : sayText(`There is no ${chosen}.`);
}

async function incidents(context: SlackContext): Promise<Say> {
  const found = await context.deps.records.list({ limit: 15 });
  if (found.length === 0) return sayText('There has been no incident yet.');
  const url = (channel: string | null, ts: string | null): string | null =>
    channel && ts ? messageUrl(context.identity(), channel, ts) : null;
  return {
    text: escape(found.map((each) => `${each.id} ${each.title} (${each.state})`).join('\n')).slice(0, 2900),
    blocks: [
      heading('Newest incidents'),
      prose(
        paragraph(words(`The newest ${found.length}, newest first:`)),
        list(found.map((each) => incidentLine(each, url(each.channel, each.threadTs)))),
      ),
    ],
  };
}
