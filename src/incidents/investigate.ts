import { isResting } from '../core/effort.ts';
import { type Refusal, refuse } from '../core/errors.ts';
import type { IncidentId } from '../core/ids.ts';
import type { Incident, IncidentState } from '../core/incident.ts';
import type { Tx } from '../core/sql.ts';
import type { InvestigationDeps } from './deps.ts';
import { moveAlone } from './move.ts';
import { lookInto } from './phases/effort.ts';
import type { Steered } from './steering.ts';

/** Has an incident looked into that rests: for the first time where the policy asked for no more, else afresh while its alert fires on. */
export type Investigate = (incidentId: IncidentId, by: string) => Promise<Steered>;

/** Where nothing comes by itself any more. */
const RESTING: readonly IncidentState[] = ['reported', 'escalated', 'ignored'];

export function createInvestigate(deps: InvestigationDeps): Investigate {
  return async (incidentId, by) => {
    const incident = await deps.records.incident(incidentId);
    if (!incident) return refuse('UNKNOWN_INCIDENT', `There is no ${incidentId}.`);
    const { effort, state } = incident;
    const isByPolicy = state === 'reported' && isResting(effort);
    const moved = isByPolicy
      ? await lookInto(deps, incident, effort, 'adaptive', {
          reason: 'A person has it looked into.',
          event: { type: 'effort.chosen', effort: 'adaptive', rule: null, by },
        })
      : await lookAgain(deps, incident, by);
    if (typeof moved !== 'string') return moved;
    return moved === 'moved'
      ? { ok: true, text: isByPolicy ? `Looking into ${incidentId}.` : 'Looking again.' }
      : refuse('MOVED', 'It has just moved on; look at the thread.');
  };
}

function lookAgain(deps: InvestigationDeps, incident: Incident, by: string) {
  const { sql, audit } = deps;
  const { id: incidentId, state, round } = incident;
  return sql.begin(async (tx) => {
    const mayNot = await whyNot(tx, incident);
    if (mayNot) return mayNot;
    const outcome = await moveAlone(tx, deps, incident, {
      from: state,
      to: 'diagnosing',
      reason: 'A person had it investigated again.',
      key: `again:${round}`,
      events: [{ type: 'investigation.asked', by }],
      changes: { round: round + 1, verdict: null, nextStep: 'Looking for the cause again.' },
    });
    if (outcome !== 'moved') return outcome;
    // Counted anew: whoever asks wants to know of the next time.
    await tx`UPDATE incident SET flips = '{}' WHERE id = ${incidentId}`;
    await audit.appendIn(tx, { kind: 'investigation.asked', actor: by, incidentId, details: {} });
    return outcome;
  });
}

async function whyNot(tx: Tx, incident: Incident): Promise<Refusal | undefined> {
  const { id, state } = incident;
  if (state === 'resolved')
    return refuse('ENDED', `${id} is over. If its alert fires again, it is looked into again.`);
  if (state === 'stopped') return refuse('STOPPED', `${id} is stopped: mention me with “resume”.`);
  if (!RESTING.includes(state)) return refuse('AT_WORK', `${id} is being worked on already.`);
  return (await hasOpenSuccessor(tx, incident))
    ? refuse('HAS_SUCCESSOR', 'The same alert has a newer incident that is open: look there.')
    : undefined;
}

/** Whether a newer incident of the same alert is open: of one alert there is one open incident. */
export async function hasOpenSuccessor(sql: Tx, { id, fingerprint }: Incident): Promise<boolean> {
  const rows = await sql`
    SELECT 1 FROM incident
     WHERE fingerprint = ${fingerprint} AND state NOT IN ('ignored', 'resolved') AND id <> ${id} LIMIT 1`;
  return rows.length > 0;
}
