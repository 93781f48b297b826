import { Counter, type Registry } from 'prom-client';
import type { Alert } from '../core/alert.ts';
import type { Accept, Accepted, AcceptIn } from '../ingest/accept.ts';
import { alertSources } from '../sources/registry.ts';

/** Counts each accepted alert into the metrics, whichever way it came. */
export function alertCounter(metrics: Registry) {
  const accepted = new Counter({
    name: 'sentry_alerts_accepted_total',
    help: 'Alerts accepted, by source, way (webhook, slack, other) and what they became.',
    labelNames: ['source', 'way', 'kind'],
    registers: [metrics],
  });
  const count = ({ source }: Alert, { kind }: Accepted): void =>
    accepted.inc({ source, way: wayOf(source), kind });
  return {
    counting:
      (accept: Accept): Accept =>
      async (alert) => {
        const result = await accept(alert);
        count(alert, result);
        return result;
      },
    /** Within somebody's transaction: one that is rolled back and tried again counts twice. */
    countingIn:
      (acceptIn: AcceptIn): AcceptIn =>
      async (tx, alerts) => {
        const results = await acceptIn(tx, alerts);
        results.forEach((result, n) => count(alerts[n] as Alert, result));
        return results;
      },
  };
}

/** What Sentry finds by itself, or a person reports, comes by no door. */
function wayOf(source: string): 'webhook' | 'slack' | 'other' {
  const arrives = alertSources.find(({ name }) => name === source)?.arrives;
  return arrives === 'webhook' || arrives === 'slack' ? arrives : 'other';
}
