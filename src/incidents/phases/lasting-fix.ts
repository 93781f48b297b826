import { storeReading } from '../../actions/proposals/aim.ts';
import { type Action, isLastingFix, repairOf, stepsOf, undoOf } from '../../core/action.ts';
import type { Prevention } from '../../core/diagnosis.ts';
import type { ActionId } from '../../core/ids.ts';
import type { Tx } from '../../core/sql.ts';
import type { ToolCallResult } from '../../core/tool-call.ts';
import { storedReadings } from '../claims/readings.ts';
import { BESIDE_TURN } from '../move.ts';
import { judgeRecovery } from '../recovery/judge-recovery.ts';
import type { PhaseRun } from './phase-run.ts';

interface Wanted {
  /** What it follows. */
  readonly repair: ActionId;
  readonly target: string;
  readonly runbookId: string | null;
  readonly acts: readonly Prevention[];
}

/**
 * Once an incident is fixed: asks for what keeps the problem from coming back, where its runbook names something, through the
 * gate like any proposal. The incident stays over, whatever becomes of it.
 */
export async function proposeLastingFix(run: PhaseRun): Promise<void> {
  const { deps, incident } = run;
  const wanted = await run.durably('read lasting fix', () => wantedNow(run));
  if (!wanted) return;
  const refusals: string[] = [];
  for (const [at, act] of wanted.acts.entries()) {
    const answer = await run.durably(`propose lasting fix ${at}`, () => propose(run, wanted, act));
    // Proposed, or somebody has seen to it already.
    if (answer.kind === 'proposed' || (answer.kind === 'refused' && answer.code === 'DONE_ALREADY')) return;
    refusals.push(answer.kind === 'ok' ? `${act.tool} changes nothing.` : answer.reason);
  }
  await run.durably('no lasting fix', async () => {
    const says = `What would keep it from coming back cannot be asked for: ${[...new Set(refusals)].join(' ')}`;
    await deps.sql`
      UPDATE incident SET next_step = ${deps.redact(says)}, updated_at = clock_timestamp()
       WHERE id = ${incident.id} AND state = 'resolved' AND round = ${incident.round}`;
    return true;
  });
}

/** Null: it is not fixed by us (any more), nothing is known that would last, or it has been asked for. */
async function wantedNow({ deps, incident: { id } }: PhaseRun): Promise<Wanted | null> {
  const record = await deps.records.load(id);
  if (!record) return null;
  const { incident, actions, events } = record;
  const { state, resolvedBy, round } = incident;
  if (state !== 'resolved' || resolvedBy !== 'confirmed') return null;
  const repair = repairOf(actions, round);
  if (!repair || stepsOf(actions, repair).some((step) => undoOf(actions, step))) return null;
  const isAsked = actions.some(
    (each) => isLastingFix(each) && each.round === round && each.state !== 'void' && !each.auditOnly,
  );
  const last = events.findLast((event) => event.type === 'diagnosis.concluded');
  if (isAsked || last?.round !== round) return null;
  const { prevent: acts = [], runbookId } = last.diagnosis;
  return acts.length === 0 ? null : { repair: repair.id, target: repair.target, runbookId, acts };
}

async function propose(
  { deps, incident }: PhaseRun,
  { repair, target, runbookId }: Wanted,
  { tool, input, why, andThen = [] }: Prevention,
): Promise<ToolCallResult> {
  const credential = deps.vault.mint({
    role: 'surgeon',
    incidentId: incident.id,
    targets: [target],
    tools: [tool, ...andThen.map((step) => step.tool)],
  });
  try {
    return await deps.gate.call(
      credential,
      { tool, target, input, proposal: { why, runbookId, verify: null, andThen } },
      { purpose: 'To keep it from coming back', signal: deps.shutdown, lasting: repair },
    );
  } finally {
    deps.vault.revoke(credential);
  }
}

/** Asked in the claim: what is to keep it fixed does not begin when it is not. */
export async function isStillFixed(tx: Tx, { incidentId, round }: Action): Promise<boolean> {
  const rows = await tx`
    UPDATE incident SET updated_at = clock_timestamp()
     WHERE id = ${incidentId} AND state = 'resolved' AND resolved_by = 'confirmed' AND round = ${round} RETURNING id`;
  return rows.length > 0;
}

/** After it ran: one look a turn whether it is done, until it is seen or its time is over. The incident's verdict is not touched. */
export async function lookAtEffect(run: PhaseRun, { id }: Pick<Action, 'id'>): Promise<void> {
  const { deps, incident } = run;
  const look = await run.durably(`look at ${id}`, () => lookOnce(run, id));
  if (!look) return;
  if (look.waitMs !== null) {
    const delayMs = look.waitMs;
    await run.durably(`look again at ${id}`, () =>
      deps.jobs.enqueueTurn(incident.id, BESIDE_TURN, { delayMs }).then(() => true),
    );
    return;
  }
  const { actionId, seen, text } = look;
  await run.durably(`seen ${id}`, () =>
    deps.sql.begin((tx) =>
      deps.records.append(tx, incident.id, { type: 'action.checked', actionId, seen, text }, `effect:${id}`),
    ),
  );
}

async function lookOnce({ deps, incident }: PhaseRun, id: Action['id']) {
  const action = await deps.records.action(id);
  if (action?.state !== 'succeeded') return null;
  const { verify: plan, planId: actionId, target } = action;
  const reading = await deps.gate.readCriterion({
    incidentId: incident.id,
    target,
    plan,
    purpose: 'Is it done?',
    signal: deps.shutdown,
  });
  await storeReading(deps.sql, { incidentId: incident.id, actionId: id }, 'watch', reading);
  const readings = await storedReadings(deps.sql, id, 'watch');
  const judgement = judgeRecovery({
    plan,
    readings,
    ranAt: action.finishedAt === null ? (readings[0]?.at ?? 0) : Date.parse(action.finishedAt),
    steady: [],
    wentAwayMs: 0,
    neverRan: false,
    // No alert is waited for: it had ended before this was asked for.
    isSourceOver: true,
    sourceWaitMs: 0,
  });
  const seen = judgement.kind === 'recovered' ? true : judgement.kind === 'still_red' ? false : null;
  const text = deps.redact(reading.lines.join('; '));
  return { waitMs: judgement.kind === 'wait' ? judgement.inMs : null, actionId, seen, text };
}
