import { join } from 'node:path';
import { z } from 'zod';
import { count } from '../../../core/count.ts';
import { orThrow } from '../../../core/errors.ts';
import { lineMatcher } from '../../../safety/grep/line-matcher.ts';
import { withoutBreaks } from '../../format.ts';
import { hostTool } from '../tool.ts';
import { hostPath, pathRule, rootedPathsOf } from './host-path.ts';

/** The seed's limit. */
const MAX_RESULTS = 100;

/** Lines that match. Data: `{ matches: [{ path, line, text }], count, files_searched, complete }`; paths absolute. */
export const grepSearch = hostTool.read({
  name: 'grep_search',
  description:
    'Lines that match a pattern in a file, or in all files below a folder, the newest files and lines first; at most 100. The pattern is a regular expression without look-around and back references ("error|panic", "timeout=\\d+"); ignores case unless told otherwise. Of files over 8 MiB the end is searched.',
  kind: 'read',
  input: z.strictObject({
    query: z.string().min(1).max(200),
    path: hostPath.optional().describe('Where to look; all folders of the target when left out.'),
    ignore_case: z.boolean().default(true),
    literal: z.boolean().default(false).describe('The query is plain text.'),
    max_results: z.number().int().min(1).max(MAX_RESULTS).default(MAX_RESULTS),
  }),
  timeoutMs: 15_000,
  async rules(context, { query, path, ignore_case: ignoreCase, literal }) {
    const matcher = lineMatcher({ pattern: query, ignoreCase, literal });
    if (!matcher.ok) return matcher;
    return path === undefined ? undefined : pathRule(context, path);
  },
  async run(context, { query, path, ignore_case: ignoreCase, literal, max_results: maxMatches }) {
    const pattern = { pattern: query, ignoreCase, literal };
    const rows: { path: string; line: number | null; text: string }[] = [];
    let [files, passedOver, complete] = [0, 0, true];
    for (const place of await rootedPathsOf(context, path)) {
      const options = { maxMatches: maxMatches - rows.length, signal: context.signal };
      if (options.maxMatches === 0) {
        complete = false;
        break;
      }
      const { path: root } = place.root;
      const found = orThrow(await context.system.access.search(root, place.path, pattern, options));
      rows.push(...found.matches.map(({ path: at, line, text }) => ({ path: join(root, at), line, text })));
      files += found.filesSearched;
      passedOver += found.passedOver;
      complete &&= found.complete;
    }
    const more = complete ? '' : ' There may be more: a limit was reached.';
    const skipped = passedOver === 0 ? '' : ` ${passedOver} not looked into (binary, secret, or no file).`;
    return {
      text: [
        `${count(rows.length, 'line')} in ${count(files, 'file')}.${more}${skipped}`,
        ...rows.map((row) => withoutBreaks(`${row.path}:${row.line ?? '…'}: ${row.text}`)),
      ].join('\n'),
      data: {
        matches: rows,
        count: rows.length,
        files_searched: files,
        complete,
      },
    };
  },
});
