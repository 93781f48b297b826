import { z } from 'zod';
import type { Repository } from '../../code/repository.ts';
import { screenedLines } from '../../code/screen-code.ts';
import { count } from '../../core/count.ts';
import { refuse } from '../../core/errors.ts';
import { defineChangesTool } from '../define.ts';
import { numbered } from '../evidence/lines.ts';
import { codePath, repository, revision } from './inputs.ts';
import { codeFor, formatRevision, line, noSuchPath, shortSha } from './read-code.ts';

/** Who wrote some lines, and in which commit. Data: `{ repository, revision, path, lines: [{ line, sha, at, by, title }] }`. */
export const codeBlame = (repositories: readonly Repository[]) =>
  defineChangesTool({
    name: 'code_blame',
    description:
      'The commit that a line of a file has its text from, as of a line in a stack trace: name the version that runs, for lines move.',
    input: z.strictObject({
      repository,
      path: codePath,
      line: z.int().min(1).max(1_000_000),
      lines: z.int().min(1).max(20).default(1).describe('how many from there'),
      revision: revision.nullable().default(null).describe('the version that runs; null: the main branch'),
    }),
    timeoutMs: 20_000,
    async run(context, { repository: asked, path, line: from, lines, revision: version }) {
      const code = await codeFor(context, repositories, asked);
      if ('ok' in code) return code;
      const { repository: of, reading } = code;
      const at = await of.resolve(version, reading);
      const entry = await of.entry(at, path, reading);
      if (entry === null) return noSuchPath(code, at, path);
      if (entry.kind !== 'file')
        return refuse(
          'NOT_SHOWN',
          `${path} has no lines: ${entry.kind === 'folder' ? 'it is a folder' : entry.why}.`,
        );
      const all = screenedLines(entry.text.replace(/\n$/, ''));
      if (from > all.length)
        return refuse('PAST_END', `${path} has ${count(all.length, 'line')} at ${formatRevision(at)}.`);
      const to = Math.min(all.length, from + lines - 1);
      const blamed = await of.blame(at, path, { from, to }, reading);
      return {
        text: [
          `${of.name} at ${formatRevision(at)}: ${path}, ${from === to ? `line ${from}` : `lines ${from} to ${to}`}`,
          ...blamed.map(
            (one) =>
              `${shortSha(one.sha)} ${one.at} ${line(one.by, 60)}: ${line(one.title, 120)} | ${numbered(all[one.line - 1] ?? '', one.line)}`,
          ),
        ].join('\n'),
        data: { repository: of.name, revision: at.sha, path, lines: blamed.map((one) => ({ ...one })) },
      };
    },
  });
