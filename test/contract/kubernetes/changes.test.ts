import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Json } from '../../../src/core/tool-call.ts';
import { evaluate } from '../../../src/runbooks/expression.ts';
import { crashing, running, type StillCluster, startStillCluster, web } from './still-cluster.ts';

let still: StillCluster;
let on: ReturnType<StillCluster['connect']>;

beforeAll(async () => {
  still = await startStillCluster();
  on = still.connect({ max_replicas: 5 });
  await still.node('node-1');
});
beforeEach(() => still.cluster.interfere(null));
afterAll(() => still.stop());

const WHOLE = { replicas: 2, readyReplicas: 2, updatedReplicas: 2, availableReplicas: 2 };
const deployed = (name: string) => still.stored('Deployment', name);
const changes = () =>
  still.cluster.requests().filter(({ method, dryRun }) => method !== 'GET' && !dryRun).length;

/** A workload, pod or node of its own for each tool that changes something, and what it then does to it. */
interface Case {
  readonly tool: string;
  prepare(name: string): Promise<Json>;
  /** As it is now: the same again means that nothing has happened. */
  state(name: string): unknown;
  /** Makes another thing of the same name of it, or changes what the approval was for. */
  move(name: string): Promise<void>;
  /** What its controllers then make of it: without them it has no effect. */
  settle?(name: string): Promise<void>;
  /** Changes what is no part of the approval. */
  stir?(name: string): Promise<void>;
}

async function changed(name: string, change: (spec: Record<string, unknown>) => object) {
  const found = structuredClone(deployed(name));
  await still.apply({ ...found, spec: { ...found.spec, ...change(found.spec) } });
}

const stirred = async (name: string) => {
  const found = structuredClone(deployed(name));
  await still.apply({ ...found, status: { ...found.status, readyReplicas: 1 } });
};

/** Its controller has seen what it is to be. */
const observed = async (name: string) => {
  const found = structuredClone(deployed(name));
  await still.apply({ ...found, status: { ...found.status, observedGeneration: found.metadata.generation } });
};

const podOf = async (name: string) => {
  await still.deployment(name, [web()], { status: WHOLE });
  return still.pod(name, 1, 'aaaaa', crashing());
};

async function cordoned(name: string, unschedulable: boolean): Promise<void> {
  const found = structuredClone(still.stored('Node', name, null));
  await still.apply({ ...found, spec: { ...found.spec, unschedulable } });
}

const cases: readonly Case[] = [
  {
    tool: 'rollout_restart',
    async prepare(name) {
      await still.deployment(name, [web()], { status: WHOLE });
      return { name };
    },
    state: (name) => deployed(name).spec.template,
    move: (name) =>
      changed(name, () => ({
        template: { metadata: { labels: { app: name } }, spec: web({ image: 'x:9' }) },
      })),
    async settle(name) {
      await observed(name);
      await still.replicaSet(name, 2);
      await still.pod(name, 2, 'bbbbb');
    },
    stir: stirred,
  },
  {
    tool: 'rollout_undo',
    async prepare(name) {
      await still.deployment(name, [web(), web({ image: 'shop:2' })], { status: { updatedReplicas: 1 } });
      return { name, to_revision: 1 };
    },
    state: (name) => deployed(name).spec.template,
    move: (name) =>
      changed(name, () => ({
        template: { metadata: { labels: { app: name } }, spec: web({ image: 'x:9' }) },
      })),
    async settle(name) {
      await observed(name);
      await still.pod(name, 1, 'bbbbb');
    },
    stir: stirred,
  },
  {
    tool: 'scale',
    async prepare(name) {
      await still.deployment(name, [web()], { status: WHOLE });
      return { name, replicas: 4 };
    },
    state: (name) => deployed(name).spec.replicas,
    move: (name) => changed(name, () => ({ replicas: 3 })),
    stir: stirred,
  },
  {
    tool: 'delete_pod',
    prepare: async (name) => ({ pod: await podOf(name) }),
    state(name) {
      const pod = still.cluster.object('Pod', 'shop', `${name}-5d4f6c7b80-aaaaa`);
      return pod?.metadata?.deletionTimestamp === undefined && pod?.metadata?.uid;
    },
    // Another pod of the very same name.
    async move(name) {
      const admin = still.connect();
      const found = still.stored('Pod', `${name}-5d4f6c7b80-aaaaa`);
      await admin.system.cluster.remove(
        { kind: 'pod', namespace: 'shop', name: found.metadata.name },
        { uid: found.metadata.uid },
        { signal: new AbortController().signal, timeoutMs: 5_000 },
      );
      await still.pod(name, 1, 'aaaaa', running());
    },
  },
  {
    tool: 'cordon',
    async prepare(name) {
      await still.node(name);
      return { node: name };
    },
    state: (name) => still.stored('Node', name, null).spec?.unschedulable ?? false,
    async move(name) {
      const found = structuredClone(still.stored('Node', name, null));
      await still.apply({ ...found, spec: { ...found.spec, unschedulable: true } });
    },
  },
  {
    tool: 'uncordon',
    async prepare(name) {
      await still.node(name);
      await cordoned(name, true);
      return { node: name };
    },
    state: (name) => still.stored('Node', name, null).spec?.unschedulable ?? false,
    move: (name) => cordoned(name, false),
  },
];

