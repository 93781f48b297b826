import { expect, test } from 'vitest';
import type { Pod } from '../../../../src/targets/kubernetes/objects.ts';
import {
  exceededQuota,
  isIll,
  missingConfig,
  podState,
  whyUnschedulable,
} from '../../../../src/targets/kubernetes/pod-state.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const before = (seconds: number) => new Date(NOW - seconds * 1_000).toISOString();

type Status = NonNullable<Pod['status']>;

const pod = (status: Status, metadata: Partial<Pod['metadata']> = {}): Pod => ({
  metadata: {
    name: 'web-1',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: before(600),
    ...metadata,
  },
  spec: { containers: [{ name: 'web', image: 'shop:1' }], nodeName: 'node-1' },
  status,
});

const container = (rest: Partial<NonNullable<Status['containerStatuses']>[number]>) => ({
  name: 'web',
  ready: false,
  restartCount: 0,
  ...rest,
});

const ready = { type: 'Ready', status: 'True' };
const troubleOf = (status: Status, metadata?: Partial<Pod['metadata']>) =>
  podState(pod(status, metadata), NOW).trouble;

test.each<[string, Status, string]>([
  [
    'runs and is ready',
    {
      phase: 'Running',
      conditions: [ready],
      containerStatuses: [container({ ready: true, state: { running: { startedAt: before(500) } } })],
    },
    'none',
  ],
  [
    'waits before its next start',
    {
      phase: 'Running',
      containerStatuses: [
        container({
          restartCount: 4,
          state: { waiting: { reason: 'CrashLoopBackOff' } },
          lastState: { terminated: { exitCode: 1 } },
        }),
      ],
    },
    'crash_loop',
  ],
  [
    'was just started again, and so is up for now',
    {
      phase: 'Running',
      conditions: [ready],
      containerStatuses: [
        container({ ready: true, restartCount: 3, state: { running: { startedAt: before(5) } } }),
      ],
    },
    'crash_loop',
  ],
  [
    'has ended for the first time',
    { phase: 'Running', containerStatuses: [container({ state: { terminated: { exitCode: 1 } } })] },
    'not_ready',
  ],
  [
    'was started again once, a moment ago',
    {
      phase: 'Running',
      conditions: [ready],
      containerStatuses: [
        container({ ready: true, restartCount: 1, state: { running: { startedAt: before(5) } } }),
      ],
    },
    'none',
  ],
  [
    'was started again long ago',
    {
      phase: 'Running',
      conditions: [ready],
      containerStatuses: [
        container({ ready: true, restartCount: 3, state: { running: { startedAt: before(300) } } }),
      ],
    },
    'none',
  ],
  [
    'used more memory than its limit',
    {
      phase: 'Running',
      containerStatuses: [
        container({
          restartCount: 2,
          state: { waiting: { reason: 'CrashLoopBackOff' } },
          lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } },
        }),
      ],
    },
    'out_of_memory',
  ],
  [
    'has an image that cannot be pulled',
    {
      phase: 'Pending',
      containerStatuses: [container({ state: { waiting: { reason: 'ErrImagePull' } } })],
    },
    'image',
  ],
  [
    'names a config map that is not there',
    {
      phase: 'Pending',
      containerStatuses: [container({ state: { waiting: { reason: 'CreateContainerConfigError' } } })],
    },
    'missing_config',
  ],
  [
    'is being set up',
    {
      phase: 'Pending',
      containerStatuses: [container({ state: { waiting: { reason: 'ContainerCreating' } } })],
    },
    'waiting',
  ],
  [
    'fits on no node',
    {
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
    },
    'unschedulable',
  ],
  ['was evicted', { phase: 'Failed', reason: 'Evicted' }, 'evicted'],
  ['has failed', { phase: 'Failed' }, 'failed'],
  ['has done its work', { phase: 'Succeeded' }, 'finished'],
  [
    'runs, and its probe fails',
    {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'False' }],
      containerStatuses: [container({ state: { running: { startedAt: before(500) } } })],
    },
    'not_ready',
  ],
  ['is on a node that is away', { phase: 'Unknown' }, 'node_lost'],
  [
    'waits for an init container that keeps failing',
    {
      phase: 'Pending',
      initContainerStatuses: [
        container({
          name: 'migrate',
          restartCount: 1,
          state: { waiting: { reason: 'CrashLoopBackOff' } },
          lastState: { terminated: { exitCode: 2 } },
        }),
      ],
      containerStatuses: [container({ state: { waiting: { reason: 'PodInitializing' } } })],
    },
    'crash_loop',
  ],
])('a pod that %s', (_, status, trouble) => {
  expect(troubleOf(status)).toBe(trouble);
});

