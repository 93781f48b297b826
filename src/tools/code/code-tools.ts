import type { Repository } from '../../code/repository.ts';
import type { ChangesTool } from '../define.ts';
import { codeBlame } from './code-blame.ts';
import { codeDiff } from './code-diff.ts';
import { codeFile } from './code-file.ts';
import { codeLog } from './code-log.ts';

/** The tools that read declared repositories; none where none is declared. */
// oxlint-disable-next-line typescript/no-explicit-any -- tools of every input type together; each parses its own
export function codeTools(repositories: readonly Repository[]): readonly ChangesTool<any>[] {
  if (repositories.length === 0) return [];
  return [codeLog, codeDiff, codeBlame, codeFile].map((tool) => tool(repositories));
}
