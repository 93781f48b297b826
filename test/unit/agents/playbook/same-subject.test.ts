import { expect, it } from 'vitest';
import { otherSubject } from '../../../../src/agents/playbook/same-subject.ts';
import { loadRunbooks } from '../../../../src/runbooks/load-runbooks.ts';
import { anIncident } from './scripted-work.ts';

const { runbooks } = await loadRunbooks('runbooks');
const about = (
  id: string,
  alertName: string,
  part: Parameters<typeof anIncident>[0] = {},
  by: { readonly isListed?: boolean; readonly isFault?: boolean } = {},
) => {
  const runbook = runbooks.find((one) => one.id === id);
  if (!runbook) throw new Error(`no runbook ${id}`);
  return otherSubject(runbook, anIncident({ alertName, title: alertName, ...part }), {
    shown: '',
    isListed: true,
    isFault: false,
    ...by,
  });
};

it.each([
  ['long-running-query', 'MariaSlowQueriesHigh', 'maria'],
  ['long-running-query', 'PgQueryTimeoutHigh', 'timeout'],
  ['connection-exhaustion', 'RedisTooManyConnections', 'redis'],
  ['host-bad-configuration', 'CollectorBadConfig', 'collector'],
  ['host-service-down', 'HostSystemdTimerFailed', 'timer'],
  ['blocked-sessions', 'PostgresBlockedSessionsRate', 'rate'],
  ['kubernetes-out-of-memory', 'MysqlOOMKilled', 'mysql'],
  ['kubernetes-image-pull', 'HarborImagePullBackOff', 'harbor'],
])('%s does not answer %s', (id, name, word) => {
  expect(about(id, name)).toBe(word);
});

it.each([
  ['long-running-query', 'PostgresLongRunningQueries'],
  ['connection-exhaustion', 'postgresql_too_many_connections'],
  ['connection-exhaustion', 'ShopDbConnectionsExhausted'],
  ['host-service-down', 'HostServiceDown'],
  ['deadlocks', 'PGDeadlocksRate'],
  ['kubernetes-out-of-memory', 'KubeContainerOOMKilled'],
  ['kubernetes-image-pull', 'PodImagePullBackOff'],
  ['kubernetes-evicted', 'KubePodEvicted'],
  ['kubernetes-service-without-endpoints', 'KubeServiceNoEndpoints'],
])('%s answers %s', (id, name) => {
  expect(about(id, name)).toBeNull();
});

it('reads what the alert says of itself elsewhere, and not where its links lead', () => {
  const said = (description: string) =>
    about('long-running-query', 'SlowQueries', { annotations: { description } });
  expect(said('Seen by MySQL on this host.')).toBe('mysql');
  expect(said('3 slow ones per second')).toBe('rate');
  expect(said('See https://example.org/prometheus/rate.')).toBeNull();
  expect(about('long-running-query', 'SlowQueries', { labels: { job: 'mysqld' } })).toBe('mysqld');
});

it('takes a cause for what the alert means where only its surroundings are named', () => {
  const said = (title: string, isListed = true) =>
    about('long-running-query', 'SlowQueries', { title }, { isListed, isFault: true });
  expect(said('Slow queries, says Prometheus: p99 latency of the pod is high')).toBeNull();
  expect(said('Slow queries of Redis')).toBe('redis');
  expect(said('Slow queries of Redis', false)).toBe('redis');
  expect(about('checkpoint-storm', 'StreamCheckpointHigh', {}, { isFault: true })).toBe('stream');
  expect(
    about('checkpoint-storm', 'StreamCheckpointHigh', {}, { isFault: true, isListed: false }),
  ).toBeNull();
});
