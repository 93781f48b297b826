import type { Log } from '../core/log.ts';
import type { Accept } from '../ingest/accept.ts';
import type { SlackDeps } from '../slack/ports.ts';
import { alertSources } from '../sources/registry.ts';

type AcceptSlackMessage = SlackDeps['acceptSlackMessage'];

/** Takes in what another app posted in an alert channel. One that is no alert is logged, not an error. */
export async function takeSlackMessage(
  message: Parameters<AcceptSlackMessage>[0],
  own: Parameters<AcceptSlackMessage>[1],
  to: { readonly accept: Accept; readonly log: Log },
): Promise<void> {
  for (const source of alertSources.filter(({ arrives }) => arrives === 'slack')) {
    const read = source.read(message, { receivedAt: new Date(), own });
    if (!read.ok)
      to.log.warn(
        { source: source.name, field: read.field, reason: read.reason },
        'a message in an alert channel could not be read as an alert',
      );
    for (const alert of read.ok ? read.alerts : []) await to.accept(alert);
  }
}
