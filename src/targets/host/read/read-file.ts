import { z } from 'zod';
import { count } from '../../../core/count.ts';
import { orThrow } from '../../../core/errors.ts';
import { sha256 } from '../../../safety/sha256.ts';
import { bytes } from '../../format.ts';
import { hostTool } from '../tool.ts';
import { hostPath, pathRule, placeOf } from './host-path.ts';

const MAX_BYTES = 1024 * 1024;
const DEFAULT_LINES = 200;

/**
 * Part of a text file. Data: `{ path, size_bytes, binary, first_line, lines, text, whole, sha256 }`; `first_line` null when
 * only the file's end was read, `sha256` null unless all of it was.
 */
export const readFile = hostTool.read({
  name: 'read_file',
  description:
    'Reads a text file of the host: its first lines, lines from a number on, or with last=true its end (for logs). Files that hold keys or passwords are refused; binary files are only described.',
  kind: 'read',
  input: z.strictObject({
    path: hostPath,
    from_line: z.number().int().min(1).optional(),
    lines: z.number().int().min(1).max(1000).default(DEFAULT_LINES),
    last: z.boolean().default(false).describe('The last lines instead of the first.'),
  }),
  timeoutMs: 10_000,
  rules: (context, { path }) => pathRule(context, path),
  async run(context, { path, from_line: from = 1, lines: wanted, last }) {
    const place = orThrow(await placeOf(context, path));
    const read = orThrow(
      await context.system.access.read(place.root.path, place.path, { maxBytes: MAX_BYTES, fromEnd: last }),
    );
    if (read.kind === 'binary') {
      const data = {
        path,
        size_bytes: read.size,
        binary: true,
        first_line: null,
        lines: 0,
        text: '',
        whole: false,
        sha256: null,
      };
      return { text: `${path}: binary, ${bytes(read.size)}; its content is not shown.`, data };
    }
    const all = read.text.split('\n');
    if (all.at(-1) === '') all.pop();
    const start = last ? Math.max(0, all.length - wanted) : from - 1;
    const shown = all.slice(start, start + wanted);
    // Of a file whose beginning was not read nobody knows the number of a line.
    const firstLine = last && read.cut ? null : start + 1;
    const whole = !read.cut && shown.length === all.length;
    const where = whole
      ? count(shown.length, 'line')
      : firstLine === null
        ? `its last ${count(shown.length, 'line')}`
        : `lines ${firstLine} to ${start + shown.length} of ${read.cut ? 'more than ' : ''}${all.length}`;
    return {
      text: [`${path}: ${bytes(read.size)}, ${where}.`, ...shown].join('\n'),
      data: {
        path,
        size_bytes: read.size,
        binary: false,
        first_line: firstLine,
        lines: shown.length,
        text: shown.join('\n'),
        whole,
        sha256: read.cut ? null : sha256(read.text),
      },
    };
  },
});
