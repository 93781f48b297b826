import { z } from 'zod';
import { isHidden } from '../../code/inputs.ts';
import type { FileChange, Reading, Repository } from '../../code/repository.ts';
import { screenedPatch } from '../../code/screen-code.ts';
import { count } from '../../core/count.ts';
import { defineChangesTool } from '../define.ts';
import { codePath, repository, revision } from './inputs.ts';
import { codeFor, formatRevision, line } from './read-code.ts';

/** Characters of hunks in one answer; the reader asks for other files by their paths. */
const MAX_HUNKS = 12_000;
const MAX_LINE = 400;
const MAX_FILES = 100;

/** Files whose hunks are asked for, each of them another call. */
const MAX_ASKED = 50;

/** What a machine wrote says little, and much of it. */
const GENERATED =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.sum|[^/]*\.lock|[^/]*\.min\.(?:js|css)|[^/]*\.(?:map|snap|svg))$|(?:^|\/)(?:vendor|dist|node_modules)\//u;

/** What differs between two versions. Data: `{ repository, from, to, files: [{ path, status, added, removed }], of }`. */
export const codeDiff = (repositories: readonly Repository[]) =>
  defineChangesTool({
    name: 'code_diff',
    description:
      'What differs between two deployed versions of a declared repository: every file, and the hunks of as many as fit. Name paths to see those files.',
    input: z.strictObject({
      repository,
      from: revision.describe('the version before'),
      to: revision.describe('the version after'),
      paths: z.array(codePath).max(10).default([]).describe('files or folders; none: all'),
    }),
    timeoutMs: 20_000,
    async run(context, { repository: asked, from: before, to: after, paths }) {
      const code = await codeFor(context, repositories, asked);
      if ('ok' in code) return code;
      const { repository: of, reading } = code;
      const [from, to] = [await of.resolve(before, reading), await of.resolve(after, reading)];
      const { files, gap } = await of.compare(from, to, paths, reading);
      const ordered = [...files].sort(
        (a, b) => Number(GENERATED.test(a.path)) - Number(GENERATED.test(b.path)),
      );
      const { shown, left } = await hunksOf(ordered, reading);
      const where = paths.length === 0 ? '' : ` in ${paths.join(', ')}`;
      const listed = ordered.slice(0, MAX_FILES);
      return {
        text: [
          `${of.name}: ${count(files.length, 'file')} ${files.length === 1 ? 'differs' : 'differ'}${where} from ${formatRevision(from)} to ${formatRevision(to)}`,
          ...(gap === null ? [] : [gap]),
          ...listed.map(formatFile),
          ...(files.length > listed.length ? [`and ${files.length - listed.length} more files`] : []),
          ...(left === 0 ? [] : [`The hunks of ${count(left, 'file')} are not shown: name them in paths.`]),
          ...shown,
        ].join('\n'),
        data: {
          repository: of.name,
          from: from.sha,
          to: to.sha,
          files: listed.map(({ path, status, added, removed }) => ({ path, status, added, removed })),
          of: files.length,
        },
      };
    },
  });

/** `changed src/pool.ts (+3 -1)`. */
function formatFile({ path, was, status, added, removed }: FileChange): string {
  const lines = added === null ? 'not compared: binary or too large' : `+${added} -${removed}`;
  const from = was === undefined ? '' : ` from ${line(was, 200)}`;
  return `${status} ${line(path, 200)}${from} (${isHidden(path) ? 'holds credentials: not shown' : lines})`;
}

/** The hunks of the first files that fit, and of how many others there are some. */
async function hunksOf(
  files: readonly FileChange[],
  reading: Reading,
): Promise<{ readonly shown: readonly string[]; readonly left: number }> {
  const shown: string[] = [];
  let size = 0;
  let asked = 0;
  for (const [at, file] of files.entries()) {
    if (size >= MAX_HUNKS || asked >= MAX_ASKED) return { shown, left: files.length - at };
    if (!file.added && !file.removed) continue;
    if (isHidden(file.path) || (file.was !== undefined && isHidden(file.was))) continue;
    asked += 1;
    const hunks = await file.hunks(reading);
    if (hunks === null) continue;
    const lines = screenedPatch(hunks.trimEnd()).map((one) => cut(one));
    const fit = fitting(lines, MAX_HUNKS - size);
    const more = lines.length - fit.length;
    shown.push(`--- ${line(file.path, 200)}`, ...fit, ...(more > 0 ? [`… ${count(more, 'line')} more`] : []));
    size += fit.join('\n').length + file.path.length;
  }
  return { shown, left: 0 };
}

const cut = (text: string): string => (text.length > MAX_LINE ? `${text.slice(0, MAX_LINE)}…` : text);

function fitting(lines: readonly string[], most: number): readonly string[] {
  let size = 0;
  const end = lines.findIndex((one) => (size += one.length + 1) > most);
  return end < 0 ? lines : lines.slice(0, end);
}
