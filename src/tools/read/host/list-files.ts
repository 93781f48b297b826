import { join } from 'node:path';
import { z } from 'zod';
import { defineReadTool } from '../../define.ts';
import { age, bytes, count, more, table } from '../postgres/format.ts';
import { hostOf, hostPath, orThrow, pathRule, placeOf } from './host-path.ts';

/**
 * Files below a folder and the disk they are on. Data: `{ files: [{ path, size_bytes, disk_bytes, modified_age_seconds }],
 * count, total_bytes, complete, disk: { size_bytes, free_bytes, used_percent } }`, the first of the order first.
 */
export const listFiles = defineReadTool({
  name: 'list_files',
  description:
    'The largest or the most recently changed files below a folder of the host, with sizes and ages, and how full their disk is. For a full disk, a growing log, or what was changed last.',
  kind: 'read',
  domain: 'any',
  targetKind: 'host',
  input: z.strictObject({
    path: hostPath,
    order: z.enum(['size', 'modified']).default('size'),
    limit: z.number().int().min(1).max(100).default(20),
  }),
  timeoutMs: 15_000,
  rules: (context, { path }) => pathRule(context, path),
  async run(context, { path, order, limit }) {
    const place = orThrow(await placeOf(context, path));
    const { access } = hostOf(context);
    const walk = orThrow(await access.walk(place.root.path, place.path, { signal: context.signal }));
    const space = await access.space(place.root.path);
    const now = Date.now();
    const files = walk.files
      .toSorted((a, b) =>
        order === 'size' ? b.size - a.size : b.modifiedAt.getTime() - a.modifiedAt.getTime(),
      )
      .slice(0, limit)
      .map((file) => ({
        path: join(place.root.path, file.relative),
        size_bytes: file.size,
        disk_bytes: file.allocated,
        modified_age_seconds: Math.max(0, Math.round((now - file.modifiedAt.getTime()) / 1000)),
      }));
    const total = walk.files.reduce((sum, { size }) => sum + size, 0);
    const usedPercent = space.size === 0 ? 0 : Math.round((1 - space.free / space.size) * 1000) / 10;
    const rows = files.map((file) => [file.path, bytes(file.size_bytes), age(file.modified_age_seconds)]);
    return {
      text: [
        `${count(walk.files.length, 'file')} below ${path}, ${bytes(total)} together${walk.complete ? '' : ' (a limit was reached: there are more)'}; its disk is ${usedPercent} % full, ${bytes(space.free)} free.`,
        ...table(['file', 'size', 'changed ago'], rows),
        ...more(walk.files.length, files.length),
      ].join('\n'),
      data: {
        files,
        count: walk.files.length,
        total_bytes: total,
        complete: walk.complete,
        disk: { size_bytes: space.size, free_bytes: space.free, used_percent: usedPercent },
      },
    };
  },
});
