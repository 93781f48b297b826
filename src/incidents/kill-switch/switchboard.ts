import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../core/errors.ts';
import type { ActionId, IncidentId } from '../../core/ids.ts';
import { asActionId, asIncidentId } from '../../core/ids.ts';
import type { Incident } from '../../core/incident.ts';
import type { Sql, SqlRow, Tx } from '../../core/sql.ts';
import type { Target } from '../../core/target.ts';
import type { AuditLog } from '../../safety/audit/audit-chain.ts';
import {
  type KillSwitch,
  type SetSwitch,
  setSwitches,
  switchScopes,
} from '../../safety/kill-switch/kill-switch.ts';
import { isIdentityKnown, namesOfSame, scopesOfSame } from '../../safety/kill-switch/target-identity.ts';
import type { InvestigationDeps } from '../deps.ts';
import { BESIDE_TURN, moveIn } from '../move.ts';

/** A mutation that had been claimed when the switch was set: it could still take effect. */
export interface RunningAction {
  readonly actionId: ActionId;
  readonly incidentId: IncidentId;
  readonly target: string;
  readonly command: string;
  /** How it stands: `started` while it runs; when *Stop* has answered, how it ended. */
  readonly state: string;
}

export interface SwitchOrder {
  /** `*`, `domain:<domain>` or `target:<name>`. */
  readonly scope: string;
  /** A Slack user id, or who used the command line. */
  readonly by: string;
  /** Redacted by the caller's boundary before it is kept. */
  readonly reason: string;
}

/** The human switch as people use it. What obeys it is in the gate (`KillSwitch`). */
export interface Switchboard {
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
  /** Ends stops whose time is up, and goes on with incidents that nothing holds up any more; once. */
  look(): Promise<void>;
  /** Looks every second, and once which systems the targets are. */
  start(): void;
  end(): Promise<void>;
}

const LOOK_MS = 1_000;
const POLL_MS = 50;
const LEARN_MS = 2_000;

export type SwitchboardDeps = Pick<InvestigationDeps, 'sql' | 'records' | 'reporter' | 'log' | 'redact'> & {
  readonly audit: AuditLog;
  readonly killSwitch: KillSwitch;
  readonly targets: ReadonlyMap<string, Pick<Target, 'domain'>>;
  /** Reads which system a target is, and puts that on record; null: it cannot be told now. Without it the record alone tells. */
  readonly systemOf?: (target: string) => Promise<string | null>;
};

