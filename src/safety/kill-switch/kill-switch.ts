import { type Refusal, refuse } from '../../core/errors.ts';
import { isSlackUser } from '../../core/is-slack-user.ts';
import type { Sql, Tx } from '../../core/sql.ts';
import { FILE_SCOPE, formatScope, formatSetter } from '../../core/switch-scope.ts';
import { auditFile, byFile as byFileName, fileScope, isModeScope, stopFile } from './stop-files.ts';
import { scopesOfSame } from './target-identity.ts';

export type Mode = 'AUDIT' | 'ACTIVE';

/**
 * The human switch: the mode, the files STOP_SENTRY and SENTRY_MODE in the data folder, and the switch people set (rows).
 * The files of other processes' folders are rows, too: each process puts its own there (stop-files in kill-switch-service).
 * Nobody can change the environment of a running process: the file of the variable's name is how the mode is changed
 * while Sentry runs. It makes AUDIT of ACTIVE and takes that back; it never makes ACTIVE of a configured AUDIT.
 */
export interface KillSwitch {
  /**
   * The own file is looked at anew at every call, those of other processes are as last refreshed. `byFile`: what the file has
   * to do with it; null: it is as configured.
   */
  mode(): { readonly mode: Mode; readonly byFile: string | null };
  /** Mode and files, looked at anew at every call: obeyed at once. Undefined when mutations may go on. */
  local(): Refusal | undefined;
  /** Also the rows. For showing; what authorises a mutation is `lockRows` inside its claim. */
  stopped(scopes: readonly string[]): Promise<Refusal | undefined>;
  /** Reads which files other processes have, for `mode`. */
  refresh(): Promise<void>;
  /** Reads the rows and holds them until the claim commits: whoever sets the switch waits for the claim or precedes it. */
  lockRows(tx: Tx, scopes: readonly string[]): Promise<Refusal | undefined>;
}

/** The scopes a target falls under by its name. Those of the other names of its system are added where they are read. */
export function switchScopes(target: string, domain: string): readonly string[] {
  return ['*', `domain:${domain}`, `target:${target}`];
}

/** The mode in force, by what is configured and the file in the data folder; `elsewhere`: what another process's file says. */
export function modeNow(
  options: { readonly mode: Mode; readonly dataDir: string },
  elsewhere: string | null = null,
): ReturnType<KillSwitch['mode']> {
  const byFile = options.mode === 'AUDIT' ? null : (auditFile(options.dataDir)?.reason ?? elsewhere);
  return { mode: byFile === null ? options.mode : 'AUDIT', byFile };
}

