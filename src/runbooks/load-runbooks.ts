import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { type Domain, domainFault } from '../core/incident.ts';
import { checkTools, type KnownTools } from './check-tools.ts';
import { type ParsedRunbook, parseRunbook } from './parse-runbook.ts';
import type { Runbook, RunbookProblem } from './runbook.ts';

/** What runbooks may name: the tools of steps, whose inputs are checked as well, and domains. Not checked where left out. */
export interface KnownNames {
  readonly tools?: KnownTools;
  readonly domains?: readonly Domain[];
}

export interface LoadedRunbooks {
  /** Those without a problem, by id. */
  readonly runbooks: readonly Runbook[];
  /** By file and line. */
  readonly problems: readonly RunbookProblem[];
}

/**
 * Reads every `*.md` below `dir` (but README.md). A file with a problem is left out and never stops the others.
 * Throws only when the folder itself cannot be read.
 */
export async function loadRunbooks(dir: string, known: KnownNames = {}): Promise<LoadedRunbooks> {
  return validateRunbooks(await readRunbookFiles(dir), known);
}

/** The texts that `loadRunbooks` reads, named by their paths below `dir`. Throws when one cannot be read. */
export async function readRunbookFiles(
  dir: string,
): Promise<readonly { readonly file: string; readonly source: string }[]> {
  const names = await readdir(dir, { recursive: true, withFileTypes: true });
  const paths = names
    .filter(
      (entry) => entry.isFile() && entry.name.endsWith('.md') && entry.name.toLowerCase() !== 'readme.md',
    )
    .map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    paths.toSorted().map(async (path) => ({
      file: relative(dir, path).split(sep).join('/'),
      source: await readFile(path, 'utf8'),
    })),
  );
}

/** The same over texts in memory, e.g. a draft that somebody wants to promote. */
export function validateRunbooks(
  sources: readonly { readonly file: string; readonly source: string }[],
  known: KnownNames = {},
): LoadedRunbooks {
  const problems: RunbookProblem[] = [];
  const good: ParsedRunbook[] = [];
  for (const { file, source } of sources) {
    const outcome = parsedOnce(file, source);
    if (outcome.ok) good.push(outcome.parsed);
    else problems.push(...outcome.problems);
  }
  const ids = new Map<string, string>();
  for (const { runbook } of good) {
    const first = ids.get(runbook.id);
    if (first === undefined) ids.set(runbook.id, runbook.file);
    else
      problems.push({
        file: runbook.file,
        line: 1,
        column: 1,
        message: `the id "${runbook.id}" is taken by ${first}`,
      });
  }
  for (const parsed of good) {
    problems.push(...checkUses(parsed, ids));
    if (known.tools !== undefined) problems.push(...checkTools(parsed, known.tools));
    for (const domain of parsed.runbook.domains) {
      const fault = known.domains && domainFault(domain, known.domains);
      if (fault) problems.push(parsed.top.problem(['domain'], fault));
    }
  }
  const bad = new Set(problems.map((problem) => problem.file));
  return {
    runbooks: good
      .map((parsed) => parsed.runbook)
      .filter((runbook) => !bad.has(runbook.file))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    problems: problems.toSorted((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1)),
  };
}

/** Enough for every runbook there is and a few drafts of each. */
const KEPT = 500;
const outcomes = new Map<string, ReturnType<typeof parseRunbook>>();

/** A proposal is checked against all runbooks each time it is drawn: what has not changed is not parsed again. */
function parsedOnce(file: string, source: string): ReturnType<typeof parseRunbook> {
  const key = `${file}\0${source}`;
  const known = outcomes.get(key);
  if (known) return known;
  if (outcomes.size >= KEPT) outcomes.clear();
  const outcome = parseRunbook(file, source);
  outcomes.set(key, outcome);
  return outcome;
}

function checkUses(parsed: ParsedRunbook, ids: ReadonlyMap<string, string>): readonly RunbookProblem[] {
  return parsed.steps.flatMap((step) =>
    step.value.checks.flatMap((check, at) => {
      const name = typeof check.use === 'object' ? check.use.runbook : check.use;
      return name === undefined || ids.has(name)
        ? []
        : [step.problem(['checks', at, 'use'], `there is no runbook "${name}"`)];
    }),
  );
}

/** `postgres/blocked-sessions.md:12:5 expected …`, as compilers write it, so that editors can jump there. */
export function problemLine(problem: RunbookProblem): string {
  return `${problem.file}:${problem.line}:${problem.column} ${problem.message}`;
}
