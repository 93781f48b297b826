import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { measureAt } from '../../../domain/measure.ts';
import type { Json } from '../../../domain/tool-call.ts';
import { defineReadTool, type ToolContext } from '../../define.ts';
import { age, bytes, count, more, table } from '../postgres/format.ts';
import { hostOf, hostPath, orThrow, pathRule, placesOf } from './host-path.ts';

interface Listed {
  readonly path: string;
  readonly name: string;
  readonly size_bytes: number;
  readonly disk_bytes: number;
  readonly modified_age_seconds: number;
}

/**
 * Files below a folder and the fullest disk they are on. Data: `{ files: [{ path, name, size_bytes, disk_bytes,
 * modified_age_seconds, growth_bytes_per_second }], count, total_bytes, complete, disk: { size_bytes, free_bytes,
 * used_percent }, watched_seconds }`, the first of the order first; growth is 0 unless it was watched.
 */
export const listFiles = defineReadTool({
  name: 'list_files',
  description:
    'The largest, the most recently changed or the fastest growing files below a folder of the host, with sizes and ages, and how full their disk is. For a full disk, a growing log (watch_seconds, order growth), or what was changed last.',
  kind: 'read',
  domain: 'any',
  targetKind: 'host',
  measures: [
    measureAt('disk.used_percent', {
      name: 'disk_used_percent',
      label: 'the fullest disk is used',
      unit: '%',
      healthy: 'at_most',
      bound: 90,
    }),
    {
      name: 'fastest_growth',
      label: 'growth of the fastest growing file',
      unit: 'B/s',
      healthy: 'at_most',
      bound: 20_480,
      intermittent: true,
      value: fastestGrowth,
    },
  ],
  input: z.strictObject({
    path: hostPath.optional().describe('Where to look; all folders of the target when left out.'),
    order: z.enum(['size', 'modified', 'growth']).default('size'),
    limit: z.number().int().min(1).max(100).default(20),
    watch_seconds: z.number().int().min(0).max(10).default(0).describe('Look twice, so long apart.'),
  }),
  timeoutMs: 30_000,
  rules: (context, { path }) => (path === undefined ? undefined : pathRule(context, path)),
  async run(context, { path, order, limit, watch_seconds: watch }) {
    const first = watch > 0 ? await look(context, path) : null;
    const from = performance.now();
    if (first) await sleep(watch * 1_000, undefined, { signal: context.signal });
    const seen = await look(context, path);
    const seconds = (performance.now() - from) / 1_000;
    const before = new Map(first?.files.map((file) => [file.path, file.size_bytes]));
    const grown = seen.files.map((file) => ({
      ...file,
      // What was not there before has grown from nothing.
      growth_bytes_per_second: first
        ? Math.max(0, Math.round((file.size_bytes - (before.get(file.path) ?? 0)) / seconds))
        : 0,
    }));
    const files = grown.toSorted(orders[order]).slice(0, limit);
    const total = seen.files.reduce((sum, file) => sum + file.size_bytes, 0);
    const disk = await fullestDisk(context);
    const head = ['file', 'size', 'changed ago', ...(first ? ['grows'] : [])];
    const rows = files.map((file) => [
      file.path,
      bytes(file.size_bytes),
      age(file.modified_age_seconds),
      ...(first ? [`${bytes(file.growth_bytes_per_second)}/s`] : []),
    ]);
    const cut = seen.complete ? '' : ' (a limit was reached: there are more)';
    return {
      text: [
        `${count(seen.files.length, 'file')}${path === undefined ? '' : ` below ${path}`}, ${bytes(total)} together${cut}; the disk is ${disk.used_percent} % full, ${bytes(disk.free_bytes)} free.`,
        ...table(head, rows),
        ...more(seen.files.length, files.length),
      ].join('\n'),
      data: {
        files,
        count: seen.files.length,
        total_bytes: total,
        complete: seen.complete,
        watched_seconds: watch,
        disk,
      },
    };
  },
});

/** Null where it was not watched: then nothing is known of growth. */
function fastestGrowth(data: Json): number | null {
  const { files, watched_seconds: watched } = data as {
    readonly files?: readonly { readonly growth_bytes_per_second: number }[];
    readonly watched_seconds?: number;
  };
  if (files === undefined || !watched) return null;
  return Math.max(0, ...files.map((file) => file.growth_bytes_per_second));
}

const orders = {
  size: (a: Listed, b: Listed) => b.size_bytes - a.size_bytes,
  modified: (a: Listed, b: Listed) => a.modified_age_seconds - b.modified_age_seconds,
  growth: (
    a: { readonly growth_bytes_per_second: number },
    b: { readonly growth_bytes_per_second: number },
  ) => b.growth_bytes_per_second - a.growth_bytes_per_second,
} as const;

async function look(
  context: ToolContext,
  path: string | undefined,
): Promise<{ readonly files: readonly Listed[]; readonly complete: boolean }> {
  const files: Listed[] = [];
  let complete = true;
  const now = Date.now();
  for (const place of await placesOf(context, path)) {
    const walk = orThrow(
      await hostOf(context).access.walk(place.root.path, place.path, { signal: context.signal }),
    );
    complete &&= walk.complete;
    for (const file of walk.files)
      files.push({
        path: join(place.root.path, file.relative),
        name: basename(file.relative),
        size_bytes: file.size,
        disk_bytes: file.allocated,
        modified_age_seconds: Math.max(0, Math.round((now - file.modifiedAt.getTime()) / 1_000)),
      });
  }
  return { files, complete };
}

async function fullestDisk(
  context: ToolContext,
): Promise<{ size_bytes: number; free_bytes: number; used_percent: number }> {
  const { roots, access } = hostOf(context);
  const spaces = await Promise.all(roots.map(({ path }) => access.space(path)));
  const disks = spaces.map(({ size, free }) => ({
    size_bytes: size,
    free_bytes: free,
    used_percent: size === 0 ? 0 : Math.round((1 - free / size) * 1_000) / 10,
  }));
  return (
    disks.toSorted((a, b) => b.used_percent - a.used_percent)[0] ?? {
      size_bytes: 0,
      free_bytes: 0,
      used_percent: 0,
    }
  );
}
