import { createHash, createHmac } from 'node:crypto';
import { clipLine } from '../../../core/clip.ts';
import { storable } from '../../../core/storable.ts';
import type { WebhookConfig } from '../../escalation-config.ts';
import type { Delivered, Page, Pager } from '../../ports.ts';
import { deliver, type Receiver } from '../deliver.ts';
import { evidenceOf, headlineOf } from '../page-text.ts';

/** A receiver of one's own. What it is sent, and how it is signed, docs/escalation.md describes. */
export function createWebhook({ name, key, url }: WebhookConfig, timeoutMs?: number): Pager {
  const receiver: Receiver = {
    title: `The webhook of pager ${name}`,
    key,
    accepts: (status) => status >= 200 && status < 300,
    isKeyFault: (status) => status === 401 || status === 403,
    keyHint: 'It has to check x-sentry-signature with the same key that the pager in sentry.yaml names.',
  };
  const send = (message: object, signal: AbortSignal): Promise<Delivered> => {
    const said = JSON.stringify(message);
    // The same message has the same id, however often it is sent.
    const id = createHash('sha256').update(said).digest('hex').slice(0, 32);
    const body = JSON.stringify({ version: 1, id, ...message });
    const signature = `sha256=${createHmac('sha256', key).update(body).digest('hex')}`;
    return deliver(
      receiver,
      { method: 'POST', url, headers: { 'x-sentry-signature': signature }, body, timeoutMs },
      signal,
    );
  };
  return {
    name,
    trigger: (page, signal) => send(triggerOf(page), signal),
    acknowledge: (dedupKey, by, signal) =>
      send({ event: 'acknowledge', dedup_key: dedupKey, by: clipLine(storable(by), 100) }, signal),
    resolve: (dedupKey, why, signal) =>
      send({ event: 'resolve', dedup_key: dedupKey, why: clipLine(storable(why), 1_000) }, signal),
  };
}

function triggerOf(page: Page): object {
  const { incidentId, dedupKey, level, severity, target, reason, url } = page;
  return {
    event: 'trigger',
    dedup_key: dedupKey,
    incident: incidentId,
    level,
    severity,
    summary: headlineOf(page, 1_024),
    target: target === null ? null : clipLine(storable(target), 255),
    reason: clipLine(storable(reason), 500),
    evidence: evidenceOf(page),
    url,
  };
}
