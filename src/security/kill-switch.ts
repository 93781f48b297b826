import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, type Refusal, refuse } from '../domain/errors.ts';
import type { Sql, Tx } from '../domain/sql.ts';

export type Mode = 'AUDIT' | 'ACTIVE';

/** The human switch: mode, the STOP_SENTRY file in the data folder, and the switch set from Slack (rows). */
export interface KillSwitch {
  readonly mode: Mode;
  /** Mode and file, looked at anew at every call: obeyed at once. Undefined when mutations may go on. */
  local(): Refusal | undefined;
  /** Also the rows. For showing; what authorises a mutation is `lockRows` inside its claim. */
  stopped(scopes: readonly string[]): Promise<Refusal | undefined>;
  /** Reads the rows and holds them until the claim commits: whoever sets the switch waits for the claim or precedes it. */
  lockRows(tx: Tx, scopes: readonly string[]): Promise<Refusal | undefined>;
}

/** The scopes a target falls under. */
export function switchScopes(target: string, domain: string): readonly string[] {
  return ['*', `domain:${domain}`, `target:${target}`];
}

export function createKillSwitch(
  sql: Sql,
  options: { readonly mode: Mode; readonly dataDir: string },
): KillSwitch {
  const file = join(options.dataDir, 'STOP_SENTRY');

  const local = (): Refusal | undefined => {
    if (options.mode === 'AUDIT')
      return refuse('AUDIT_MODE', 'SENTRY_MODE=AUDIT: the intent is logged, nothing is changed.');
    return stopFile(file);
  };

  const read = async (
    rows: PromiseLike<readonly Readonly<Record<string, unknown>>[]>,
  ): Promise<Refusal | undefined> => {
    const found = await rows;
    // Without its first row there is no switch to read, and nothing that whoever sets one would wait for: that is a stop.
    if (!found.some((row) => row['scope'] === '*'))
      return refuse('STOPPED', 'The switch is missing from the database (scope "*"): nothing is changed.');
    const set = found.find((row) => row['stopped'] !== false);
    if (!set) return undefined;
    const why = set['reason'] ? `: ${String(set['reason'])}` : '';
    return refuse(
      'STOPPED',
      `Stopped by ${String(set['by'] || 'somebody')} (${String(set['scope'])})${why}.`,
    );
  };

  return {
    mode: options.mode,
    local,
    stopped: async (scopes) =>
      local() ??
      (await read(sql`SELECT * FROM switch WHERE scope = ANY (${sql.array([...scopes])}::text[])`)),
    // "*" first, as everybody who sets the switch does (trigger switch_in_order), and read only then: whoever was setting a
    // scope that had no row yet has committed by now, and the next one waits for the claim.
    lockRows: async (tx, scopes) => {
      await tx`SELECT 1 FROM switch WHERE scope = '*' FOR SHARE`;
      return read(tx`SELECT * FROM switch WHERE scope = ANY (${tx.array([...scopes])}::text[]) FOR SHARE`);
    },
  };
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
