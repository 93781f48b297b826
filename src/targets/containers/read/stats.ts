import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { measureAt } from '../../../core/measure.ts';
import { bytes } from '../../format.ts';
import { containerName, containerTool } from '../tool.ts';

/** Between the two readings. A CPU limit is kept per 100 ms: over one second, one such period more or less is a tenth. */
const APART_MS = 3_000;

/**
 * What a container uses now. Data: `{ container, engine, cpu_percent, cpu_limit, cpu_of_limit_percent, memory_bytes, memory_limit,
 * memory_percent, processes, received_per_second, sent_per_second, read_per_second, written_per_second }`; 100 % of cpu_percent is one
 * CPU, which cpu_of_limit_percent takes for the limit of what has none; rates in bytes, what has no limit has null for it.
 */
export const containerStats = containerTool.read({
  name: 'container_stats',
  description:
    'What a running container uses now, as rates over 3 seconds: CPU (100 % is one CPU), memory and how much of its limit, network and disk bytes a second, processes.',
  kind: 'read',
  measures: [
    measureAt('memory_percent', {
      name: 'memory_use',
      label: 'memory in use, of its limit',
      well: 'it uses {bound} of its memory limit',
      unit: '%',
      healthy: 'at_most',
      bound: 90,
    }),
    measureAt('cpu_of_limit_percent', {
      name: 'cpu_use',
      label: 'CPU in use, of its limit',
      well: 'it uses {bound} of the CPU it may have',
      unit: '%',
      healthy: 'at_most',
      bound: 90,
      intermittent: true,
    }),
  ],
  input: z.strictObject({ container: containerName }),
  timeoutMs: 10_000,
  async run(context, { container: name }) {
    const { engine } = context.system;
    const container = await engine.container(name, context);
    if (container.upSeconds === null)
      return {
        text: `${container.name} is ${container.state}: it uses nothing.`,
        data: { container: container.name, running: false },
      };
    const before = await engine.usage(container, context);
    await sleep(APART_MS, undefined, { signal: context.signal });
    const after = await engine.usage(container, context);
    const seconds = Math.max(0.1, (Date.parse(after.at) - Date.parse(before.at)) / 1_000);
    const rate = (key: 'cpuSeconds' | 'receivedBytes' | 'sentBytes' | 'readBytes' | 'writtenBytes') =>
      Math.max(0, after[key] - before[key]) / seconds;
    const { memoryBytes, memoryLimit, processes } = after;
    const cpu = round(rate('cpuSeconds') * 100);
    const share = round(cpu / (container.cpuLimit ?? 1));
    const memory = memoryLimit === null ? null : round((100 * memoryBytes) / memoryLimit);
    const perSecond = (key: Parameters<typeof rate>[0]) => Math.round(rate(key));
    const data = {
      container: container.name,
      engine: context.target.kind,
      running: true,
      cpu_percent: cpu,
      cpu_limit: container.cpuLimit,
      cpu_of_limit_percent: share,
      memory_bytes: memoryBytes,
      memory_limit: memoryLimit,
      memory_percent: memory,
      processes,
      received_per_second: perSecond('receivedBytes'),
      sent_per_second: perSecond('sentBytes'),
      read_per_second: perSecond('readBytes'),
      written_per_second: perSecond('writtenBytes'),
    };
    return {
      text: [
        `${container.name}: CPU ${cpu}%${container.cpuLimit === null ? '' : ` of ${container.cpuLimit * 100}% (${share}%)`}, memory ${bytes(memoryBytes)}${memory === null ? ' (no limit)' : ` of ${bytes(memoryLimit)} (${memory}%)`}, ${processes ?? '–'} processes`,
        `network in ${bytes(data.received_per_second)}/s, out ${bytes(data.sent_per_second)}/s; disk read ${bytes(data.read_per_second)}/s, written ${bytes(data.written_per_second)}/s`,
      ].join('\n'),
      data,
    };
  },
});

const round = (value: number): number => Math.round(value * 10) / 10;
