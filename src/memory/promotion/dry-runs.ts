import { messageOf, type Refusal, refuse } from '../../core/errors.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { Sql, Tx } from '../../core/sql.ts';
import type { Runbook } from '../../runbooks/runbook.ts';
import { sha256 } from '../../safety/sha256.ts';
import { badRunbook, checkRunbook, type RunbookRules } from './check-runbook.ts';
import type { DryRun, DryRunReport, RunDry } from './ports.ts';

export interface DryRunDeps {
  readonly sql: Sql;
  readonly runbooks: RunbookRules;
  /** Null where no system can be read, as on the command line: then only what was tried before counts. */
  readonly dryRun: RunDry | null;
}

/** A text on its way into the workspace, and the proposal and incident it comes from. */
export interface Rehearsed {
  readonly jobId: string;
  readonly incidentId: IncidentId | null;
  readonly path: string;
  readonly content: string;
}

/** The runbook in a text, when it has steps for the playbook to follow; only then is there something to try. */
export function stepsOf(path: string, content: string, rules: RunbookRules): Runbook | Refusal | null {
  const checked = checkRunbook(path, content, rules);
  if (checked.kind === 'wrong') return badRunbook(checked.problems);
  return checked.kind === 'runbook' && checked.runbook.steps.length > 0 ? checked.runbook : null;
}

/**
 * Makes sure that the steps of exactly this text have been tried on a live system, and worked. What has passed is not tried
 * again; what has failed is. Undefined: it may be approved. Refusals: MEMORY_BAD_RUNBOOK, MEMORY_DRY_RUN.
 */
export async function ensureDryRun(deps: DryRunDeps, text: Rehearsed): Promise<Refusal | undefined> {
  const runbook = stepsOf(text.path, text.content, deps.runbooks);
  if (runbook === null) return undefined;
  if ('ok' in runbook) return runbook;
  const before = await findDryRun(deps.sql, text.jobId, sha256(text.content));
  if (before?.passed) return undefined;
  if (!deps.dryRun)
    return refuse(
      'MEMORY_DRY_RUN',
      'It has steps that have not been tried yet. The bot tries them when it runs; approve edits of them in Slack or over the admin API.',
    );
  const report = await reported(deps.dryRun, runbook, text.incidentId);
  await keepDryRun(deps.sql, text, report);
  return report.passed ? undefined : failed(report);
}

/** A fault of the trial is a trial that failed, and says why. */
export function reported(
  dryRun: RunDry,
  runbook: Runbook,
  incidentId: IncidentId | null,
): Promise<DryRunReport> {
  return dryRun(runbook, incidentId).catch((error: unknown) => ({
    passed: false,
    target: null,
    lines: [`It could not be tried: ${messageOf(error)}`],
  }));
}

export function failed({ lines }: DryRunReport): Refusal {
  return refuse('MEMORY_DRY_RUN', `Its steps do not run: ${lines.join('; ').slice(0, 800)}`);
}

export async function findDryRun(tx: Tx, jobId: string, sha256: string): Promise<DryRun | null> {
  const [row] = await tx<DryRun>`
    SELECT sha256, passed, target, lines, at FROM memory_dry_run WHERE job_id = ${jobId} AND sha256 = ${sha256}`;
  return row ?? null;
}

/** The newest counts. A proposal forgotten meanwhile keeps none. */
async function keepDryRun(sql: Sql, { jobId, content }: Rehearsed, report: DryRunReport): Promise<void> {
  await sql`
    INSERT INTO memory_dry_run (job_id, sha256, passed, target, lines)
    SELECT id, ${sha256(content)}, ${report.passed}, ${report.target}, ${sql.json(report.lines)}
    FROM dream_job WHERE id = ${jobId}
    ON CONFLICT (job_id, sha256) DO UPDATE SET passed = EXCLUDED.passed, target = EXCLUDED.target,
      lines = EXCLUDED.lines, at = clock_timestamp()`;
}
