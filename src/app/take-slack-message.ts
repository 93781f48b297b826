import type { Log } from '../core/log.ts';
import type { Accept } from '../ingest/accept.ts';
import type { SlackDeps } from '../slack/ports.ts';
import { slackMessage } from '../sources/slack-message/index.ts';

type AcceptSlackMessage = SlackDeps['acceptSlackMessage'];

/** Takes in what another app posted in an alert channel. One that is no alert is logged, not an error. */
export async function takeSlackMessage(
  message: Parameters<AcceptSlackMessage>[0],
  own: Parameters<AcceptSlackMessage>[1],
  to: { readonly accept: Accept; readonly log: Log },
): Promise<void> {
  const read = slackMessage.read(message, { receivedAt: new Date(), own });
  if (!read.ok) {
    to.log.warn(
      { field: read.field, reason: read.reason },
      'a message in an alert channel could not be read as an alert',
    );
    return;
  }
  for (const alert of read.alerts) await to.accept(alert);
}
