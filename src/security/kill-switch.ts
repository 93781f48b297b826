import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Refusal, refuse } from '../domain/errors.ts';
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
    if (existsSync(file))
      return refuse(
        'STOPPED',
        `The file STOP_SENTRY is in the data folder: nothing is changed until it is removed.`,
      );
    return undefined;
  };

  const read = async (
    rows: PromiseLike<readonly Readonly<Record<string, unknown>>[]>,
  ): Promise<Refusal | undefined> => {
    const set = (await rows).find((row) => row['stopped'] === true);
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
    lockRows: (tx, scopes) =>
      read(tx`SELECT * FROM switch WHERE scope = ANY (${tx.array([...scopes])}::text[]) FOR SHARE`),
  };
}
