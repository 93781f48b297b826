import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { measureAt, numberAt } from '../../../core/measure.ts';
import type { ToolContext } from '../../../tools/define.ts';
import { age, bytes, more, percent, table } from '../../format.ts';
import type { Host } from '../system.ts';
import { hostTool } from '../tool.ts';
import { commandLines } from './command-lines.ts';

/**
 * What takes the host's processors and memory. Data: `{ cores, load, cpu_used_percent, memory: { total_bytes,
 * available_bytes, available_percent, swap_bytes, swap_used_percent }, processes: [{ pid, parent, name, state, cpu_percent,
 * memory_bytes, age_seconds }], count, sees_all, zombies, zombie_parents: [{ pid, name, zombies }], waiting_for_disk,
 * watched_seconds }`. `cpu_percent` is of one core, `cpu_used_percent` of all; both null unless watched.
 */
export const hostUsage = hostTool.read({
  name: 'host_usage',
  description:
    'What takes the processors and the memory of the host now: load, share used, memory and swap left, the processes that take most (watch_seconds for the processor), and processes that ended and were never waited for.',
  kind: 'read',
  measures: [
    measureAt('cpu_used_percent', {
      name: 'cpu_used_percent',
      label: 'processor time used',
      well: '{bound} of the processor time is used',
      unit: '%',
      healthy: 'at_most',
      bound: 90,
      intermittent: true,
      // What starts and ends between the two looks is not counted; the load tells of it.
      isPartial: (data) => (numberAt(data, 'load') ?? 0) > 0.9 * (numberAt(data, 'cores') ?? 0),
    }),
    measureAt('memory.available_percent', {
      name: 'memory_available_percent',
      label: 'memory available',
      well: '{bound} of the memory is available',
      unit: '%',
      healthy: 'at_least',
      bound: 10,
    }),
    measureAt('zombies', {
      name: 'zombies',
      label: 'ended processes that nobody has waited for',
      well: '{bound} have ended and are waited for by nobody',
      unit: 'processes',
      healthy: 'at_most',
      bound: 20,
      // Where other accounts' processes are hidden, the first one is.
      isPartial: (data) => numberAt(data, 'sees_all') === 0,
    }),
  ],
  input: z.strictObject({
    order: z.enum(['cpu', 'memory']).default('cpu'),
    limit: z.number().int().min(1).max(50).default(10),
    watch_seconds: z.number().int().min(0).max(10).default(0).describe('Look twice, so long apart.'),
  }),
  timeoutMs: 30_000,
  async run(context, { order, limit, watch_seconds: watch }) {
    const cores = Number((await commandLines(context, 'nproc'))[0]);
    const first = watch > 0 ? await look(context) : null;
    const from = performance.now();
    if (first) await sleep(watch * 1_000, undefined, { signal: context.signal });
    const seen = await look(context);
    const seconds = (performance.now() - from) / 1_000;
    const before = new Map(first?.map((one) => [`${one.pid} ${one.name}`, one.cpu_seconds]));
    const processes = seen.map(({ cpu_seconds: spent, ...one }) => ({
      ...one,
      // What was not there before has spent it all since.
      cpu_percent: first
        ? tenth((100 * (spent - (before.get(`${one.pid} ${one.name}`) ?? 0))) / seconds)
        : null,
    }));
    const used = processes.reduce((sum, one) => sum + (one.cpu_percent ?? 0), 0);
    const dead = processes.filter(({ state }) => state === 'Z');
    const parents = [...new Set(dead.map(({ parent }) => parent))].map((pid) => ({
      pid,
      name: processes.find((one) => one.pid === pid)?.name ?? null,
      zombies: dead.filter(({ parent }) => parent === pid).length,
    }));
    const data = {
      cores,
      load: await loadOf(context),
      // Seconds are counted whole: two looks can make a little more of it than there is.
      cpu_used_percent: first ? Math.min(100, tenth(used / cores)) : null,
      memory: await memoryOf(context),
      processes: processes.toSorted(orders[order]).slice(0, limit),
      count: processes.length,
      sees_all: processes.some(({ pid }) => pid === 1),
      zombies: dead.length,
      zombie_parents: parents.toSorted((a, b) => b.zombies - a.zombies).slice(0, 5),
      waiting_for_disk: processes.filter(({ state }) => state === 'D').length,
      watched_seconds: watch,
    };
    const { memory } = data;
    return {
      text: [
        `Processors: ${cores}, load ${data.load ?? '–'}${first ? `, ${percent(data.cpu_used_percent)} used` : ''}; ${data.waiting_for_disk} processes wait for a disk.`,
        `Memory: ${bytes(memory.available_bytes)} of ${bytes(memory.total_bytes)} available (${percent(memory.available_percent)}); swap: ${memory.swap_bytes === 0 ? 'none' : `${percent(memory.swap_used_percent)} of ${bytes(memory.swap_bytes)} used`}.`,
        `Processes: ${data.count}, of them ${data.zombies} ended and not waited for${data.zombie_parents.map((one) => `; ${one.zombies} of ${one.name ?? 'a process'} (pid ${one.pid})`).join('')}.`,
        ...table(
          ['pid', 'process', 'state', 'of a core', 'memory', 'runs for'],
          data.processes.map((one) => [
            one.pid,
            one.name,
            one.state,
            percent(one.cpu_percent),
            bytes(one.memory_bytes),
            age(one.age_seconds),
          ]),
        ),
        ...more(data.count, data.processes.length),
      ].join('\n'),
      data,
    };
  },
});

