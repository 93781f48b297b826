import { groupTitle } from '../../../core/group.ts';
import { formatStanding } from '../../../incidents/questions/format-state.ts';
import type { SlackContext } from '../../context.ts';
import { type Say, sayText } from '../../outbound/tell.ts';
import { readableBy } from '../../people/access.ts';
import { messageUrl } from '../../people/identity.ts';
import { heading, list, paragraph, prose, words } from '../../views/blocks/build.ts';
import { cut } from '../../views/blocks/text.ts';
import { incidentLine } from '../../views/home.ts';
import type { Asked } from './command.ts';

/** So many incidents are listed. */
const NEWEST = 15;

/** Also where Slack cannot say now who may read what. */
export const NONE_TO_TELL = 'There is no incident that I may tell you of here.';

/** `/sentry incidents`: the newest that this person may read of. */
export async function incidentsCommand(context: SlackContext, { userId, channel }: Asked): Promise<Say> {
  const newest = await context.deps.records.list({ limit: 4 * NEWEST });
  const found = (await readableBy(context, userId, channel, newest)).slice(0, NEWEST);
  if (found.length === 0) return sayText(NONE_TO_TELL);
  const url = (inChannel: string | null, ts: string | null): string | null =>
    inChannel && ts ? messageUrl(context.identity(), inChannel, ts) : null;
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
