import { z } from 'zod';
import type { Repository } from '../../code/repository.ts';
import { screenedLines } from '../../code/screen-code.ts';
import { count } from '../../core/count.ts';
import { refuse } from '../../core/errors.ts';
import { defineChangesTool } from '../define.ts';
import { fitting, numbered } from '../evidence/lines.ts';
import { codePath, repository, revision } from './inputs.ts';
import { codeFor, formatRevision, listed, noSuchPath } from './read-code.ts';

const NAMES = 100;

/** Lines of a file at a version. Data: `{ repository, revision, path, from, to, of }`; of a folder `{ …, names }`. */
export const codeFile = (repositories: readonly Repository[]) =>
  defineChangesTool({
    name: 'code_file',
    description:
      'Lines of a file of a declared repository as it is in a version, with their numbers; of a folder, its names.',
    input: z.strictObject({
      repository,
      path: codePath,
      revision: revision.nullable().default(null).describe('the version that runs; null: the main branch'),
      from_line: z.int().min(1).default(1),
      lines: z.int().min(1).max(200).default(80),
    }),
    timeoutMs: 20_000,
    async run(context, { repository: asked, path, revision: version, from_line: from, lines }) {
      const code = await codeFor(context, repositories, asked);
      if ('ok' in code) return code;
      const { repository: of, reading } = code;
      const at = await of.resolve(version, reading);
      const entry = await of.entry(at, path, reading);
      if (entry === null) return noSuchPath(code, at, path);
      const what = `${of.name} at ${formatRevision(at)}: ${path}`;
      const data = { repository: of.name, revision: at.sha, path };
      switch (entry.kind) {
        case 'unshown':
          return refuse('NOT_SHOWN', `${what} is not shown: ${entry.why}.`);
        case 'folder': {
          const { names } = entry;
          return {
            text: `${what} is a folder of ${count(names.length, 'name')}: ${listed(names, NAMES)}`,
            data: { ...data, names: names.slice(0, NAMES) },
          };
        }
        case 'file': {
          const all = screenedLines(entry.text.replace(/\n$/, ''));
          if (from > all.length) return refuse('PAST_END', `${path} has ${count(all.length, 'line')}.`);
          const shown = fitting(
            all.slice(from - 1, from - 1 + lines).map((one, n) => numbered(one, from + n)),
          );
          const to = from + shown.length - 1;
          const rest = to < all.length ? `; ${all.length - to} more from line ${to + 1}` : '';
          return {
            text: [`${what}, lines ${from} to ${to} of ${all.length}${rest}`, ...shown].join('\n'),
            data: { ...data, from, to, of: all.length },
          };
        }
      }
    },
  });