describe.each(cases)('$tool', ({ tool, prepare, state, move, settle, stir }) => {
  const named = (what: string) => `${tool.replace('_', '-')}-${what}`;

  test('is rehearsed by the cluster and changes nothing until it is run; then it has happened, and says so', async () => {
    const name = named('run');
    const input = await prepare(name);
    const was = state(name);
    const begun = changes();
    const { before, run, look, command, objects, effect } = await on.act(tool, input);
    expect(still.cluster.requests().some(({ dryRun }) => dryRun)).toBe(true);
    expect(changes()).toBe(begun);
    expect(state(name)).toEqual(was);
    expect(await look()).toBe('not_done');
    const hasEffect = async () => {
      const [step] = effect.steps;
      if (step?.holds === undefined) throw new Error('no effect');
      const { data } = await on.read(step.tool.replace('kubernetes_', ''), step.input);
      const held = evaluate(step.holds, { result: data });
      return held.ok ? held.value : held.reason;
    };
    expect(await hasEffect()).toBe(false);
    expect(before.lines.at(-1)).toContain('It knows no deadline');
    expect(before.blastRadius).not.toBe('');
    expect(command).toContain('kubectl');
    expect(command).toContain(name);
    expect(objects).toHaveLength(1);
    expect(await run()).toMatchObject({ kind: 'succeeded' });
    expect(changes()).toBe(begun + 1);
    expect(state(name)).not.toEqual(was);
    expect(await look()).toBe('done');
    if (settle) expect(await hasEffect()).toBe(false);
    await settle?.(name);
    expect(await hasEffect()).toBe(true);
  });

  test('does nothing when what was approved has moved', async () => {
    const name = named('moved');
    const { run, before } = await on.act(tool, await prepare(name));
    await move(name);
    const moved = state(name);
    const begun = changes();
    expect(await run()).toMatchObject({ kind: 'failed', text: expect.stringContaining('Nothing was done') });
    expect(state(name)).toEqual(moved);
    // A deletion is refused by the cluster itself; everything else is not even asked for.
    expect(changes() - begun).toBeLessThanOrEqual(tool === 'delete_pod' ? 1 : 0);
    expect(before.guard).toBeDefined();
  });

  // What is deleted is not looked at once more: the cluster alone tells that it is another one by then.
  if (tool !== 'delete_pod')
    test('is refused by the cluster itself when it moves between the last look and the change', async () => {
      const name = named('raced');
      let moved: unknown = 'not yet';
      let isArmed = false;
      const racing = still.connect({}, 'act', {
        meanwhile: async () => {
          if (!isArmed) return;
          isArmed = false;
          await move(name);
          moved = structuredClone(state(name));
        },
      });
      const { run } = await racing.act(tool, await prepare(name));
      isArmed = true;
      expect(await run()).toMatchObject({
        kind: 'failed',
        text: expect.stringContaining('Nothing was done'),
      });
      expect(state(name)).toEqual(moved);
    });

  test('does nothing after its deadline', async () => {
    const name = named('late');
    const { run } = await on.act(tool, await prepare(name), 0);
    const was = state(name);
    expect(await run()).toMatchObject({ kind: 'failed', text: expect.stringContaining('deadline') });
    expect(state(name)).toEqual(was);
  });

  if (stir)
    test('is not void because a controller wrote its state in between', async () => {
      const name = named('stirred');
      const input = await prepare(name);
      const first = await on.act(tool, input);
      await stir?.(name);
      const second = await on.act(tool, input);
      expect(second.before.guard).toEqual(first.before.guard);
      expect(await first.run()).toMatchObject({ kind: 'succeeded' });
    });

  if (tool !== 'delete_pod')
    test('is tried again when somebody else was faster, and given up after a few times', async () => {
      const name = named('contended');
      const { run, look } = await on.act(tool, await prepare(name));
      still.cluster.interfere({ kind: 'conflict', times: 2 });
      expect(await run()).toMatchObject({ kind: 'succeeded' });
      expect(await look()).toBe('done');
      const other = named('lost');
      const lost = await on.act(tool, await prepare(other));
      const was = state(other);
      still.cluster.interfere({ kind: 'conflict' });
      expect(await lost.run()).toMatchObject({ kind: 'failed' });
      expect(state(other)).toEqual(was);
    });

  test('a refusal is no effect; silence and an error of the server are unknown, and a look can tell', async () => {
    const name = named('unsure');
    const { run, look } = await on.act(tool, await prepare(name));
    const verb = tool === 'delete_pod' ? 'delete' : 'patch';
    still.cluster.interfere({ kind: 'forbidden', on: { verb } });
    expect(await run()).toMatchObject({ kind: 'failed' });
    still.cluster.interfere({ kind: 'too_many_requests', retryAfterSeconds: 0, on: { verb } });
    expect(await run()).toMatchObject({ kind: 'failed' });
    still.cluster.interfere({ kind: 'server_error', on: { verb } });
    expect(await run()).toMatchObject({ kind: 'unknown' });
    for (const after of ['nothing', 'half'] as const) {
      still.cluster.interfere({ kind: 'cut', after, on: { verb } });
      expect(await run()).toMatchObject({ kind: 'unknown' });
    }
    still.cluster.interfere(null);
    expect(await look()).toBe('not_done');
  });

  test('is known to have happened when only its answer was lost', async () => {
    const { run, look } = await still
      .connect({}, 'act', { losesAnswers: true })
      .act(tool, await prepare(named('unheard')));
    expect(await run()).toMatchObject({ kind: 'unknown' });
    expect(await look()).toBe('done');
  });

  test('is not proposed where its target may only be read, or the cluster refuses it', async () => {
    const name = named('denied');
    const input = await prepare(name);
    await expect(still.connect({ acts: false }).act(tool, input)).rejects.toMatchObject({
      code: 'KUBERNETES_READ_ONLY',
    });
    await expect(still.connect({}, 'read').act(tool, input)).rejects.toMatchObject({
      code: 'KUBERNETES_FORBIDDEN',
    });
  });

  test('names what is not there as gone', async () => {
    const input = (await prepare(named('there'))) as Record<string, Json>;
    const key = ['name', 'pod', 'node'].find((each) => each in input) ?? '';
    await expect(on.act(tool, { ...input, [key]: 'not-there' })).rejects.toMatchObject({ code: 'GONE' });
  });
});

