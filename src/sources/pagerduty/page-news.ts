import { z } from 'zod';
import { parsePageKey } from '../../core/page-key.ts';
import type { PageNews } from '../../core/page-news.ts';
import { personName } from '../person-name.ts';
import type { ReadContext } from '../ports.ts';
import { timeOf } from '../time-of.ts';

const Reference = z.object({ type: z.string().nullish(), summary: z.string().nullish() });
const text = z.string().nullish().catch(null);

/** https://developer.pagerduty.com/docs/webhooks-overview: an event of an incident. */
const Delivery = z.object({
  event: z.object({
    event_type: z.string(),
    occurred_at: z.unknown().optional(),
    agent: Reference.nullish().catch(null),
    data: z.object({
      type: z.literal('incident'),
      incident_key: text,
      first_trigger_log_entry: z
        .object({ channel: z.object({ incident_key: text, dedup_key: text }).nullish() })
        .nullish()
        .catch(null),
      alerts: z
        .array(z.object({ alert_key: text }))
        .nullish()
        .catch(null),
      assignees: z.array(Reference).nullish().catch(null),
    }),
  }),
});

const kinds: Readonly<Record<string, PageNews['kind'] | undefined>> = {
  'incident.acknowledged': 'acknowledged',
  'incident.unacknowledged': 'released',
  'incident.reopened': 'released',
  'incident.reassigned': 'reassigned',
  'incident.delegated': 'reassigned',
  'incident.resolved': 'resolved',
};

/** What PagerDuty's webhook tells of a page of ours; null: it is about something else. */
export function readPagerDutyNews(payload: unknown, { receivedAt }: ReadContext): PageNews | null {
  const parsed = Delivery.safeParse(payload);
  if (!parsed.success) return null;
  const { event_type: type, occurred_at: at, agent, data } = parsed.data.event;
  const channel = data.first_trigger_log_entry?.channel;
  const candidates = [
    data.incident_key,
    channel?.dedup_key,
    channel?.incident_key,
    ...(data.alerts ?? []).map((alert) => alert.alert_key),
  ];
  const dedupKey = candidates.find((key) => typeof key === 'string' && parsePageKey(key) !== null);
  if (dedupKey == null) return null;
  const kind = Object.hasOwn(kinds, type) ? (kinds[type] ?? 'echo') : 'echo';
  const isPerson = agent?.type?.startsWith('user') === true;
  return {
    dedupKey,
    kind,
    by: isPerson ? personName(agent?.summary) : null,
    to:
      kind === 'reassigned'
        ? personName((data.assignees ?? []).flatMap(({ summary }) => summary ?? []).join(', '))
        : null,
    at: timeOf(at) ?? receivedAt.toISOString(),
  };
}
