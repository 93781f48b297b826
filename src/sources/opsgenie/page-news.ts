import { z } from 'zod';
import { parsePageKey } from '../../core/page-key.ts';
import type { PageNews } from '../../core/page-news.ts';
import { personName } from '../person-name.ts';
import type { ReadContext } from '../ports.ts';
import { timeOf } from '../time-of.ts';

const text = z.string().nullish().catch(null);

/** https://support.atlassian.com/opsgenie/docs/opsgenie-edge-connector-alert-action-data/ */
const Delivery = z.object({
  action: z.string(),
  alert: z.object({ alias: z.string(), username: text, owner: text, updatedAt: z.unknown().optional() }),
});

const kinds: Readonly<Record<string, PageNews['kind'] | undefined>> = {
  acknowledge: 'acknowledged',
  unacknowledge: 'released',
  assignownership: 'reassigned',
  takeownership: 'reassigned',
  close: 'resolved',
  delete: 'resolved',
};

/** What Opsgenie's webhook tells of a page of ours; null: it is about something else. */
export function readOpsgenieNews(payload: unknown, { receivedAt }: ReadContext): PageNews | null {
  const parsed = Delivery.safeParse(payload);
  if (!parsed.success) return null;
  const { action, alert } = parsed.data;
  if (parsePageKey(alert.alias) === null) return null;
  const act = action.toLowerCase();
  const kind = Object.hasOwn(kinds, act) ? (kinds[act] ?? 'echo') : 'echo';
  // These are no persons; the last is what Sentry calls itself there.
  const by = /^(?:system|alert api|sentry)$/i.test(alert.username ?? '') ? null : personName(alert.username);
  return {
    dedupKey: alert.alias,
    kind,
    by,
    to: kind === 'reassigned' ? (personName(alert.owner) ?? (act === 'takeownership' ? by : null)) : null,
    at: timeOf(alert.updatedAt) ?? receivedAt.toISOString(),
  };
}