test('a rollback is taken back by a rollback, a scale by a scale, a cordon by an uncordon', async () => {
  await still.deployment('back', [web(), web({ image: 'shop:2' })], { status: WHOLE });
  const undone = await on.act('rollout_undo', { name: 'back', to_revision: 1 });
  const outcome = await undone.run();
  expect(undone.undo((outcome as { data: Json }).data)).toEqual({
    tool: 'kubernetes_rollout_undo',
    input: { namespace: 'shop', name: 'back', to_revision: 2, uid: deployed('back').metadata.uid },
  });
  const scaled = await on.act('scale', { name: 'back', replicas: 3 });
  const inverse = scaled.undo(((await scaled.run()) as { data: Json }).data);
  expect(inverse).toEqual({
    tool: 'kubernetes_scale',
    input: {
      kind: 'deployment',
      namespace: 'shop',
      name: 'back',
      replicas: 2,
      uid: deployed('back').metadata.uid,
    },
  });
  await still.node('node-back');
  const cordoned = await on.act('cordon', { node: 'node-back' });
  expect(cordoned.undo(((await cordoned.run()) as { data: Json }).data)).toEqual({
    tool: 'kubernetes_uncordon',
    input: { node: 'node-back', uid: still.stored('Node', 'node-back', null).metadata.uid },
  });
  expect(await (await on.act('uncordon', { node: 'node-back' })).run()).toMatchObject({ kind: 'succeeded' });
  expect(still.stored('Node', 'node-back', null).spec.unschedulable).toBe(false);
});