export function createKillSwitch(
  sql: Sql,
  options: {
    readonly mode: Mode;
    readonly dataDir: string;
    /** Which folder it is, on record. */
    readonly folder?: string;
  },
): KillSwitch {
  /** What the files of other processes make of the mode. */
  let elsewhere: string | null = null;

  const local = (): Refusal | undefined => {
    if (options.mode === 'AUDIT')
      return refuse('AUDIT_MODE', 'SENTRY_MODE=AUDIT: the intent is logged, nothing is changed.');
    const stopped = stopFile(options.dataDir);
    if (stopped)
      return refuse(
        'STOPPED',
        stoppedReason({ ...stopped, scope: '*', by: byFileName(stopped.name), until: null }),
      );
    const { byFile } = modeNow(options);
    return byFile === null ? undefined : refuse('AUDIT_MODE', `${formatAudit(byFile)}.`);
  };

  const judge = (found: readonly SwitchRow[]): Refusal | undefined => {
    // Without its first row there is no switch to read, and nothing that whoever sets one would wait for: that is a stop.
    if (!found.some((row) => row.scope === '*'))
      return refuse('STOPPED', 'The switch is missing from the database (scope "*"): nothing is changed.');
    const holding = found.filter(holds);
    const set = holding.find(({ scope }) => !isModeScope(scope)) ?? holding[0];
    if (!set) return undefined;
    return isModeScope(set.scope)
      ? refuse('AUDIT_MODE', `${formatAudit(set.reason ?? '')}.`)
      : refuse('STOPPED', stoppedReason(setSwitchOf(set)));
  };

  return {
    mode: () => modeNow(options, elsewhere),
    local,
    async refresh() {
      const own = fileScope('SENTRY_MODE', options.folder ?? '');
      const files = await setSwitches(sql);
      elsewhere = files.find(({ scope }) => isModeScope(scope) && scope !== own)?.reason ?? null;
    },
    stopped: async (scopes) => {
      const stopped = local();
      if (stopped) return stopped;
      const all = await scopesOfSame(sql, scopes);
      return judge(
        await sql`SELECT *, clock_timestamp() AS now FROM switch
             WHERE scope = ANY (${sql.array([...all])}::text[]) OR scope LIKE ${`${FILE_SCOPE}%`}`,
      );
    },
    // First in line (trigger switch_in_order: whoever sets the switch takes the same lock alone), then "*", and the rows
    // only then: whoever was setting a scope that had no row yet has committed by now, and the next one waits for the claim.
    lockRows: async (tx, scopes) => {
      await tx`SELECT pg_advisory_xact_lock_shared(hashtextextended('sentry switch', 0))`;
      await tx`SELECT 1 FROM switch WHERE scope = '*' FOR SHARE`;
      const all = await scopesOfSame(tx, scopes);
      return judge(
        await tx`SELECT *, clock_timestamp() AS now FROM switch
                  WHERE scope = ANY (${tx.array([...all])}::text[]) OR scope LIKE ${`${FILE_SCOPE}%`} FOR SHARE`,
      );
    },
  };
}

/** A stop that holds. */
export interface SetSwitch {
  /** `*`, `domain:<domain>`, `target:<name>` or a file's. */
  readonly scope: string;
  /** A Slack user id, who used the command line, or a file. */
  readonly by: string;
  readonly reason: string;
  /** ISO 8601. */
  readonly since: string;
  /** When it ends by itself; null: when somebody resumes. */
  readonly until: string | null;
  /** Of a file whose process has ended: nobody looks any more whether it is there. */
  readonly isOrphaned?: boolean;
}

/** A process whose heart has not beaten for so long has ended, or does no harm. */
export const LIVE_MS = 30_000;

/** All stops that hold, the widest first. */
export async function setSwitches(sql: Sql): Promise<readonly SetSwitch[]> {
  const rows = await sql<SwitchRow & { readonly live: boolean }>`
    SELECT s.*, clock_timestamp() AS now,
           EXISTS (SELECT FROM process p WHERE p.executor_id = s.process
                     AND p.beat_at > clock_timestamp() - ${LIVE_MS} * interval '1 millisecond') AS live
      FROM switch s ORDER BY scope`;
  return rows
    .filter(holds)
    .map((row) => ({ ...setSwitchOf(row), isOrphaned: row.scope.startsWith(FILE_SCOPE) && !row.live }));
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
  const orphaned = set.isOrphaned
    ? '. Its process has ended: start it again, or lift this by “resume STOP_SENTRY”'
    : '';
  if (isModeScope(set.scope)) return `${formatAudit(set.reason)}${orphaned}`;
  return `Stopped by ${formatSetter(set.by)}${formatReason(set)}${orphaned}`;
}

const formatAudit = (byFile: string): string => `${byFile}: the intent is logged, nothing is changed`;

/** The same for the record, which is drawn as plain text: Slack's ids say nothing there, the switch's events do. */
function stoppedReason(set: Omit<SetSwitch, 'since'>): string {
  return `Stopped${isSlackUser(set.by) ? '' : ` by ${set.by}`}${formatReason(set)}.`;
}

function formatReason({ scope, reason, until }: Omit<SetSwitch, 'since' | 'by'>): string {
  const end = until === null ? '' : ` until ${minute(until)}`;
  return ` (${formatScope(scope)})${end}${reason ? `: ${reason}` : ''}`;
}

/** `2026-11-22 14:00 UTC`. */
export function minute(at: string): string {
  const iso = new Date(at).toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}
