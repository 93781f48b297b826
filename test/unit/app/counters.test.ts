import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { alertCounter } from '../../../src/app/alert-metrics.ts';
import { countingErrors } from '../../../src/app/model-metrics.ts';
import type { Alert } from '../../../src/core/alert.ts';
import { asIncidentId } from '../../../src/core/ids.ts';
import type { Tx } from '../../../src/core/sql.ts';
import type { Accepted } from '../../../src/ingest/accept.ts';
import type { ModelBackend } from '../../../src/llm/backend.ts';
import { LlmError } from '../../../src/llm/llm-error.ts';

const from = (source: string) => ({ source }) as Alert;
const opened: Accepted = { kind: 'opened', incidentId: asIncidentId('INC-1') };

it('counts an accepted alert by its source and the way it came, and none that was not accepted [M7]', async () => {
  const metrics = new Registry();
  const { counting, countingIn } = alertCounter(metrics);
  const accept = counting(async ({ source }) => {
    if (source === 'lost') throw new Error('no record');
    return opened;
  });
  for (const source of ['alertmanager', 'alertmanager', 'slack', 'hand', 'container-events'])
    await accept(from(source));
  await expect(accept(from('lost'))).rejects.toThrow('no record');
  const inOne = countingIn(async () => [opened, { kind: 'orphan_resolved', incidentId: null }]);
  await inOne({} as Tx, [from('log-lines'), from('log-lines')]);
  const counts = (await metrics.metrics()).split('\n').filter((line) => line.includes('{'));
  expect(counts).toEqual([
    'sentry_alerts_accepted_total{source="alertmanager",way="webhook",kind="opened"} 2',
    'sentry_alerts_accepted_total{source="slack",way="slack",kind="opened"} 1',
    'sentry_alerts_accepted_total{source="hand",way="other",kind="opened"} 1',
    'sentry_alerts_accepted_total{source="container-events",way="other",kind="opened"} 1',
    'sentry_alerts_accepted_total{source="log-lines",way="other",kind="opened"} 1',
    'sentry_alerts_accepted_total{source="log-lines",way="other",kind="orphan_resolved"} 1',
  ]);
});

it('counts the tries of the model that failed, by code, and passes each failure on [M7]', async () => {
  const metrics = new Registry();
  const failures: unknown[] = [new LlmError('LLM_OVERLOADED', 'full'), new Error('a bug'), null];
  const backend = countingErrors(
    {
      attempt: async () => {
        const failure = failures.shift();
        if (failure) throw failure;
        return 'an answer' as never;
      },
    } as unknown as ModelBackend,
    metrics,
  );
  const attempt = () => backend.attempt({} as never, {} as never);
  await expect(attempt()).rejects.toThrow('full');
  await expect(attempt()).rejects.toThrow('a bug');
  await expect(attempt()).resolves.toBe('an answer');
  const counts = (await metrics.metrics()).split('\n').filter((line) => line.includes('{'));
  expect(counts).toEqual([
    'sentry_model_errors_total{code="LLM_OVERLOADED"} 1',
    'sentry_model_errors_total{code="UNKNOWN"} 1',
  ]);
});
