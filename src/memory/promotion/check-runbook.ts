import { type Refusal, refuse } from '../../core/errors.ts';
import type { Domain } from '../../core/incident.ts';
import type { KnownTools } from '../../runbooks/check-tools.ts';
import { validateRunbooks } from '../../runbooks/load-runbooks.ts';
import type { Runbook } from '../../runbooks/runbook.ts';

export interface RunbookRules {
  readonly tools: KnownTools;
  readonly domains: readonly Domain[];
  /** The runbooks there are, whose ids are taken and whose steps a draft may use. */
  readonly sources: readonly { readonly file: string; readonly source: string }[];
}

export type CheckedRunbook =
  /** Prose for people and for search: it has nothing for the playbook to follow. */
  | { readonly kind: 'prose' }
  | { readonly kind: 'runbook'; readonly runbook: Runbook }
  | { readonly kind: 'wrong'; readonly problems: readonly string[] };

/** A text that has front matter or step blocks means to be a runbook, and then has to be a good one. */
const MEANS_TO_BE_ONE = /^---\r?\n|^\s*(?:`{3,}|~{3,})\s*ya?ml +(?:step|verify)\b/m;

/** What a workspace document is called among the files: no file has such a name. */
export const fileOf = (path: string): string => `workspace:${path}.md`;

/** The document behind such a name; null for one of the files. */
export const pathOf = (file: string): string | null => /^workspace:(.+)\.md$/.exec(file)?.[1] ?? null;

export const meansToBeRunbook = (content: string): boolean => MEANS_TO_BE_ONE.test(content.trimStart());

/** The same rules as for the files in `runbooks/`: shape, expressions, references, tools and their inputs. */
export function checkRunbook(
  path: string,
  content: string,
  { sources, ...known }: RunbookRules,
): CheckedRunbook {
  if (!meansToBeRunbook(content)) return { kind: 'prose' };
  const file = fileOf(path);
  const { runbooks, problems } = validateRunbooks(
    [...sources.filter((one) => one.file !== file), { file, source: content.trimStart() }],
    known,
  );
  const own = problems.filter((problem) => problem.file === file);
  if (own.length > 0)
    return {
      kind: 'wrong',
      problems: own.map(({ line, column, message }) => `${line}:${column} ${message}`),
    };
  const runbook = runbooks.find((one) => one.file === file);
  return runbook ? { kind: 'runbook', runbook } : { kind: 'wrong', problems: ['1:1 is no runbook'] };
}

export function badRunbook(problems: readonly string[]): Refusal {
  return refuse(
    'MEMORY_BAD_RUNBOOK',
    `Its steps would not run: ${problems.slice(0, 5).join('; ').slice(0, 1_000)}`,
  );
}
