import { z } from 'zod';
import type { Commit, Repository } from '../../code/repository.ts';
import { count } from '../../core/count.ts';
import { refuse } from '../../core/errors.ts';
import { defineChangesTool } from '../define.ts';
import { codePath, repository, revision } from './inputs.ts';
import { codeFor, formatRevision, line, listed, shortSha } from './read-code.ts';

const moment = z.iso.datetime({ offset: true }).nullable().default(null);
const FILES = 20;

/**
 * The commits between two versions, or of a time. Data: `{ repository, from, to, isBack, commits: [{ sha, at, by, title, files }], more }`.
 */
export const codeLog = (repositories: readonly Repository[]) =>
  defineChangesTool({
    name: 'code_log',
    description:
      'Commits of a declared repository: between two deployed versions (from, to), or of a time; with their authors and files. When a commit was merged is not when it was deployed: what_changed tells that.',
    input: z
      .strictObject({
        repository,
        from: revision.nullable().default(null).describe('the version before; null: no bound'),
        to: revision.nullable().default(null).describe('the version after; null: the main branch'),
        since: moment.describe('ISO 8601'),
        until: moment,
        path: codePath.nullable().default(null).describe('only commits that touched it'),
        limit: z.int().min(1).max(30).default(15),
      })
      .refine(({ from, to }) => from === null || to !== null, {
        path: ['to'],
        error: 'name the version after, too',
      }),
    timeoutMs: 20_000,
    async run(context, input) {
      const code = await codeFor(context, repositories, input.repository);
      if ('ok' in code) return code;
      const { repository: of, reading } = code;
      const to = await of.resolve(input.to, reading);
      const from = input.from === null ? null : await of.resolve(input.from, reading);
      const apart = from && (await of.apart(from, to, reading));
      if (apart && apart.ahead + apart.behind === 0)
        return refuse(
          'SAME_REVISION',
          `${input.from} and ${input.to} are the same commit, ${shortSha(to.sha)}.`,
        );
      // A way back takes out what is told here: what the version before has and the one after has not.
      const isBack = apart !== null && apart.ahead === 0;
      const { since, until, path, limit } = input;
      const [base, tip] = isBack && from ? [to, from] : [from, to];
      const { found, more } = await of.commits({ from: base, to: tip, since, until, path, limit }, reading);
      const range =
        from === null
          ? `up to ${formatRevision(to)}`
          : `from ${formatRevision(from)} to ${formatRevision(to)}`;
      const notes = [
        ...(isBack ? [`${input.to} is the older one: these commits are taken back.`] : []),
        ...(apart && !isBack && apart.behind > 0
          ? [
              `${count(apart.behind, 'commit')} of ${input.from} ${apart.behind === 1 ? 'is' : 'are'} not in ${input.to}.`,
            ]
          : []),
      ];
      return {
        text: [
          `${of.name}: ${count(found.length, 'commit')}${more ? ' (there are more)' : ''} ${range}, newest first`,
          ...notes,
          ...found.flatMap(formatCommit),
        ].join('\n'),
        data: {
          repository: of.name,
          from: from?.sha ?? null,
          to: to.sha,
          isBack,
          commits: found.map(({ files, ...commit }) => ({ ...commit, files: files.slice(0, FILES) })),
          more,
        },
      };
    },
  });

function formatCommit({ sha, at, by, title, files }: Commit): readonly string[] {
  return [
    `${shortSha(sha)} ${at} ${line(by, 60)}: ${line(title, 160)}`,
    ...(files.length === 0 ? [] : [`  ${listed(files)}`]),
  ];
}
