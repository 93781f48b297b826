import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { count } from '../../../core/count.ts';
import { orThrow } from '../../../core/errors.ts';
import { measureAt, numberAt } from '../../../core/measure.ts';
import type { ToolContext } from '../../../tools/define.ts';
import { age, bytes, more, table } from '../../format.ts';
import type { Host } from '../system.ts';
import { hostTool } from '../tool.ts';
import { hostPath, pathRule, rootedPathsOf } from './host-path.ts';

interface Listed {
  readonly path: string;
  readonly name: string;
  readonly size_bytes: number;
  readonly disk_bytes: number;
  readonly modified_age_seconds: number;
}

/**
 * Files below a folder and the fullest disk they are on. Data: `{ files: [{ path, name, size_bytes, disk_bytes,
 * modified_age_seconds, growth_bytes_per_second }], count, total_bytes, complete, unread_folders, fastest_growth, disk: {
 * size_bytes, free_bytes, used_percent }, watched_seconds }`, the first of the order first; growth is 0 unless it was
 * watched; `fastest_growth` (bytes a second) is of all files that were seen, null unless watched.
 */
export const listFiles = hostTool.read({
  name: 'list_files',
  description:
    'The largest, the most recently changed or the fastest growing files below a folder of the host, with sizes and ages, and how full their disk is. For a full disk, a growing log (watch_seconds, order growth), or what was changed last.',
  kind: 'read',
  measures: [
    measureAt('disk.used_percent', {
      name: 'disk_used_percent',
      label: 'the fullest disk is used',
      well: '{bound} of the fullest disk is used',
      unit: '%',
      healthy: 'at_most',
      bound: 90,
    }),
    measureAt('fastest_growth', {
      name: 'fastest_growth',
      label: 'growth of the fastest growing file',
      well: 'the fastest growing file grows by {bound}',
      unit: 'B/s',
      healthy: 'at_most',
      bound: 20_480,
      intermittent: true,
      isPartial: (data) => numberAt(data, 'complete') !== 1 || numberAt(data, 'unread_folders') !== 0,
    }),
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
    const isComplete = seen.complete && (first?.complete ?? true);
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
    const cut = isComplete ? '' : ' (a limit was reached: there are more)';
    const unread =
      seen.unreadFolders === 0 ? '' : `; ${count(seen.unreadFolders, 'folder')} could not be looked into`;
    return {
      text: [
        `${count(seen.files.length, 'file')}${path === undefined ? '' : ` below ${path}`}, ${bytes(total)} together${cut}${unread}; the disk is ${disk.used_percent ?? '?'} % full, ${bytes(disk.free_bytes)} free.`,
        ...table(head, rows),
        ...more(seen.files.length, files.length),
      ].join('\n'),
      data: {
        files,
        count: seen.files.length,
        total_bytes: total,
        complete: isComplete,
        unread_folders: seen.unreadFolders,
        // Of all files, not of those listed.
        fastest_growth: first ? Math.max(0, ...grown.map((file) => file.growth_bytes_per_second)) : null,
        watched_seconds: watch,
        disk,
      },
    };
  },
});

const orders = {
  size: (a: Listed, b: Listed) => b.size_bytes - a.size_bytes,
  modified: (a: Listed, b: Listed) => a.modified_age_seconds - b.modified_age_seconds,
  growth: (
    a: { readonly growth_bytes_per_second: number },
    b: { readonly growth_bytes_per_second: number },
  ) => b.growth_bytes_per_second - a.growth_bytes_per_second,
} as const;

async function look(
  context: ToolContext<Host>,
  path: string | undefined,
): Promise<{
  readonly files: readonly Listed[];
  readonly complete: boolean;
  readonly unreadFolders: number;
}> {
  const files: Listed[] = [];
  let complete = true;
  let unreadFolders = 0;
  const now = Date.now();
  for (const place of await rootedPathsOf(context, path)) {
    const walk = orThrow(
      await context.system.access.walk(place.root.path, place.path, { signal: context.signal }),
    );
    complete &&= walk.complete;
    unreadFolders += walk.unreadFolders;
    for (const file of walk.files)
      files.push({
        path: join(place.root.path, file.relative),
        name: basename(file.relative),
        size_bytes: file.size,
        disk_bytes: file.allocated,
        modified_age_seconds: Math.max(0, Math.round((now - file.modifiedAt.getTime()) / 1_000)),
      });
  }
  return { files, complete, unreadFolders };
}

async function fullestDisk(
  context: ToolContext<Host>,
): Promise<{ size_bytes: number; free_bytes: number; used_percent: number | null }> {
  const { roots, access } = context.system;
  const spaces = await Promise.all(roots.map(({ path }) => access.space(path)));
  const disks = spaces.map(({ size, free }) => ({
    size_bytes: size,
    free_bytes: free,
    used_percent: size === 0 ? null : Math.round((1 - free / size) * 1_000) / 10,
  }));
  return (
    disks.toSorted((a, b) => (b.used_percent ?? -1) - (a.used_percent ?? -1))[0] ?? {
      size_bytes: 0,
      free_bytes: 0,
      used_percent: null,
    }
  );
}