export function createSwitchboard(deps: SwitchboardDeps): Switchboard {
  const { sql, audit, killSwitch, targets, log, reporter } = deps;
  const stopping = new AbortController();
  let looking: Promise<void> = Promise.resolve();
  let held: string | undefined;

  /** By all their names; null: every target. A target that is no longer configured belongs to every domain: rather one too many. */
  async function targetsOf(db: Sql | Tx, scope: string): Promise<readonly string[] | null> {
    const name = targetIn(scope);
    if (name !== null) return namesOfSame(db, [name]);
    if (!scope.startsWith('domain:')) return null;
    const domain = scope.slice('domain:'.length);
    return namesOfSame(
      db,
      [...targets].filter(([, target]) => target.domain === domain).map(([each]) => each),
    );
  }

  /** A stop takes effect by its name at once; that it may also be known by others must not hold it up for long. */
  async function learnSystem(scope: string): Promise<void> {
    const name = targetIn(scope);
    if (name === null || !deps.systemOf || !targets.has(name)) return;
    const late = sleep(LEARN_MS, undefined, { ref: false });
    await Promise.race([deps.systemOf(name).catch(() => null), late]);
  }

  async function alsoNamed(scope: string): Promise<readonly string[] | null> {
    const name = targetIn(scope);
    if (name === null) return [];
    if (!(await isIdentityKnown(sql, name))) return null;
    return (await namesOfSame(sql, [name])).filter((each) => each !== name);
  }

  async function running(scope: string): Promise<readonly RunningAction[]> {
    const names = await targetsOf(sql, scope);
    const rows = await sql`
      SELECT id, incident_id, target, command, state FROM action
       WHERE state IN ('started', 'unknown') AND done_by > clock_timestamp() ORDER BY started_at`;
    return rows
      .filter(
        ({ target }) => names === null || names.includes(String(target)) || !targets.has(String(target)),
      )
      .map(toRunning);
  }

  /** Those of them that may still take effect. `unknown` before its time is up: its run was given up, not ended. */
  async function settled(actions: readonly RunningAction[]): Promise<readonly RunningAction[]> {
    const ids = actions.map((action) => action.actionId);
    for (;;) {
      const rows = await sql`
        SELECT id, incident_id, target, command, state,
               state IN ('started', 'unknown') AND done_by > clock_timestamp() AS under_way
          FROM action WHERE id = ANY (${sql.array(ids)}::text[]) ORDER BY started_at`;
      if (rows.every((row) => row['under_way'] !== true)) return rows.map(toRunning);
      await sleep(POLL_MS);
    }
  }

  /** Tells every open incident in the scope, in the switch's own transaction: the thread shows it from then on. */
  async function tell(
    tx: Tx,
    scope: string,
    type: 'switch.set' | 'switch.cleared',
    body: object,
    key: string | null = null,
  ): Promise<readonly IncidentId[]> {
    const names = await targetsOf(tx, scope);
    const rows = await tx`
      INSERT INTO event (incident_id, type, body, dedupe_key)
      SELECT id, ${type}, ${tx.json({ scope, ...body })}, ${key} FROM incident
       WHERE state NOT IN ('ignored', 'resolved')
         AND (${names === null} OR target = ANY (${tx.array(names ?? [])}::text[]))
      RETURNING incident_id`;
    return rows.map((row) => asIncidentId(String(row['incident_id'])));
  }

  const redraw = (ids: readonly IncidentId[]): void => {
    for (const id of ids) reporter.changed(id);
  };

  async function resume({ scope, by, reason: said }: SwitchOrder): Promise<boolean> {
    const reason = deps.redact(said);
    const cleared = await sql.begin(async (tx) => {
      const rows = await tx`
        UPDATE switch SET stopped = false, until = NULL, by = ${by}, reason = ${reason}, at = clock_timestamp()
         WHERE scope = ${scope} AND stopped RETURNING scope`;
      return rows.length > 0 ? tellCleared(tx, scope, by, reason) : null;
    });
    if (cleared === null) return false;
    redraw(cleared);
    await look();
    return true;
  }

  async function tellCleared(
    tx: Tx,
    scope: string,
    by: string,
    reason: string,
  ): Promise<readonly IncidentId[]> {
    const told = await tell(tx, scope, 'switch.cleared', { by, reason });
    await audit.appendIn(tx, { kind: 'switch.cleared', actor: by, details: { scope, reason } });
    return told;
  }

  /** Stops that have ended by the database's clock; of several processes one does it. */
  async function endOverdue(): Promise<void> {
    const [due] = await sql`SELECT 1 FROM switch WHERE stopped AND until <= clock_timestamp()`;
    if (!due) return;
    const told = await sql.begin(async (tx) => {
      const rows = await tx`
        UPDATE switch SET stopped = false, until = NULL, at = clock_timestamp()
         WHERE stopped AND until <= clock_timestamp() RETURNING scope`;
      const ids: IncidentId[] = [];
      for (const row of rows)
        ids.push(...(await tellCleared(tx, String(row['scope']), 'system', 'its time is up')));
      return ids;
    });
    redraw(told);
  }

  /** Incidents that ended as a report because nothing might be changed, and now might be: looked at afresh. For those that are
   * fixed, what was to keep them so is asked for. */
  async function goOn(): Promise<void> {
    const rows = await sql`
      SELECT DISTINCT i.id FROM action a JOIN incident i ON i.id = a.incident_id
       WHERE a.held_by IS NOT NULL
         AND (i.state = 'reported' AND NOT a.beside OR i.state = 'resolved' AND a.beside AND a.undoes IS NULL)`;
    for (const row of rows) {
      const incident = await deps.records.incident(asIncidentId(String(row['id'])));
      if (!incident?.target) continue;
      const domain = targets.get(incident.target)?.domain ?? incident.domain;
      const scopes = switchScopes(incident.target, domain);
      if (!(await killSwitch.stopped(scopes))) await again(incident);
      else if (incident.state === 'reported') await tellHeld(incident.id, scopes);
    }
  }

  /** An incident that was opened under the switch hears of it when it is first held up by it. */
  async function tellHeld(id: IncidentId, scopes: readonly string[]): Promise<void> {
    const all = await scopesOfSame(sql, scopes);
    const holding = (await setSwitches(sql)).filter((set) => all.includes(set.scope));
    for (const { since, ...set } of holding) {
      const body = { type: 'switch.set', ...set } as const;
      const isNew = await sql.begin((tx) => deps.records.append(tx, id, body, keyOf(set.scope, since)));
      if (isNew) reporter.changed(id);
    }
  }

  async function again(incident: Incident): Promise<void> {
    await sql.begin(async (tx) => {
      await tx`UPDATE action SET held_by = NULL WHERE incident_id = ${incident.id} AND held_by IS NOT NULL`;
      if (incident.state === 'resolved') {
        await tx`SELECT sentry_enqueue_turn(${incident.id}, ${BESIDE_TURN})`;
        return;
      }
      await moveIn(tx, deps, incident, {
        from: 'reported',
        to: 'diagnosing',
        reason: 'Changes may be made again; the state is read anew.',
        key: `resumed:${incident.round}`,
        changes: { round: incident.round + 1, nextStep: 'Looking again, now that changes may be made.' },
      });
    });
    reporter.changed(incident.id);
  }

  async function look(): Promise<void> {
    await endOverdue();
    await noticeFile();
    await goOn();
  }

  /** The file is obeyed wherever it is read; here its coming and going gets into the audit log. */
  async function noticeFile(): Promise<void> {
    const local = killSwitch.local();
    const now = local?.code === 'STOPPED' ? local.reason : undefined;
    if (now === held) return;
    await audit.append({
      kind: now === undefined ? 'switch.cleared' : 'switch.set',
      actor: 'system',
      details: { scope: 'STOP_SENTRY', reason: now ?? 'the file is gone' },
    });
    held = now;
  }

  return {
    async stop({ scope, by, reason: said, forMs }, onSet) {
      const reason = deps.redact(said);
      const told = await sql.begin(async (tx) => {
        const [row] = await tx`
          INSERT INTO switch (scope, stopped, by, reason, until)
          VALUES (${scope}, true, ${by}, ${reason}, clock_timestamp() + ${forMs}::float8 * interval '1 millisecond')
          ON CONFLICT (scope) DO UPDATE SET stopped = true, by = excluded.by, reason = excluded.reason,
             until = excluded.until, at = clock_timestamp()
          RETURNING until, at`;
        const until = row?.['until'] ?? null;
        const ids = await tell(
          tx,
          scope,
          'switch.set',
          { by, reason, until },
          keyOf(scope, String(row?.['at'])),
        );
        await audit.appendIn(tx, {
          kind: 'switch.set',
          actor: by,
          details: { scope, reason, until: until === null ? null : String(until) },
        });
        return ids;
      });
      redraw(told);
      await learnSystem(scope);
      const claimed = await running(scope);
      onSet?.(claimed);
      return claimed.length === 0 ? [] : settled(claimed);
    },
    resume,
    alsoNamed,
    set: () => setSwitches(sql),
    look,
    start() {
      looking = (async () => {
        for (const name of targets.keys()) deps.systemOf?.(name).catch(() => null);
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

const targetIn = (scope: string): string | null =>
  scope.startsWith('target:') ? scope.slice('target:'.length) : null;

/** One setting of the switch, as incidents are told of it. */
const keyOf = (scope: string, since: string): string => `switch:${scope}:${since}`;

function toRunning(row: SqlRow): RunningAction {
  return {
    actionId: asActionId(String(row['id'])),
    incidentId: asIncidentId(String(row['incident_id'])),
    target: String(row['target']),
    command: String(row['command']),
    state: String(row['state']),
  };
}
