import type { Domain } from '../../core/incident.ts';
import type { Log } from '../../core/log.ts';
import type { Sql } from '../../core/sql.ts';
import type { KnownTools } from '../../runbooks/check-tools.ts';
import { problemLine, validateRunbooks } from '../../runbooks/load-runbooks.ts';
import type { Runbook } from '../../runbooks/runbook.ts';
import { runbooksStore } from '../documents/document.ts';
import { fileOf, meansToBeRunbook } from './check-runbook.ts';

export interface RunbookSource {
  readonly file: string;
  readonly source: string;
}

/** Promoted runbooks with steps, for the playbook beside those of the files. */
export interface WorkspaceRunbooks {
  current(): readonly Runbook[];
  /** Their texts, which a new one's id must not repeat and whose runbooks it may use. */
  sources(): readonly RunbookSource[];
  /** Reads them again if one has changed; `current` is another list then. @throws what the database throws */
  refresh(): Promise<void>;
}

export function createWorkspaceRunbooks(deps: {
  readonly sql: Sql;
  readonly tools: KnownTools;
  readonly domains: readonly Domain[];
  /** Of the files as they are now; an id that a file has since taken is the file's. */
  readonly files: () => readonly RunbookSource[];
  readonly log: Log;
}): WorkspaceRunbooks {
  const { sql, log } = deps;
  let mark = '';
  let found: { readonly runbooks: readonly Runbook[]; readonly sources: readonly RunbookSource[] } = {
    runbooks: [],
    sources: [],
  };

  async function refresh(): Promise<void> {
    const [row] = await sql<{ mark: string }>`
      SELECT coalesce(string_agg(id || ':' || version || ':' || (retired_at IS NULL), ',' ORDER BY id), '-') AS mark
      FROM memory_document WHERE store = ${runbooksStore}`;
    const files = deps.files();
    const now = `${row?.mark}/${files.map(({ file, source }) => file + source.length).join()}`;
    if (now === mark) return;
    const rows = await sql<{ path: string; content: string }>`
      SELECT path, content FROM memory_document
      WHERE scope = 'workspace' AND store = ${runbooksStore} AND trust = 'admin_approved' AND retired_at IS NULL ORDER BY path`;
    const sources = rows
      .map((each) => ({ file: fileOf(each.path), source: each.content.trimStart() }))
      .filter(({ source }) => meansToBeRunbook(source));
    const own = new Set(sources.map(({ file }) => file));
    const { runbooks, problems } = validateRunbooks([...files, ...sources], deps);
    for (const problem of problems.filter(({ file }) => own.has(file)))
      log.error({ runbook: problem.file }, `a promoted runbook is left out: ${problemLine(problem)}`);
    found = { runbooks: runbooks.filter(({ file }) => own.has(file)), sources };
    mark = now;
  }

  return {
    current: () => found.runbooks,
    sources: () => found.sources,
    refresh,
  };
}
