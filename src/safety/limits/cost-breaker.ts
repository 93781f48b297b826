import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, type Refusal, refuse } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Sql, Tx } from '../../core/sql.ts';
import type { AuditLog } from '../audit/audit-chain.ts';
import { CUT_OFF, endReservation } from './end-reservation.ts';

/** US dollars that model calls may cost, by all processes on one database together. */
export interface CostLimits {
  /** More within `windowMs` opens the breaker (the seed: $5 in 10 minutes). */
  readonly usd: number;
  readonly windowMs: number;
  /** Of one incident, over all its rounds. */
  readonly perIncidentUsd: number;
  /** Of one day, UTC. */
  readonly perDayUsd: number;
}

export type BreakerState = 'closed' | 'open' | 'half_open';

export interface BreakerView {
  readonly state: BreakerState;
  readonly since: string;
  readonly reason: string;
  readonly spentUsd: number;
  readonly reservedUsd: number;
  readonly todayUsd: number;
  /** Of the bot that started last; of whoever asks where none ever has. */
  readonly limits: CostLimits;
}

/** A model call that may begin. */
export interface Reservation {
  readonly ok: true;
  /** For what it cost to be put on record as of this call. */
  readonly id: string;
  /** After its usage is on record, however it ended. */
  release(): Promise<void>;
}

/** Layer 12. It stops model calls and nothing else: the playbook, people and approved actions go on. */
export interface CostBreaker {
  /**
   * Reserves what a call may cost at most; what all have spent and reserved decides, counted under one lock. While only
   * calls under way stand in the way, waits for them, at most `waitMs`.
   */
  reserve(call: {
    readonly incidentId: string | null;
    readonly usd: number;
    /** When a call that nobody has released counts as spent: its process died, and what it cost will never be known. */
    readonly forMs: number;
    readonly waitMs: number;
    readonly signal: AbortSignal;
  }): Promise<Reservation | Refusal>;
  view(): Promise<BreakerView>;
  /** Tells of each opening once, whichever process saw it; `tell` is tried again when it rejects. */
  start(tell: (text: string) => Promise<void>): void;
  stop(): Promise<void>;
}

const POLL_MS = 100;
const TELL_MS = 1_000;
/** It tries again when so much of the limit is free: at the limit itself it would open and close all the time. */
const CLOSE_AT = 0.5;

type Admission =
  | { readonly kind: 'admitted'; readonly id: string }
  | { readonly kind: 'wait'; readonly why: Refusal }
  | { readonly kind: 'refused'; readonly why: Refusal };

interface Deps {
  readonly sql: Sql;
  readonly audit: AuditLog;
  readonly limits: CostLimits;
  readonly log: Log;
}

interface Sums {
  readonly spent: number;
  readonly today: number;
  readonly incident: number;
  readonly reserved: number;
  readonly incidentReserved: number;
  /** A call tries whether it may go on. */
  readonly trial: boolean;
}

export function createCostBreaker(deps: Deps): CostBreaker {
  const { sql, log } = deps;
  const stopping = new AbortController();
  let telling: Promise<void> = Promise.resolve();

  return {
    async reserve({ incidentId, usd, forMs, waitMs, signal }) {
      const deadline = performance.now() + waitMs;
      for (;;) {
        signal.throwIfAborted();
        const answer = await admit(deps, incidentId, usd, forMs);
        if (answer.kind === 'admitted') {
          const { id } = answer;
          return { ok: true, id, release: () => release(deps, id) };
        }
        if (answer.kind === 'refused' || performance.now() > deadline) return answer.why;
        await pause(POLL_MS, signal);
      }
    },
    view: () => view(deps),
    start(tell) {
      telling = (async () => {
        await recordLimits(deps).catch((error: unknown) =>
          log.warn({ error: messageOf(error) }, 'the limits of the cost breaker could not be put on record'),
        );
        while (!stopping.signal.aborted) {
          await tellOnce(sql, tell).catch((error: unknown) =>
            log.warn(
              { error: messageOf(error) },
              'could not tell that the cost breaker is open; trying again',
            ),
          );
          await pause(TELL_MS, stopping.signal);
        }
      })();
    },
    async stop() {
      stopping.abort();
      await telling;
    },
  };
}

