import type { Severity } from '../../../core/alert.ts';
import { clipLine } from '../../../core/clip.ts';
import { storable } from '../../../core/storable.ts';
import type { OpsgenieConfig } from '../../escalation-config.ts';
import type { Delivered, Page, Pager } from '../../ports.ts';
import { deliver, type Receiver } from '../deliver.ts';
import { descriptionOf, headlineOf } from '../page-text.ts';

/** https://docs.opsgenie.com/docs/alert-api; `jsm`: https://developer.atlassian.com/cloud/jira/service-desk-ops/rest/v2/ */
const hosts = {
  us: 'https://api.opsgenie.com',
  eu: 'https://api.eu.opsgenie.com',
  jsm: 'https://api.atlassian.com/jsm/ops/integration',
} as const;

/** What nobody has judged may be the worst. */
const priorities: Readonly<Record<Severity, string>> = {
  critical: 'P1',
  error: 'P2',
  warning: 'P3',
  info: 'P5',
  unknown: 'P2',
};

/** A team of Opsgenie or of Jira Service Management, by the Alert API; the alert's alias is the page's key. */
export function createOpsgenie({ name, key, region, url }: OpsgenieConfig, timeoutMs?: number): Pager {
  const receiver: Receiver = {
    title: `Opsgenie (pager ${name})`,
    key,
    accepts: (status) => status === 202,
    isKeyFault: (status, said) =>
      status === 401 || status === 403 || (status === 422 && /key format/i.test(said)),
    keyHint:
      'It is the key of an API integration that may create and change alerts: the team → Integrations → API; look at region, too.',
  };
  const send = (path: string, body: object, signal: AbortSignal): Promise<Delivered> =>
    deliver(
      receiver,
      {
        method: 'POST',
        url: `${(url ?? hosts[region]).replace(/\/+$/, '')}/v2/alerts${path}`,
        headers: { authorization: `GenieKey ${key}` },
        body: JSON.stringify({ source: 'Sentry', ...body }),
        timeoutMs,
      },
      signal,
    );
  const change = (dedupKey: string, act: 'acknowledge' | 'close', body: object, signal: AbortSignal) =>
    send(`/${encodeURIComponent(dedupKey)}/${act}?identifierType=alias`, body, signal);
  return {
    name,
    trigger: (page, signal) => send('', alertOf(page), signal),
    acknowledge: (dedupKey, by, signal) =>
      change(dedupKey, 'acknowledge', noteOf(`acknowledged by ${by}`), signal),
    resolve: (dedupKey, why, signal) => change(dedupKey, 'close', noteOf(why), signal),
  };
}

/** By its user the webhook tells what Sentry did itself: see `readOpsgenieNews`. */
const noteOf = (text: string): object => ({ user: 'Sentry', note: clipLine(storable(text), 1_000) });

function alertOf(page: Page): object {
  const { incidentId, dedupKey, level, severity, target, reason, url } = page;
  return {
    alias: dedupKey,
    message: headlineOf(page, 130),
    description: descriptionOf(page),
    priority: priorities[severity],
    entity: clipLine(storable(target ?? ''), 512),
    tags: ['sentry'],
    details: {
      incident: incidentId,
      level: String(level),
      reason: clipLine(storable(reason), 500),
      ...(url === null ? {} : { thread: url }),
    },
  };
}
