import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, type Refusal, refuse } from '../../core/errors.ts';
import type { Sql, Tx } from '../../core/sql.ts';
import { scopesOfSame } from './target-identity.ts';

export type Mode = 'AUDIT' | 'ACTIVE';

/**
 * The human switch: the mode, the files STOP_SENTRY and SENTRY_MODE in the data folder, and the switch people set (rows).
 * Nobody can change the environment of a running process: the file of the variable's name is how the mode is changed
 * while Sentry runs. It makes AUDIT of ACTIVE and takes that back; it never makes ACTIVE of a configured AUDIT.
 */
export interface KillSwitch {
  /** Looked at anew at every call. `byFile`: what the file has to do with it; null: it is as configured. */
  mode(): { readonly mode: Mode; readonly byFile: string | null };
  /** Mode and files, looked at anew at every call: obeyed at once. Undefined when mutations may go on. */
  local(): Refusal | undefined;
  /** Also the rows. For showing; what authorises a mutation is `lockRows` inside its claim. */
  stopped(scopes: readonly string[]): Promise<Refusal | undefined>;
  /** Reads the rows and holds them until the claim commits: whoever sets the switch waits for the claim or precedes it. */
  lockRows(tx: Tx, scopes: readonly string[]): Promise<Refusal | undefined>;
}

/** The scopes a target falls under by its name. Those of the other names of its system are added where they are read. */
export function switchScopes(target: string, domain: string): readonly string[] {
  return ['*', `domain:${domain}`, `target:${target}`];
}

/** The mode in force, by what is configured and the file in the data folder. */
export function modeNow(options: {
  readonly mode: Mode;
  readonly dataDir: string;
}): ReturnType<KillSwitch['mode']> {
  const byFile = options.mode === 'AUDIT' ? null : auditByFile(join(options.dataDir, 'SENTRY_MODE'));
  return { mode: byFile === null ? options.mode : 'AUDIT', byFile };
}

export function createKillSwitch(
  sql: Sql,
  options: { readonly mode: Mode; readonly dataDir: string },
): KillSwitch {
  const file = join(options.dataDir, 'STOP_SENTRY');

  const local = (): Refusal | undefined => {
    if (options.mode === 'AUDIT')
      return refuse('AUDIT_MODE', 'SENTRY_MODE=AUDIT: the intent is logged, nothing is changed.');
    const stopped = stopFile(file);
    if (stopped) return stopped;
    const { byFile } = modeNow(options);
    return byFile === null
      ? undefined
      : refuse('AUDIT_MODE', `${byFile}: the intent is logged, nothing is changed.`);
  };

  const judge = (found: readonly SwitchRow[]): Refusal | undefined => {
    // Without its first row there is no switch to read, and nothing that whoever sets one would wait for: that is a stop.
    if (!found.some((row) => row.scope === '*'))
      return refuse('STOPPED', 'The switch is missing from the database (scope "*"): nothing is changed.');
    const set = found.find(holds);
    return set && refuse('STOPPED', stoppedReason(setSwitchOf(set)));
  };

  return {
    mode: () => modeNow(options),
    local,
    stopped: async (scopes) => {
      const stopped = local();
      if (stopped) return stopped;
      const all = await scopesOfSame(sql, scopes);
      return judge(
        await sql`SELECT *, clock_timestamp() AS now FROM switch WHERE scope = ANY (${sql.array([...all])}::text[])`,
      );
    },
    // First in line (trigger switch_in_order: whoever sets the switch takes the same lock alone), then "*", and the rows
    // only then: whoever was setting a scope that had no row yet has committed by now, and the next one waits for the claim.
    lockRows: async (tx, scopes) => {
      await tx`SELECT pg_advisory_xact_lock_shared(hashtextextended('sentry switch', 0))`;
      await tx`SELECT 1 FROM switch WHERE scope = '*' FOR SHARE`;
      const all = await scopesOfSame(tx, scopes);
      return judge(
        await tx`SELECT *, clock_timestamp() AS now FROM switch WHERE scope = ANY (${tx.array([...all])}::text[]) FOR SHARE`,
      );
    },
  };
}