/** The breaker's row is the lock: what is counted here cannot change before the reservation stands. */
function admit(deps: Deps, incidentId: string | null, usd: number, forMs: number): Promise<Admission> {
  const { sql, limits } = deps;
  return sql.begin(async (tx): Promise<Admission> => {
    const [breaker] = await tx<BreakerRow>`SELECT * FROM cost_breaker FOR UPDATE`;
    await spendOfTheDead(tx);
    const sums = await count(tx, limits, incidentId);
    const budget = overBudget(limits, sums, incidentId);
    if (budget) return budget;
    const state = await stateNow(tx, deps, breaker, sums);
    if (state === 'open') return refused('COST_BREAKER', `More than ${per(limits)} was spent on the model.`);
    if (state === 'half_open' && sums.trial)
      return { kind: 'wait', why: refuse('COST_BREAKER', 'One model call tries whether it may go on.') };
    if (sums.spent + sums.reserved >= limits.usd) return { kind: 'wait', why: busy(limits) };
    const [row] = await tx<{ id: string }>`
      INSERT INTO spend_reservation (incident_id, usd, until)
      VALUES (${incidentId}, ${usd}, clock_timestamp() + ${forMs}::float8 * interval '1 millisecond') RETURNING id`;
    const id = String(row?.id);
    if (state === 'half_open') await tx`UPDATE cost_breaker SET trial = ${id}::uuid`;
    return { kind: 'admitted', id };
  });
}

/**
 * What a process that died had reserved counts as spent, all of it: the server charges for what it has answered, whether or not anybody
 * was there to hear it. Otherwise a bot that is killed again and again would have no budget. One that only slept puts that right when it
 * ends its call.
 */
async function spendOfTheDead(tx: Tx): Promise<void> {
  const dead = await tx<{ id: string; incident: string | null; usd: number; at: string }>`
    WITH dead AS (
      DELETE FROM spend_reservation WHERE until <= statement_timestamp() RETURNING id, incident_id, usd, at)
    SELECT id, incident_id AS incident, usd, at::text AS at FROM dead ORDER BY incident_id COLLATE "C"`;
  // Incidents in the order in which everybody locks several.
  for (const { id, incident, usd, at } of dead)
    await tx`
      WITH its AS (
        UPDATE incident SET cost_usd = cost_usd + ${usd}, updated_at = clock_timestamp() WHERE id = ${incident} RETURNING id)
      INSERT INTO usage (incident_id, role, model, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, cost_usd, at,
                         reservation)
      VALUES ((SELECT id FROM its), ${CUT_OFF}, 'at most', 0, 0, 0, 0, ${usd}, ${at}::timestamptz, ${id}::uuid)`;
}

const per = ({ usd, windowMs }: CostLimits): string => `$${usd} in ${windowMs / 60_000} minutes`;

const refused = (code: string, reason: string): Admission => ({ kind: 'refused', why: refuse(code, reason) });

const busy = (limits: CostLimits): Refusal =>
  refuse('COST_RESERVED', `Model calls under way may use up what is left of ${per(limits)}.`);

/** US dollars spent and reserved, as of now. */
async function count(
  tx: Tx | Sql,
  { windowMs }: Pick<CostLimits, 'windowMs'>,
  incidentId: string | null,
): Promise<Sums> {
  const [row] = await tx<Sums>`
    WITH live AS (SELECT * FROM spend_reservation WHERE until > statement_timestamp())
    SELECT (SELECT coalesce(sum(cost_usd), 0) FROM usage
             WHERE at > statement_timestamp() - ${windowMs}::float8 * interval '1 millisecond')::float8 AS spent,
           (SELECT coalesce(sum(cost_usd), 0) FROM usage
             WHERE at >= date_trunc('day', statement_timestamp() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC')::float8 AS today,
           (SELECT coalesce(sum(cost_usd), 0) FROM usage WHERE incident_id = ${incidentId})::float8 AS incident,
           (SELECT coalesce(sum(usd), 0) FROM live)::float8 AS reserved,
           (SELECT coalesce(sum(usd), 0) FROM live WHERE incident_id = ${incidentId})::float8 AS "incidentReserved",
           EXISTS (SELECT FROM live JOIN cost_breaker b ON b.trial = live.id) AS trial`;
  if (!row) throw new Error('a SELECT without FROM always has a row');
  return row;
}

function overBudget(limits: CostLimits, sums: Sums, incidentId: string | null): Admission | undefined {
  const { today, incident, reserved, incidentReserved } = sums;
  if (incidentId !== null && incident >= limits.perIncidentUsd)
    return refused('INCIDENT_BUDGET', `${incidentId} has used its $${limits.perIncidentUsd} for the model.`);
  if (today >= limits.perDayUsd)
    return refused('DAY_BUDGET', `Today’s $${limits.perDayUsd} for the model are used.`);
  const full =
    today + reserved >= limits.perDayUsd ||
    (incidentId !== null && incident + incidentReserved >= limits.perIncidentUsd);
  return full ? { kind: 'wait', why: busy(limits) } : undefined;
}

