import { expect, test } from 'vitest';
import type { Container, Engine, Usage } from '../../../../src/targets/containers/engine.ts';
import { containersUsual } from '../../../../src/targets/containers/usual.ts';
import { readUsual } from '../../../../src/targets/read-usual.ts';

const target = { name: 'shop', kind: 'docker', domain: 'docker', environment: 'test', aliases: [] } as const;

const container = (name: string, more: Partial<Container> = {}): Container => ({
  id: name.padEnd(64, '0'),
  name,
  image: 'shop:1',
  imageId: 'sha256:1',
  state: 'running',
  health: 'none',
  exitCode: null,
  oomKilled: false,
  error: '',
  restarts: 0,
  restartPolicy: 'always',
  createdAt: '2026-11-27T00:00:00Z',
  startedAt: '2026-11-27T00:00:00Z',
  finishedAt: null,
  upSeconds: 1_000,
  downSeconds: null,
  labels: {},
  memoryLimit: null,
  cpuLimit: null,
  raw: { Config: {}, HostConfig: {}, NetworkSettings: { Networks: {} }, State: {} } as never,
  ...more,
});

/** Counts up by this much between two readings, a second apart by the engine's clock. */
interface Use {
  readonly cpu: number;
  readonly memory?: number;
  readonly limit?: number;
}

function engine(containers: readonly Container[], uses: Record<string, Use> = {}, more: object = {}): Engine {
  const readings = new Map<string, number>();
  return {
    containers: async () => ({ found: containers, unread: [], beyond: 0, ...more }),
    async usage({ name }: Container): Promise<Usage> {
      const { cpu, memory = 0, limit = null } = uses[name] ?? { cpu: 0 };
      const n = readings.get(name) ?? 0;
      readings.set(name, n + 1);
      return {
        at: new Date(1_000 * n).toISOString(),
        cpuSeconds: 100 + cpu * n,
        memoryBytes: memory,
        memoryLimit: limit,
        processes: 1,
        receivedBytes: 0,
        sentBytes: 0,
        readBytes: 0,
        writtenBytes: 0,
      };
    },
  } as unknown as Engine;
}

async function look(of: Engine) {
  const system = { engine: of, acts: false, isPartial: false };
  const { numbers, unread } = await readUsual(target, containersUsual, system, new AbortController().signal);
  expect(unread).toEqual([]);
  return Object.fromEntries(numbers.map(({ name, now }) => [name, now]));
}

test('an engine tells what its containers use together, and the one nearest to its limit', async () => {
  const all = [container('web', { restarts: 2 }), container('worker', { restarts: 1 })];
  const uses = { web: { cpu: 0.5, memory: 80, limit: 100 }, worker: { cpu: 0.25, memory: 20, limit: 100 } };
  expect(await look(engine(all, uses))).toEqual({ running: 2, cpu: 75, memory_of_limit: 80 });
});

test('one that was started anew between the two readings makes no rate', async () => {
  expect(await look(engine([container('web')], { web: { cpu: -50 } }))).toMatchObject({ cpu: null });
});

test('nothing is said of the fullest where none has a limit', async () => {
  expect(await look(engine([container('web')]))).toMatchObject({ cpu: 0, memory_of_limit: null });
});

test('nothing is said of all where some could not be read', async () => {
  const none = { running: null, cpu: null, memory_of_limit: null };
  expect(await look(engine([container('web')], {}, { unread: ['abc'] }))).toEqual(none);
  expect(await look(engine([container('web')], {}, { beyond: 3 }))).toEqual(none);
});

test('of very many containers only how many run is told', async () => {
  const many = Array.from({ length: 41 }, (_, n) => container(`web-${n}`));
  expect(await look(engine(many))).toEqual({ running: 41, cpu: null, memory_of_limit: null });
});
