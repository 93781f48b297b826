import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../core/errors.ts';
import type { Sql } from '../../core/sql.ts';
import type { Target } from '../../core/target.ts';
import type { AuditLog } from '../../safety/audit/audit-chain.ts';
import { type KillSwitch, type SetSwitch, setSwitches } from '../../safety/kill-switch/kill-switch.ts';
import { isIdentityKnown, namesOfSame } from '../../safety/kill-switch/target-identity.ts';
import type { InvestigationDeps } from '../deps.ts';
import { announceCleared, announceSet, settingKey } from './announce.ts';
import { resumeIncidents } from './resume-incidents.ts';
import { type RunningAction, runningIn, targetIn, untilSettled } from './running-actions.ts';
import { ENDED_FILES, liftEnded, type OwnFolder, shareFiles } from './shared-files.ts';

export interface SwitchOrder {
  /** `*`, `domain:<domain>`, `target:<name>`; to resume also `ENDED_FILES`. */
  readonly scope: string;
  /** A Slack user id, or who used the command line. */
  readonly by: string;
  /** Redacted by the caller's boundary before it is kept. */
  readonly reason: string;
}

/** The human switch as people use it. What obeys it is in the gate (`KillSwitch`). */
export interface KillSwitchService {
  /**
   * Sets the switch: from its commit on no mutation in the scope begins, in any process. Resolves when those that had
   * been claimed before have ended (at most one tool's time limit), naming them; after that nothing takes effect.
   * `onSet` is told once it is set, with what still runs.
   */
  stop(
    order: SwitchOrder & { readonly forMs: number | null },
    onSet?: (running: readonly RunningAction[]) => void,
  ): Promise<readonly RunningAction[]>;
  /** Takes it back; false when it was not set. Incidents it held up, and nothing else holds, are looked at again. */
  resume(order: SwitchOrder): Promise<boolean>;
  /** What a stop of a target's name covers beside it: other names of its system; null: nobody knows which system it is. */
  alsoNamed(scope: string): Promise<readonly string[] | null>;
  /** All stops that hold. */
  set(): Promise<readonly SetSwitch[]>;
  /** Ends stops whose time is up, shares the files of its folder, and goes on with incidents that nothing holds up any more; once. */
  look(): Promise<void>;
  /** Looks every second, and once which systems the targets are. */
  start(): void;
  end(): Promise<void>;
}

const LOOK_MS = 1_000;
const LEARN_MS = 2_000;

export type KillSwitchServiceDeps = Pick<InvestigationDeps, 'sql' | 'records' | 'log' | 'redact'> & {
  readonly audit: AuditLog;
  readonly killSwitch: KillSwitch;
  readonly targets: ReadonlyMap<string, Pick<Target, 'domain'>>;
  /** Reads which system a target is, and puts that on record; null: it cannot be told now. Without it the record alone tells. */
  readonly systemOf?: (target: string) => Promise<string | null>;
  /** Of a bot; a command looks after no files. */
  readonly folder?: OwnFolder;
};

export function createKillSwitchService(deps: KillSwitchServiceDeps): KillSwitchService {
  const { sql, log } = deps;
  const stopping = new AbortController();
  let looking: Promise<void> = Promise.resolve();
  let resumedTo = '';

  async function look(): Promise<void> {
    await endOverdue(deps);
    if (deps.folder) await shareFiles(deps, deps.folder);
    await deps.killSwitch.refresh();
    resumedTo = await resumeIncidents(deps, resumedTo);
  }

  return {
    stop: (order, onSet) => stop(deps, order, onSet),
    async resume(order) {
      const was = await resume(deps, order);
      if (was) await look();
      return was;
    },
    alsoNamed: (scope) => alsoNamed(sql, scope),
    set: () => setSwitches(sql),
    look,
    start() {
      looking = (async () => {
        for (const name of deps.targets.keys()) deps.systemOf?.(name).catch(() => null);
        while (!stopping.signal.aborted) {
          await look().catch((error: unknown) =>
            log.warn({ error: messageOf(error) }, 'could not look after the switch; trying again'),
          );
          await sleep(LOOK_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
        }
      })();
    },
    async end() {
      stopping.abort();
      await looking;
    },
  };
}

async function stop(
  deps: KillSwitchServiceDeps,
  { scope, by, reason: said, forMs }: Parameters<KillSwitchService['stop']>[0],
  onSet: Parameters<KillSwitchService['stop']>[1],
): Promise<readonly RunningAction[]> {
  const { sql, audit, targets } = deps;
  const reason = deps.redact(said);
  await sql.begin(async (tx) => {
    const [row] = await tx<{ until: string | null; at: string }>`
      INSERT INTO switch (scope, stopped, by, reason, until)
      VALUES (${scope}, true, ${by}, ${reason}, clock_timestamp() + ${forMs}::float8 * interval '1 millisecond')
      ON CONFLICT (scope) DO UPDATE SET stopped = true, by = excluded.by, reason = excluded.reason,
         until = excluded.until, at = clock_timestamp()
      RETURNING until, at`;
    const until = row?.until ?? null;
    await announceSet(tx, targets, scope, { by, reason, until }, settingKey(scope, String(row?.at)));
    await audit.appendIn(tx, {
      kind: 'switch.set',
      actor: by,
      details: { scope, reason, until: until === null ? null : String(until) },
    });
  });
  await learnSystem(deps, scope);
  const claimed = await runningIn(sql, targets, scope);
  onSet?.(claimed);
  return claimed.length === 0 ? [] : untilSettled(sql, claimed);
}

async function resume(
  deps: KillSwitchServiceDeps,
  { scope, by, reason: said }: SwitchOrder,
): Promise<boolean> {
  const reason = deps.redact(said);
  if (scope === ENDED_FILES) return liftEnded(deps, by, reason);
  return deps.sql.begin(async (tx) => {
    const rows = await tx`
      UPDATE switch SET stopped = false, until = NULL, by = ${by}, reason = ${reason}, at = clock_timestamp()
       WHERE scope = ${scope} AND stopped RETURNING scope`;
    if (rows.length > 0) await announceCleared(tx, deps, scope, by, reason);
    return rows.length > 0;
  });
}

/** Stops that have ended by the database's clock; of several processes one does it. */
async function endOverdue(deps: KillSwitchServiceDeps): Promise<void> {
  const { sql } = deps;
  const [due] = await sql`SELECT 1 FROM switch WHERE stopped AND until <= clock_timestamp()`;
  if (!due) return;
  await sql.begin(async (tx) => {
    const rows = await tx<{ scope: string }>`
      UPDATE switch SET stopped = false, until = NULL, at = clock_timestamp()
       WHERE stopped AND until <= clock_timestamp() RETURNING scope`;
    for (const { scope } of rows) await announceCleared(tx, deps, scope, 'system', 'its time is up');
  });
}

/** A stop takes effect by its name at once; that it may also be known by others must not hold it up for long. */
async function learnSystem({ systemOf, targets }: KillSwitchServiceDeps, scope: string): Promise<void> {
  const name = targetIn(scope);
  if (name === null || !systemOf || !targets.has(name)) return;
  const late = sleep(LEARN_MS, undefined, { ref: false });
  await Promise.race([systemOf(name).catch(() => null), late]);
}

async function alsoNamed(sql: Sql, scope: string): Promise<readonly string[] | null> {
  const name = targetIn(scope);
  if (name === null) return [];
  if (!(await isIdentityKnown(sql, name))) return null;
  return (await namesOfSame(sql, [name])).filter((each) => each !== name);
}
