import { z } from 'zod';
import { measureAt, numberAt } from '../../../core/measure.ts';
import type { Json } from '../../../core/tool-call.ts';
import { bytes, percent, table } from '../../format.ts';
import { hostTool } from '../tool.ts';
import { commandOutput } from './command-lines.ts';

const isPartial = (data: Json): boolean => numberAt(data, 'complete') === 0;

/** Not written to, or full by nature: images, and what the kernel shows as files. */
const LEFT_OUT = ['squashfs', 'iso9660', 'udf', 'devtmpfs', 'efivarfs', 'fuse.snapfuse'];

/**
 * The host's file systems. Data: `{ file_systems: [{ mount, type, size_bytes, free_bytes, used_percent, files,
 * files_free, files_used_percent }], fullest, most_files, complete }`, the fullest first; `complete`: all of them could be read; `fullest` and `most_files` are the largest
 * shares, null where there is none. A file system without a limit of files has null for them.
 */
export const fileSystems = hostTool.read({
  name: 'file_systems',
  description:
    'How full the file systems of the host are, in bytes and in files (inodes). For a disk that takes no new file although bytes are free, and to see which disk an alert means.',
  kind: 'read',
  measures: [
    measureAt('fullest', {
      name: 'fullest_used_percent',
      label: 'the fullest file system is used',
      well: '{bound} of the fullest file system is used',
      unit: '%',
      healthy: 'at_most',
      bound: 90,
      isPartial,
    }),
    measureAt('most_files', {
      name: 'files_used_percent',
      label: 'files (inodes) that the file system with the fewest left has used',
      well: 'every file system has used {bound} of its files (inodes)',
      unit: '%',
      healthy: 'at_most',
      bound: 90,
      isPartial,
    }),
  ],
  input: z.strictObject({}),
  timeoutMs: 20_000,
  async run(context) {
    const types = LEFT_OUT.map((type) => `-x ${type}`).join(' ');
    const {
      lines: [, ...lines],
      complete,
    } = await commandOutput(
      context,
      `df -B 1 ${types} --output=fstype,itotal,iavail,ipcent,size,avail,pcent,target`,
    );
    const systems = lines
      .flatMap((line) => {
        const [, type = '', files, filesFree, filesUsed, size, free, used, mount = ''] =
          /^(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(.+)$/.exec(line.trim()) ?? [];
        const known = number(size);
        return known === null || known === 0
          ? []
          : [
              {
                mount,
                type,
                size_bytes: known,
                free_bytes: number(free),
                used_percent: number(used),
                files: number(files) || null,
                files_free: number(files) ? number(filesFree) : null,
                files_used_percent: number(files) ? number(filesUsed) : null,
              },
            ];
      })
      .toSorted((a, b) => (b.used_percent ?? 0) - (a.used_percent ?? 0));
    const largest = (key: 'used_percent' | 'files_used_percent'): number | null => {
      const values = systems.flatMap((one) => one[key] ?? []);
      return values.length === 0 ? null : Math.max(...values);
    };
    return {
      text: table(
        ['mounted at', 'type', 'size', 'free', 'used', 'files free', 'files used'],
        systems.map((one) => [
          one.mount,
          one.type,
          bytes(one.size_bytes),
          bytes(one.free_bytes),
          percent(one.used_percent),
          one.files_free,
          percent(one.files_used_percent),
        ]),
      ).join('\n'),
      data: {
        file_systems: systems,
        fullest: largest('used_percent'),
        most_files: largest('files_used_percent'),
        complete,
      },
    };
  },
});

/** `df` writes `-` for what it cannot tell. */
function number(text: string | undefined): number | null {
  const value = Number.parseInt(text ?? '', 10);
  return Number.isNaN(value) ? null : value;
}