test('a rollback sets all of the old revision, and nothing of its bookkeeping', async () => {
  await still.deployment(
    'exact',
    [
      web({ env: [{ name: 'A', value: '1' }] }),
      web({ command: ['/bin/new'], env: [{ name: 'B', value: '2' }] }),
    ],
    { status: WHOLE },
  );
  await (await on.act('rollout_undo', { name: 'exact', to_revision: 1 })).run();
  const { template } = deployed('exact').spec;
  expect(template.spec.containers).toMatchObject([{ env: [{ name: 'A', value: '1' }] }]);
  expect(template.spec.containers[0].command).toBeUndefined();
  expect(template.metadata.labels).toEqual({ app: 'exact' });
});

test('a revision whose content was replaced under its number is not rolled back to', async () => {
  await still.deployment('swapped', [web(), web({ image: 'shop:2' })], { status: WHOLE });
  const { run } = await on.act('rollout_undo', { name: 'swapped', to_revision: 1 });
  const set = structuredClone(still.stored('ReplicaSet', 'swapped-5d4f6c7b80'));
  set.spec.template.spec.containers[0].image = 'evil:1';
  await still.apply(set);
  expect(await run()).toMatchObject({ kind: 'failed' });
  expect(deployed('swapped').spec.template.spec.containers[0].image).toBe('shop:2');
});

test('nothing is scaled beyond the bound, and an autoscaler in charge is an objection', async () => {
  await still.deployment('bounded', [web()], { status: WHOLE });
  await expect(on.act('scale', { name: 'bounded', replicas: 6 })).rejects.toMatchObject({
    code: 'KUBERNETES_MAX_REPLICAS',
  });
  await still.apply({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'bounded', namespace: 'shop' },
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'bounded' }, maxReplicas: 9 },
  });
  const { before } = await on.act('scale', { name: 'bounded', replicas: 5 });
  expect(before.objection).toContain('Autoscaler bounded is in charge');
});

test('a pod that nothing makes again is never deleted', async () => {
  const bare = { apiVersion: 'v1', kind: 'Pod', spec: web() };
  const node = { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'u', controller: true };
  await still.apply({ ...bare, metadata: { name: 'bare', namespace: 'shop' } });
  await still.apply({ ...bare, metadata: { name: 'static', namespace: 'shop', ownerReferences: [node] } });
  for (const pod of ['bare', 'static'])
    await expect(on.act('delete_pod', { pod })).rejects.toMatchObject({ code: 'KUBERNETES_UNOWNED' });
});

test('a ready pod that a disruption budget needs is deleted only against an objection', async () => {
  await still.deployment('needed', [web()], { status: WHOLE });
  const pod = await still.pod('needed', 1, 'aaaaa');
  await still.apply({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'needed', namespace: 'shop' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'needed' } } },
  });
  const { before } = await on.act('delete_pod', { pod });
  expect(before.objection).toContain('needed allows none');
  expect(before.risk).toBe('high');
});

