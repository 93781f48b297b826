import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { objectIn, type PagingServer, pagingServer } from './paging-server.ts';

/** A page at a receiver of one's own, which does as docs/escalation.md says. */
export interface ReceivedPage {
  readonly key: string;
  status: 'open' | 'acknowledged' | 'resolved';
  readonly summary: string;
}

export interface FakeWebhook {
  readonly server: PagingServer;
  readonly key: string;
  readonly pages: readonly ReceivedPage[];
  open(key: string): readonly ReceivedPage[];
  stop(): Promise<void>;
}

const head = { version: z.literal(1), id: z.string().regex(/^[0-9a-f]{32}$/), dedup_key: z.string().min(1) };
/** What docs/escalation.md describes, and no field more. */
export const WebhookMessage = z.discriminatedUnion('event', [
  z.strictObject({
    ...head,
    event: z.literal('trigger'),
    incident: z.string(),
    level: z.int().min(1),
    severity: z.enum(['critical', 'error', 'warning', 'info', 'unknown']),
    summary: z.string().min(1).max(1024),
    target: z.string().nullable(),
    reason: z.string(),
    evidence: z.array(z.string()),
    url: z.string().nullable(),
  }),
  z.strictObject({ ...head, event: z.literal('acknowledge'), by: z.string() }),
  z.strictObject({ ...head, event: z.literal('resolve'), why: z.string() }),
]);

export async function fakeWebhook(): Promise<FakeWebhook> {
  const key = 'of-a-test-of-the-webhook-pager';
  const pages: ReceivedPage[] = [];
  /** Of messages about pages that are open: the same page may be opened again later. */
  const seen = new Map<string, string>();
  const openOf = (dedupKey: string) =>
    pages.filter((page) => page.key === dedupKey && page.status !== 'resolved');
  const server = await pagingServer(({ method, headers, body }) => {
    const expected = `sha256=${createHmac('sha256', key).update(body).digest('hex')}`;
    if (headers['x-sentry-signature'] !== expected) return { status: 401, body: { error: 'signature' } };
    const parsed = WebhookMessage.safeParse(objectIn(body));
    if (method !== 'POST' || !parsed.success)
      return { status: 400, body: { error: 'not the documented form' } };
    const message = parsed.data;
    if (seen.has(message.id)) return { status: 200, body: {} };
    seen.set(message.id, message.dedup_key);
    if (message.event === 'resolve')
      for (const [id, of] of seen) if (of === message.dedup_key) seen.delete(id);
    const [page] = openOf(message.dedup_key);
    if (message.event === 'trigger') {
      if (!page) pages.push({ key: message.dedup_key, status: 'open', summary: message.summary });
    } else if (page) page.status = message.event === 'resolve' ? 'resolved' : 'acknowledged';
    return { status: 200, body: {} };
  });
  return { server, key, pages, open: openOf, stop: () => server.stop() };
}
