import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { numberAt } from '../../core/measure.ts';
import type { SessionOptions } from '../../tools/ports.ts';
import type { UsualRead } from '../kind.ts';
import type { Container, Engine, Usage } from './engine.ts';
import { listContainers } from './read/list.ts';
import { containerTool } from './tool.ts';

/** Of more than so many running containers a look is not cheap any more, and nothing is said of what they use together. */
const MOST = 40;
const AT_ONCE = 8;
/** Between the two readings. */
const APART_MS = 1_000;

/** Data: `{ cpu_percent, fullest_memory_percent }`: of all running containers together, and of the one nearest to its limit; null where it cannot be told. */
const containersUse = containerTool.read({
  name: 'containers_use',
  description: 'What the running containers use together.',
  kind: 'read',
  input: z.strictObject({}),
  timeoutMs: 20_000,
  async run(context) {
    const { engine } = context.system;
    const { found, unread, beyond } = await engine.containers(context);
    const running = found.filter(({ upSeconds }) => upSeconds !== null);
    const isWhole = unread.length + beyond === 0 && running.length <= MOST;
    const data = isWhole
      ? await useOf(engine, running, context)
      : { cpu_percent: null, fullest_memory_percent: null };
    return { text: `CPU ${data.cpu_percent ?? '–'} %`, data };
  },
});

async function useOf(engine: Engine, running: readonly Container[], options: SessionOptions) {
  const before = await usages(engine, running, options);
  await sleep(APART_MS, undefined, { signal: options.signal });
  const after = await usages(engine, running, options);
  const shares = after.map((usage, at) => cpuOf(before[at], usage));
  const filled = after.flatMap((usage) =>
    usage?.memoryLimit ? [(100 * usage.memoryBytes) / usage.memoryLimit] : [],
  );
  return {
    cpu_percent: shares.includes(null) ? null : shares.reduce<number>((sum, share) => sum + (share ?? 0), 0),
    fullest_memory_percent: filled.length === 0 || after.includes(null) ? null : Math.max(...filled),
  };
}

/** Null: it has ended or was started anew between the two. */
function cpuOf(before: Usage | null | undefined, after: Usage | null): number | null {
  if (!before || after === null || after.cpuSeconds < before.cpuSeconds) return null;
  const seconds = (Date.parse(after.at) - Date.parse(before.at)) / 1_000;
  return seconds > 0 ? (100 * (after.cpuSeconds - before.cpuSeconds)) / seconds : null;
}

/** In the order given; null: of one that cannot be asked any more. */
async function usages(
  engine: Engine,
  running: readonly Container[],
  options: SessionOptions,
): Promise<readonly (Usage | null)[]> {
  const read: (Usage | null)[] = running.map(() => null);
  const left = [...running.entries()];
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift())
      read[next[0]] = await engine.usage(next[1], options).catch(() => null);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  options.signal.throwIfAborted();
  return read;
}

/** What an engine is like on an ordinary day. */
export const containersUsual: readonly UsualRead[] = [
  {
    tool: listContainers,
    input: { limit: 200 },
    numbers: [
      {
        name: 'running',
        label: 'containers running',
        unit: 'containers',
        least: 1,
        value: (data) => (numberAt(data, 'unread') === 0 ? numberAt(data, 'running') : null),
      },
    ],
  },
  {
    tool: containersUse,
    input: {},
    numbers: [
      {
        name: 'cpu',
        label: 'CPU of all containers',
        unit: '%',
        least: 20,
        value: (data) => numberAt(data, 'cpu_percent'),
      },
      {
        name: 'memory_of_limit',
        label: 'fullest memory of a container (of its limit)',
        unit: '%',
        least: 5,
        value: (data) => numberAt(data, 'fullest_memory_percent'),
      },
    ],
  },
];