/** A stop that holds. */
export interface SetSwitch {
  /** `*`, `domain:<domain>` or `target:<name>`. */
  readonly scope: string;
  /** A Slack user id, or who used the command line. */
  readonly by: string;
  readonly reason: string;
  /** ISO 8601. */
  readonly since: string;
  /** When it ends by itself; null: when somebody resumes. */
  readonly until: string | null;
}

/** All stops that hold, the widest first. */
export async function setSwitches(sql: Sql): Promise<readonly SetSwitch[]> {
  const rows = await sql<SwitchRow>`SELECT *, clock_timestamp() AS now FROM switch ORDER BY scope`;
  return rows.filter(holds).map(setSwitchOf);
}

interface SwitchRow {
  readonly scope: string;
  readonly stopped: boolean;
  readonly by: string | null;
  readonly reason: string | null;
  readonly at: string;
  readonly until: string | null;
  /** The database's clock. */
  readonly now: string;
}

/** Set, and not over: by the database's clock. What is neither true nor false is a stop. */
function holds(row: SwitchRow): boolean {
  if (row.stopped === false) return false;
  return row.until === null || Date.parse(row.until) > Date.parse(row.now);
}

function setSwitchOf(row: SwitchRow): SetSwitch {
  return {
    scope: row.scope,
    by: row.by || 'somebody',
    reason: row.reason ?? '',
    since: row.at,
    until: row.until,
  };
}

/** `Stopped by <@U1> (target shop-db) until 2026-11-22 14:00 UTC: a migration runs`, without the full stop. */
export function formatSwitch(set: Omit<SetSwitch, 'since'>): string {
  return `Stopped by ${isSlackUser(set.by) ? `<@${set.by}>` : set.by}${formatReason(set)}`;
}

/** The same for the record, which is drawn as plain text: Slack's ids say nothing there, the switch's events do. */
function stoppedReason(set: Omit<SetSwitch, 'since'>): string {
  return `Stopped${isSlackUser(set.by) ? '' : ` by ${set.by}`}${formatReason(set)}.`;
}

const isSlackUser = (by: string): boolean => /^[UW][A-Z0-9]{2,}$/.test(by);

function formatReason({ scope, reason, until }: Omit<SetSwitch, 'since' | 'by'>): string {
  const end = until === null ? '' : ` until ${minute(until)}`;
  return ` (${formatScope(scope)})${end}${reason ? `: ${reason}` : ''}`;
}

/** A scope for people. */
export function formatScope(scope: string): string {
  return scope === '*' ? 'everything' : scope.replace(':', ' ');
}

/** `2026-11-22 14:00 UTC`. */
export function minute(at: string): string {
  const iso = new Date(at).toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}

/** Only a file that is certainly not there is none: a folder that cannot be looked into may hold one. */
function stopFile(file: string): Refusal | undefined {
  try {
    lstatSync(file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') return undefined;
    return refuse('STOPPED', `It cannot be seen whether STOP_SENTRY is there: ${code ?? messageOf(error)}.`);
  }
  return refuse(
    'STOPPED',
    'The file STOP_SENTRY is in the data folder: nothing is changed until it is removed.',
  );
}

/** Of a mode; longer is none. */
const MODE_BYTES = 64;

/** Why the file makes it AUDIT; null when it does not: it is not there, or says ACTIVE. What cannot be read is AUDIT. */
function auditByFile(file: string): string | null {
  try {
    const found = lstatSync(file);
    const said = found.isFile() && found.size <= MODE_BYTES ? readFileSync(file, 'utf8').trim() : null;
    if (said === 'ACTIVE') return null;
    return said === 'AUDIT'
      ? 'The file SENTRY_MODE in the data folder says AUDIT'
      : 'The file SENTRY_MODE in the data folder says neither AUDIT nor ACTIVE, which counts as AUDIT';
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return code === 'ENOENT'
      ? null
      : `The file SENTRY_MODE in the data folder cannot be read (${code ?? messageOf(error)}), which counts as AUDIT`;
  }
}