test('a pod that is being ended is in no trouble, whatever its containers do meanwhile', () => {
  const status: Status = {
    phase: 'Running',
    containerStatuses: [container({ state: { terminated: { exitCode: 143 } } })],
  };
  const state = podState(pod(status, { deletionTimestamp: before(1) }), NOW);
  expect(state.trouble).toBe('terminating');
  expect(isIll(state)).toBe(false);
});

test('a pod that was to have ended long ago is in trouble, and what keeps it is told', () => {
  const running: Status = { phase: 'Running', conditions: [ready] };
  const state = podState(
    pod(running, { deletionTimestamp: before(3_600), finalizers: ['example.com/backup'] }),
    NOW,
  );
  expect(state).toMatchObject({ trouble: 'stuck_terminating', state: 'Terminating', ready: false });
  expect(state.message).toContain('2026-03-01T11:00:00.000Z');
  expect(state.message).toContain('example.com/backup');
  expect(isIll(state)).toBe(true);
});

test.each([
  ['for a moment', 20, 'waiting'],
  ['for an hour', 3_600, 'stuck_starting'],
])('a pod that is being set up %s', (_, since, trouble) => {
  const status: Status = {
    phase: 'Pending',
    conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime: before(since) }],
    containerStatuses: [container({ state: { waiting: { reason: 'ContainerCreating' } } })],
  };
  // Whoever found a node only now has been started only now.
  const state = podState(pod(status, { creationTimestamp: before(86_400) }), NOW);
  expect(state.trouble).toBe(trouble);
  expect(isIll(state)).toBe(trouble !== 'waiting');
});

test('a pod that nobody looks for a node for is in trouble after a while', () => {
  expect(troubleOf({ phase: 'Pending' }, { creationTimestamp: before(60) })).toBe('waiting');
  expect(troubleOf({ phase: 'Pending' }, { creationTimestamp: before(3_600) })).toBe('stuck_starting');
});

test('what prepares a pod and does not end is what holds it up', () => {
  const status: Status = {
    phase: 'Pending',
    conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime: before(3_600) }],
    initContainerStatuses: [container({ name: 'migrate', state: { running: { startedAt: before(3_590) } } })],
    containerStatuses: [container({ state: { waiting: { reason: 'PodInitializing' } } })],
  };
  expect(podState(pod(status), NOW)).toMatchObject({
    trouble: 'stuck_starting',
    state: 'PodInitializing',
    container: 'migrate',
  });
});

test.each([
  ['never since it was started', 600, 595, false],
  ['not any more', 600, 60, true],
])('a pod that is ready %s', (_, started, since, wasReady) => {
  const status: Status = {
    phase: 'Running',
    conditions: [
      { type: 'Ready', status: 'False', lastTransitionTime: before(started + (wasReady ? -since : 5)) },
    ],
    containerStatuses: [container({ state: { running: { startedAt: before(started) } } })],
  };
  expect(podState(pod(status), NOW).was_ready).toBe(wasReady);
});

test.each([
  ['configmap "shop-config" not found', { kind: 'configmap', name: 'shop-config', key: null }],
  ['secret "db" not found', { kind: 'secret', name: 'db', key: null }],
  [
    "couldn't find key DB_URL in ConfigMap shop/shop-config",
    { kind: 'configmap', name: 'shop-config', key: 'DB_URL' },
  ],
  ["couldn't find key password in Secret shop/db", { kind: 'secret', name: 'db', key: 'password' }],
  [
    'MountVolume.SetUp failed for volume "config" : configmap "shop-config" not found',
    { kind: 'configmap', name: 'shop-config', key: null },
  ],
  ['back-off 5m0s restarting failed container', null],
])('what is missing by “%s”', (message, missing) => {
  expect(missingConfig(message)).toEqual(missing);
});

test('what a quota refuses', () => {
  expect(
    exceededQuota(
      'FailedCreate: pods "web-5d4-x" is forbidden: exceeded quota: shop-quota, requested: limits.memory=1Gi,pods=1, used: limits.memory=3Gi,pods=4, limited: limits.memory=3Gi,pods=4',
    ),
  ).toEqual({
    name: 'shop-quota',
    requested: 'limits.memory=1Gi,pods=1',
    used: 'limits.memory=3Gi,pods=4',
    limited: 'limits.memory=3Gi,pods=4',
  });
  expect(exceededQuota('pods "web" is forbidden: no quota here')).toBeNull();
});

test.each([
  [
    '0/3 nodes are available: 1 node(s) had untolerated taint {gpu: true}, 2 Insufficient memory.',
    ['had untolerated taint {gpu: true}', 'Insufficient memory'],
  ],
  [
    '0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.',
    ['Insufficient cpu'],
  ],
  ['something else', []],
])('why no node takes a pod: %s', (message, reasons) => {
  expect(whyUnschedulable(message)).toEqual(reasons);
});