describe('approved while it served nobody, and not done once it serves', () => {
  const refused = {
    kind: 'failed',
    text: expect.stringMatching(
      /Nothing was done: it is of (medium|high) risk by now, and was approved as one of/,
    ),
  };

  test('a pod that has become ready is not deleted, also when it does so under the deletion [F4]', async () => {
    await still.deployment('healed', [web()], { status: WHOLE });
    const pod = await still.pod('healed', 1, 'aaaaa', crashing());
    const first = await on.act('delete_pod', { pod });
    expect(first.before.risk).toBe('medium');
    const ready = async () => {
      const found = structuredClone(still.stored('Pod', pod));
      await still.apply({ ...found, status: running() });
    };
    let isArmed = false;
    const racing = still.connect({}, 'act', {
      meanwhile: async () => {
        if (!isArmed) return;
        isArmed = false;
        await ready();
      },
    });
    const raced = await racing.act('delete_pod', { pod });
    isArmed = true;
    expect(await raced.run()).toMatchObject(refused);
    expect(await first.run()).toMatchObject(refused);
    expect(still.stored('Pod', pod).metadata.deletionTimestamp).toBeUndefined();
  });

  test.each([
    ['rollout_restart', {}, { ...WHOLE, readyReplicas: 0, availableReplicas: 0 }],
    ['rollout_undo', { to_revision: 1 }, { ...WHOLE, updatedReplicas: 1 }],
    ['scale', { replicas: 1 }, { ...WHOLE, readyReplicas: 1, availableReplicas: 1 }],
  ] as const)('%s of a workload that has become well [F4]', async (tool, input, ill) => {
    const name = `healed-${tool.replace('_', '-')}`;
    await still.deployment(name, [web(), web({ image: 'shop:2' })], { status: ill });
    const { before, run } = await on.act(tool, { name, ...input });
    expect(before.risk).not.toBe('high');
    const found = structuredClone(deployed(name));
    const observedGeneration = found.metadata.generation;
    await still.apply({ ...found, status: { ...found.status, ...WHOLE, observedGeneration } });
    const { spec } = structuredClone(deployed(name));
    expect(await run()).toMatchObject(refused);
    expect(deployed(name).spec).toEqual(spec);
  });
});

test('a restart of what has no pods, or is paused, is not proposed', async () => {
  await still.deployment('empty', [web()], { replicas: 0 });
  await expect(on.act('rollout_restart', { name: 'empty' })).rejects.toMatchObject({ code: 'GONE' });
  await still.deployment('halted', [web(), web({ image: 'shop:2' })]);
  await changed('halted', () => ({ paused: true }));
  await expect(on.act('rollout_restart', { name: 'halted' })).rejects.toMatchObject({ code: 'GONE' });
  await expect(on.act('rollout_undo', { name: 'halted', to_revision: 1 })).rejects.toMatchObject({
    code: 'GONE',
  });
});

test('a scale from beyond the bound is said to be without an undo, and has none', async () => {
  await still.deployment('beyond', [web()], { replicas: 8, status: { ...WHOLE, availableReplicas: 8 } });
  const { before, run, undo } = await on.act('scale', { name: 'beyond', replicas: 3 });
  expect(before.undo).toMatch(/^Cannot be undone by Sentry: it may scale to at most 5 .* has 8 now/);
  expect(undo(((await run()) as { data: Json }).data)).toBeNull();
});

describe('what takes an action back', () => {
  /** Somebody deletes it, and makes one of the same name. */
  async function anew(kind: 'Deployment' | 'Node', name: string): Promise<void> {
    const namespace = kind === 'Node' ? null : 'shop';
    const place = namespace === null ? {} : { namespace };
    const { metadata, status: _, ...rest } = structuredClone(still.stored(kind, name, namespace));
    const limits = { signal: new AbortController().signal, timeoutMs: 5_000 };
    const ref = { kind: kind === 'Node' ? 'node' : 'deployment', ...place, name } as const;
    await still.connect({}, 'admin').system.cluster.remove(ref, metadata.uid, limits);
    await still.apply({ ...rest, metadata: { name, ...place } });
    expect(still.stored(kind, name, namespace).metadata.uid).not.toBe(metadata.uid);
  }

  test.each([
    ['rollout_undo', { to_revision: 1 }],
    ['scale', { replicas: 3 }],
    ['cordon', null],
  ] as const)('%s is not done to another object of the same name', async (tool, input) => {
    const name = `anew-${tool.replace('_', '-')}`;
    await still.deployment(name, [web(), web({ image: 'shop:2' })], { status: WHOLE });
    await still.node(name);
    const act = await on.act(tool, input === null ? { node: name } : { name, ...input });
    const inverse = act.undo(((await act.run()) as { data: Json }).data);
    if (inverse === null) throw new Error('no inverse');
    const back = inverse.tool.replace('kubernetes_', '');
    expect((await on.act(back, inverse.input)).before.guard).toBeDefined();
    await anew(tool === 'cordon' ? 'Node' : 'Deployment', name);
    await expect(on.act(back, inverse.input)).rejects.toMatchObject({
      code: 'GONE',
      message: expect.stringContaining('another one of the same name'),
    });
  });
});