/** Opens, half-opens and closes by what has been spent, in the caller's transaction. */
async function stateNow(
  tx: Tx,
  { limits, audit }: Deps,
  breaker: BreakerRow | undefined,
  { spent, trial }: Sums,
): Promise<BreakerState> {
  const was = breaker?.state ?? 'open';
  const next = nextState(was, spent, limits.usd, trial, breaker?.trial != null);
  if (next === was) return next;
  const reason =
    next === 'open'
      ? `$${spent.toFixed(2)} in ${limits.windowMs / 60_000} minutes; allowed: $${limits.usd}`
      : '';
  await tx`UPDATE cost_breaker SET state = ${next}, since = clock_timestamp(), trial = NULL, reason = ${reason},
                  told = CASE WHEN ${next} = 'open' AND ${was} = 'closed' THEN false ELSE told END`;
  await audit.appendIn(tx, {
    kind: 'cost.breaker',
    actor: 'system',
    details: { from: was, to: next, spentUsd: spent, limitUsd: limits.usd },
  });
  return next;
}

async function release(deps: Deps, id: string): Promise<void> {
  await deps.sql.begin(async (tx) => {
    const [breaker] = await tx<BreakerRow>`SELECT * FROM cost_breaker FOR UPDATE`;
    await endReservation(tx, id);
    await stateNow(tx, deps, breaker, await count(tx, deps.limits, null));
  });
}

async function view({ sql, limits }: Deps): Promise<BreakerView> {
  const [breaker] = await sql<BreakerRow>`SELECT * FROM cost_breaker`;
  const inForce = recordedLimits(breaker) ?? limits;
  const { spent, reserved, today } = await count(sql, inForce, null);
  return {
    limits: inForce,
    state: breaker?.state ?? 'open',
    since: String(breaker?.since),
    reason: breaker?.reason ?? '',
    spentUsd: spent,
    reservedUsd: reserved,
    todayUsd: today,
  };
}

/** Of several processes one takes it on; when it cannot tell, the next look does. */
async function tellOnce(sql: Sql, tell: (text: string) => Promise<void>): Promise<void> {
  const [row] = await sql<
    Pick<BreakerRow, 'reason'>
  >`UPDATE cost_breaker SET told = true WHERE NOT told RETURNING reason`;
  if (!row) return;
  try {
    await tell(
      `The cost breaker is open: ${row.reason}. No more model calls until less has been spent; runbooks and people go on, and so do approved fixes. \`/sentry cost\` says where it went.`,
    );
  } catch (error) {
    await sql`UPDATE cost_breaker SET told = false`;
    throw error;
  }
}

/** For whoever only looks. */
async function recordLimits({ sql, limits }: Deps): Promise<void> {
  const { usd, windowMs, perIncidentUsd, perDayUsd } = limits;
  await sql`UPDATE cost_breaker SET limit_usd = ${usd}, window_ms = ${windowMs},
                   per_incident_usd = ${perIncidentUsd}, per_day_usd = ${perDayUsd}`;
}

interface BreakerRow {
  readonly state: BreakerState;
  readonly since: string;
  readonly reason: string;
  readonly trial: string | null;
  readonly limit_usd: number | null;
  readonly window_ms: number | null;
  readonly per_incident_usd: number | null;
  readonly per_day_usd: number | null;
}

function recordedLimits(breaker: BreakerRow | undefined): CostLimits | null {
  if (!breaker) return null;
  const {
    limit_usd: usd,
    window_ms: windowMs,
    per_incident_usd: perIncidentUsd,
    per_day_usd: perDayUsd,
  } = breaker;
  if (usd === null || windowMs === null || perIncidentUsd === null || perDayUsd === null) return null;
  return { usd, windowMs, perIncidentUsd, perDayUsd };
}

/**
 * @param trial a trial call is under way
 * @param tried one has been let through since it half-opened
 */
function nextState(
  was: BreakerState,
  spent: number,
  limit: number,
  trial: boolean,
  tried: boolean,
): BreakerState {
  if (spent >= limit) return 'open';
  if (was === 'open') return spent < limit * CLOSE_AT ? 'half_open' : 'open';
  return was === 'half_open' && tried && !trial ? 'closed' : was;
}

/** Resolves early, and does not reject, when aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch(() => undefined);
}
