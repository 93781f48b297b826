import { join } from 'node:path';
import { z } from 'zod';
import { lineMatcher } from '../../../security/search/line-matcher.ts';
import { defineReadTool } from '../../define.ts';
import { count } from '../postgres/format.ts';
import { hostOf, hostPath, orThrow, pathRule, placeOf } from './host-path.ts';

/** The seed's limit. */
const MAX_RESULTS = 100;

/** Lines that match. Data: `{ matches: [{ path, line, text }], count, files_searched, complete }`; paths absolute. */
export const grepSearch = defineReadTool({
  name: 'grep_search',
  description:
    'Lines that match a pattern in a file, or in all files below a folder, the newest files and lines first; at most 100. The pattern is a regular expression without look-around and back references ("error|panic", "timeout=\\d+"); ignores case unless told otherwise. Of files over 8 MiB the end is searched.',
  kind: 'read',
  domain: 'any',
  targetKind: 'host',
  input: z.strictObject({
    query: z.string().min(1).max(200),
    path: hostPath,
    ignore_case: z.boolean().default(true),
    literal: z.boolean().default(false).describe('The query is plain text.'),
    max_results: z.number().int().min(1).max(MAX_RESULTS).default(MAX_RESULTS),
  }),
  timeoutMs: 15_000,
  async rules(context, { query, path, ignore_case: ignoreCase, literal }) {
    const matcher = lineMatcher(query, { ignoreCase, literal });
    return matcher.ok ? pathRule(context, path) : matcher;
  },
  async run(context, { query, path, ignore_case: ignoreCase, literal, max_results: maxMatches }) {
    const place = orThrow(await placeOf(context, path));
    const { matches } = orThrow(lineMatcher(query, { ignoreCase, literal }));
    const found = orThrow(
      await hostOf(context).access.search(place.root.path, place.path, matches, {
        maxMatches,
        signal: context.signal,
      }),
    );
    const rows = found.matches.map(({ path: at, line, text }) => ({
      path: join(place.root.path, at),
      line,
      text,
    }));
    const more = found.complete ? '' : ' There may be more: a limit was reached.';
    const skipped =
      found.passedOver === 0 ? '' : ` ${found.passedOver} not looked into (binary, secret, or no file).`;
    return {
      text: [
        `${count(rows.length, 'line')} in ${count(found.filesSearched, 'file')}.${more}${skipped}`,
        ...rows.map((row) => `${row.path}:${row.line ?? '…'}: ${row.text}`),
      ].join('\n'),
      data: {
        matches: rows,
        count: rows.length,
        files_searched: found.filesSearched,
        complete: found.complete,
      },
    };
  },
});