describe('what holds a rollout back', () => {
  const both = [web(), web({ image: 'shop:2' })];

  test.each([
    ['StatefulSet', { type: 'OnDelete' }, 'OnDelete'],
    ['DaemonSet', { type: 'OnDelete' }, 'OnDelete'],
    ['StatefulSet', { type: 'RollingUpdate', rollingUpdate: { partition: 2 } }, 'partition'],
  ] as const)('of a %s (%o) keeps a restart from being proposed', async (kind, updateStrategy, why) => {
    const name = `held-${kind}-${why}`.toLowerCase();
    const counted = { desiredNumberScheduled: 2, numberReady: 2, numberAvailable: 2 };
    await still.set(kind, name, both, { spec: { updateStrategy }, status: counted, pods: [1, 1] });
    await expect(on.act('rollout_restart', { kind: kind.toLowerCase(), name })).rejects.toMatchObject({
      code: 'GONE',
      message: expect.stringContaining(why),
    });
  });

  test.each([
    ['rollout_restart', {}],
    ['rollout_undo', { to_revision: 1 }],
  ])(
    'keeps an approved %s from being run, and one that ran from being told as effective',
    async (tool, rest) => {
      const name = `pauses-${tool.replace('_', '-')}`;
      await still.deployment(name, both, { status: WHOLE });
      const first = await on.act(tool, { name, ...rest });
      await changed(name, () => ({ paused: true }));
      const was = structuredClone(deployed(name).spec.template);
      expect(await first.run()).toMatchObject({ kind: 'failed', text: expect.stringContaining('paused') });
      expect(deployed(name).spec.template).toEqual(was);
      await changed(name, () => ({ paused: false }));
      const second = await on.act(tool, { name, ...rest });
      expect(await second.run()).toMatchObject({ kind: 'succeeded' });
      await changed(name, () => ({ paused: true }));
      await observed(name);
      const [step] = second.effect.steps;
      const { data } = await on.read('rollout', { name });
      expect(evaluate(step?.holds ?? '', { result: data })).toMatchObject({ ok: true, value: false });
    },
  );

  test('lets a restart of a stateful set take effect once a pod is made of it', async () => {
    await still.set('StatefulSet', 'follows', both, { pods: [2, 2] });
    const { run, effect } = await on.act('rollout_restart', { kind: 'statefulset', name: 'follows' });
    const holds = async () => {
      const { data } = await on.read('rollout', { kind: 'statefulset', name: 'follows' });
      return evaluate(effect.steps[0]?.holds ?? '', { result: data });
    };
    expect(await run()).toMatchObject({ kind: 'succeeded' });
    const { spec, metadata } = still.stored('StatefulSet', 'follows');
    const status = { observedGeneration: metadata.generation, updateRevision: 'follows-3' };
    await still.apply({ ...still.stored('StatefulSet', 'follows'), status });
    await still.revision('StatefulSet', 'follows', 3, spec.template.spec, spec.template.metadata.annotations);
    expect(await holds()).toMatchObject({ ok: true, value: false });
    const pod = structuredClone(still.stored('Pod', 'follows-1'));
    pod.metadata.labels['controller-revision-hash'] = 'follows-3';
    await still.apply(pod);
    expect(await holds()).toMatchObject({ ok: true, value: true });
  });
});

test('its account changes nothing beyond the namespaces that it is bound in', async () => {
  const { cluster } = on.system;
  const limits = { signal: new AbortController().signal, timeoutMs: 5_000 };
  const may = (namespace: string) =>
    cluster.may({ verb: 'delete', group: '', resource: 'pods', namespace }, limits);
  expect(await may('shop')).toBe(true);
  expect(await may('kube-system')).toBe(false);
});
