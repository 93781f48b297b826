import { expect, test } from 'vitest';
import type { Json } from '../../../../src/core/tool-call.ts';
import { allTools } from '../../../../src/targets/all-tools.ts';
import type { Container } from '../../../../src/targets/containers/engine.ts';
import type { ContainerSystem } from '../../../../src/targets/containers/tool.ts';
import type { ActiveTool, ToolContext } from '../../../../src/tools/define.ts';

/** An engine of one container, which counts what is asked of it; none of it is real but the tools. */
const MiB = 1024 * 1024;
const running: Container = {
  id: 'a'.repeat(64),
  name: 'web',
  image: 'shop:1',
  imageId: 'sha256:1',
  state: 'running',
  health: null as never,
  exitCode: null,
  oomKilled: false,
  error: '',
  restarts: 0,
  restartPolicy: 'no',
  createdAt: '2026-11-23T10:00:00Z',
  startedAt: '2026-11-23T10:00:00Z',
  finishedAt: null,
  upSeconds: 5,
  downSeconds: null,
  labels: {},
  memoryLimit: 64 * MiB,
  cpuLimit: 1,
  raw: { NetworkSettings: {}, HostConfig: {}, Config: {}, State: {} } as never,
};
const exited: Partial<Container> = { state: 'exited', upSeconds: null, downSeconds: 3, exitCode: 1 };
const paused: Partial<Container> = { state: 'paused' };

function on(first: Partial<Container>) {
  let now: Container = { ...running, ...first };
  let dangling = ['sha256:1', 'sha256:2'];
  const posted: string[] = [];
  const removed: string[] = [];
  const named: string[] = [];
  let looked = (_path: string): void => undefined;
  const engine = {
    container: async () => now,
    containers: async () => [now],
    get: async (path: string) => {
      if (path === '/system/df')
        return { Images: dangling.map((Id) => ({ Id, Size: 1, RepoTags: null, Containers: 0 })) };
      looked(path);
      return { RepoTags: named.filter((id) => path.includes(id)).map(() => 'shop:2') };
    },
    async remove(path: string) {
      removed.push(path);
      dangling = dangling.filter((id) => !path.includes(id));
      return [];
    },
    async post(path: string) {
      posted.push(path);
      return {};
    },
  };
  const context = {
    target: { name: 'engine' },
    system: { engine: engine as never, acts: true, isPartial: false } satisfies ContainerSystem,
    signal: new AbortController().signal,
    timeoutMs: 1_000,
  } as unknown as ToolContext<ContainerSystem>;
  return {
    posted,
    removed,
    named,
    /** What happens while the tool looks at one image. */
    meanwhile: (does: (path: string) => void) => {
      looked = does;
    },
    dangling: () => dangling,
    change: (change: Partial<Container>) => {
      now = { ...now, ...change };
    },
    alsoDangling: (id: string) => {
      dangling = [...dangling, id];
    },
    async approved(name: string, given: Json) {
      const tool = allTools.find((each) => each.name === name) as ActiveTool<Json, Json, ContainerSystem>;
      const input = tool.input.parse(given);
      const { guard, clock, risk, lines } = await tool.preflight(context, input);
      return { risk, lines, run: () => tool.run(context, input, guard, { clock, withinMs: 60_000, risk }) };
    },
  };
}

const nothing = { kind: 'failed', text: expect.stringContaining('Nothing was done') };
const WEB = { container: 'web' };

test.each<[string, Json, Partial<Container>, Partial<Container>]>([
  ['container_start', WEB, exited, { state: 'running', upSeconds: 1 }],
  ['container_stop', WEB, {}, { startedAt: '2026-11-23T11:00:00Z' }],
  ['container_restart', WEB, {}, { startedAt: '2026-11-23T11:00:00Z' }],
  ['container_pause', WEB, {}, { restarts: 1, upSeconds: 100 }],
  ['container_unpause', WEB, paused, { state: 'running' }],
  ['container_kill', { ...WEB, signal: 'SIGHUP' }, {}, { startedAt: '2026-11-23T11:00:00Z' }],
  ['container_update', { ...WEB, memory_mib: 96 }, {}, { memoryLimit: 128 * MiB }],
  // Its name went to another one.
  ['container_stop', WEB, {}, { name: 'web-old' }],
  // The very same container, and riskier: it had only just started, and serves by now.
  ['container_stop', WEB, {}, { upSeconds: 60 }],
  ['container_restart', WEB, {}, { upSeconds: 60 }],
  ['container_kill', { ...WEB, signal: 'SIGTERM' }, {}, { upSeconds: 60 }],
])('does nothing to a container that is not as its card said: %s [F4]', async (name, input, first, then) => {
  const engine = on(first);
  const { run } = await engine.approved(name, input);
  engine.change(then);
  expect(await run()).toMatchObject(nothing);
  expect(engine.posted).toEqual([]);
  // As it was: it is done.
  const still = on(first);
  expect(await (await still.approved(name, input)).run()).toMatchObject({ kind: 'succeeded' });
  expect(still.posted).toHaveLength(1);
});

test('removes nothing when there is another dangling image than its card counted [F4]', async () => {
  const engine = on({});
  const { run } = await engine.approved('container_prune', {});
  engine.alsoDangling('sha256:3');
  expect(await run()).toMatchObject(nothing);
  expect(engine.removed).toEqual([]);
});

test('removes exactly the images that its card listed, also when others become dangling meanwhile [F4]', async () => {
  const engine = on({});
  const { run, lines } = await engine.approved('container_prune', {});
  expect(lines.join()).toContain('1: 1 B,2: 1 B');
  engine.meanwhile((path) => path.includes('sha256:1') && engine.alsoDangling('sha256:3'));
  expect(await run()).toMatchObject({ kind: 'succeeded' });
  expect(engine.removed.toSorted()).toEqual(['/images/sha256:1', '/images/sha256:2']);
  expect(engine.dangling()).toEqual(['sha256:3']);
  // Nothing removes by a filter what nobody has seen.
  expect(engine.posted).toEqual([]);
});

test('removes no image that has got a name since its card listed it [F4]', async () => {
  const engine = on({});
  const { run } = await engine.approved('container_prune', {});
  engine.named.push('sha256:2');
  expect(await run()).toMatchObject({ kind: 'failed', text: expect.stringContaining('has a name by now') });
  expect(engine.removed).not.toContain('/images/sha256:2');
});
