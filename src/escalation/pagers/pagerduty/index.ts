import type { Severity } from '../../../core/alert.ts';
import { clipLine } from '../../../core/clip.ts';
import { storable } from '../../../core/storable.ts';
import type { PagerDutyConfig } from '../../escalation-config.ts';
import type { Delivered, Page, Pager } from '../../ports.ts';
import { deliver, type Receiver } from '../deliver.ts';
import { evidenceOf, headlineOf } from '../page-text.ts';

/** https://developer.pagerduty.com/docs/events-api-v2-overview */
const hosts = { us: 'https://events.pagerduty.com', eu: 'https://events.eu.pagerduty.com' } as const;

/** What nobody has judged may be the worst. */
const severities: Readonly<Record<Severity, 'critical' | 'error' | 'warning' | 'info'>> = {
  critical: 'critical',
  error: 'error',
  warning: 'warning',
  info: 'info',
  unknown: 'error',
};

/** A service of PagerDuty, by its Events API v2. It does not take who acknowledged or why it is over. */
export function createPagerDuty({ name, key, region, url }: PagerDutyConfig, timeoutMs?: number): Pager {
  const receiver: Receiver = {
    title: `PagerDuty (pager ${name})`,
    key,
    accepts: (status) => status === 202,
    isKeyFault: (status, said) =>
      status === 401 ||
      status === 403 ||
      (status === 400 && /(?:routing|integration|service).?key/i.test(said)),
    keyHint:
      'It is the integration key at PagerDuty → Services → the service → Integrations → Events API v2; look at region, too.',
  };
  const send = (event: object, signal: AbortSignal): Promise<Delivered> =>
    deliver(
      receiver,
      {
        method: 'POST',
        url: `${(url ?? hosts[region]).replace(/\/+$/, '')}/v2/enqueue`,
        headers: {},
        body: JSON.stringify({ routing_key: key, ...event }),
        timeoutMs,
      },
      signal,
    );
  return {
    name,
    trigger: (page, signal) => send(triggerOf(page), signal),
    acknowledge: (dedupKey, _by, signal) =>
      send({ event_action: 'acknowledge', dedup_key: dedupKey }, signal),
    resolve: (dedupKey, _why, signal) => send({ event_action: 'resolve', dedup_key: dedupKey }, signal),
  };
}

function triggerOf(page: Page): object {
  const { incidentId, dedupKey, level, severity, target, reason, url } = page;
  return {
    event_action: 'trigger',
    dedup_key: dedupKey,
    client: 'Sentry',
    ...(url === null ? {} : { client_url: url, links: [{ href: url, text: 'The thread in Slack' }] }),
    payload: {
      summary: headlineOf(page, 1_024),
      source: clipLine(storable(target ?? ''), 255) || 'sentry',
      severity: severities[severity],
      custom_details: {
        incident: incidentId,
        level,
        reason: clipLine(storable(reason), 500),
        evidence: evidenceOf(page),
      },
    },
  };
}