interface Usage {
  readonly cpu_percent: number | null;
  readonly memory_bytes: number;
}
const orders = {
  cpu: (a: Usage, b: Usage) => (b.cpu_percent ?? 0) - (a.cpu_percent ?? 0),
  memory: (a: Usage, b: Usage) => b.memory_bytes - a.memory_bytes,
} as const;

/** Names, not command lines: those hold passwords. */
async function look(context: ToolContext<Host>) {
  const lines = await commandLines(
    context,
    'ps -e -o pid=,ppid=,state=,etimes=,cputimes=,rss=,comm= --no-headers',
  );
  return lines.flatMap((line) => {
    const [, pid, parent, state, seconds, spent, kib, name] =
      /^\s*(\d+)\s+(\d+)\s+(\S)\s+(\d+)\s+(\d+)\s+(\d+)\s+(.*?)(?: <defunct>)?$/.exec(line) ?? [];
    return name === undefined
      ? []
      : [
          {
            pid: Number(pid),
            parent: Number(parent),
            name,
            state: String(state),
            age_seconds: Number(seconds),
            cpu_seconds: Number(spent),
            memory_bytes: Number(kib) * 1_024,
          },
        ];
  });
}

/** Of the last minute. */
async function loadOf(context: ToolContext<Host>): Promise<number | null> {
  const [line = ''] = await commandLines(context, 'uptime');
  const [, load] = /load average: ([\d.]+)/.exec(line) ?? [];
  return load === undefined ? null : Number(load);
}

async function memoryOf(context: ToolContext<Host>) {
  const lines = await commandLines(context, 'free -b');
  const row = (name: string): readonly number[] =>
    (lines.find((line) => line.startsWith(name)) ?? '').split(/\s+/).slice(1).map(Number);
  const [total = null, , , , , available = null] = row('Mem:');
  const [swap = 0, swapUsed = 0] = row('Swap:');
  return {
    total_bytes: total,
    available_bytes: available,
    available_percent: total && available !== null ? tenth((100 * available) / total) : null,
    swap_bytes: swap,
    swap_used_percent: swap === 0 ? null : tenth((100 * swapUsed) / swap),
  };
}

const tenth = (value: number): number => Math.max(0, Math.round(value * 10) / 10);
