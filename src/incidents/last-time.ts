import { type Action, repairOf, stepsOf } from '../core/action.ts';
import { describePlan } from '../core/describe-act.ts';
import type { IncidentId } from '../core/ids.ts';
import type { Incident } from '../core/incident.ts';
import type { IncidentRecord } from '../core/incident-record.ts';
import { hasFallen, undoneOf } from '../core/undone.ts';
import type { InvestigationDeps } from './deps.ts';
import { triedIn } from './tried-in.ts';

/** Counted no further. */
const MOST_TIMES = 999;

/** Puts on record which incident the same alert, or its group, had last: the thread links it. */
export async function noteLastTime({ sql, records }: InvestigationDeps, id: IncidentId): Promise<void> {
  const [last] = await sql<{ id: IncidentId; ended_at: string }>`
    SELECT id, ended_at FROM (
      (SELECT p.id, p.ended_at FROM incident i JOIN incident p ON p.fingerprint = i.fingerprint AND p.opened_at < i.opened_at
        WHERE i.id = ${id} AND NOT sentry_is_test(i.id) AND p.state IN ('ignored', 'resolved') ORDER BY p.opened_at DESC LIMIT 1)
      UNION ALL
      (SELECT p.id, p.ended_at FROM incident i JOIN incident p ON p.group_key = i.group_key AND p.state = 'resolved'
        WHERE i.id = ${id} AND p.id <> ${id} ORDER BY p.ended_at DESC LIMIT 1)) AS earlier
     ORDER BY ended_at DESC LIMIT 1`;
  const record = last && (await records.load(last.id));
  if (!record) return;
  const { incident, actions } = record;
  const undone = undoneLast(actions);
  const helped = incident.resolvedBy === 'confirmed' ? repairOf(actions, incident.round) : undefined;
  const repair = helped && !hasFallen(undoneOf(actions, stepsOf(actions, helped))) ? helped : undefined;
  const [seen] = await sql<{ times: number }>`
    SELECT count(*)::int + 1 AS times FROM (
      SELECT FROM incident i JOIN incident p ON p.fingerprint = i.fingerprint AND p.opened_at < i.opened_at
                                            AND p.opened_at > i.opened_at - interval '24 hours'
       WHERE i.id = ${id} LIMIT ${MOST_TIMES}) AS earlier`;
  const times = seen?.times ?? 1;
  const fixedBy = repair ? describePlan(stepsOf(actions, repair)) : null;
  const failed = failedLast(record, fixedBy);
  const event = {
    type: 'incident.last_time',
    earlier: last.id,
    endedAt: last.ended_at,
    ended: endOf(incident),
    fixedBy,
    ...(failed === null ? {} : { failed }),
    ...(undone ? { undone } : {}),
    ...(times > 1 ? { times } : {}),
  } as const;
  await sql.begin((tx) => records.append(tx, id, event, 'last time'));
}

/** The last repair that was seen not to help, but for what helped in a later round after all. */
function failedLast(record: IncidentRecord, fixedBy: string | null): string | null {
  const { actions } = record;
  const failed = triedIn(record)
    .filter(({ purpose, verdict }) => purpose === 'repair' && verdict === 'not_fixed')
    .map((action) => describePlan(stepsOf(actions, action)));
  return failed.findLast((plan) => plan !== fixedBy) ?? null;
}

/** Of the last plan that people have undone. */
function undoneLast(actions: readonly Action[]) {
  const plans = actions.filter(({ step, undoes }) => step === 1 && undoes === null);
  return plans
    .map((plan) => {
      const steps = stepsOf(actions, plan);
      const undone = undoneOf(actions, steps);
      return undone && hasFallen(undone)
        ? { act: describePlan(steps, true), says: undone.says, by: undone.by }
        : null;
    })
    .findLast((undone) => undone !== null);
}

const endOf = ({ state, resolvedBy }: Incident) =>
  state === 'ignored' ? 'ignored' : (resolvedBy ?? 'silence');
