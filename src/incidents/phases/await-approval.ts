import type { Action } from '../../core/action.ts';
import { ledgerHooks } from '../ledger-hooks.ts';
import { mayAskAgain } from '../limited-until.ts';
import { move } from '../move.ts';
import { AFTER_A_NO, NOT_TO_BLAME, OVER_BY_ITSELF } from '../next-steps.ts';
import { lookAnew } from './look-anew.ts';
import type { PhaseRun } from './phase-run.ts';

/** `awaiting_approval`: runs what has been approved, or follows a denial or an expiry. Waits for nobody. */
export async function decide(run: PhaseRun): Promise<void> {
  const { deps, incident } = run;
  const action = await run.durably('read action', async () => {
    const record = await deps.records.load(incident.id);
    return (
      record?.actions.findLast(({ auditOnly, beside, step }) => !auditOnly && !beside && step === 1) ?? null
    );
  });
  if (!action) return back(run, 'planning', 'No action is on record.', 'none');
  switch (action.state) {
    case 'proposed':
      await run.durably('expire', async () => {
        // Enqueues its own turn.
        if (await deps.approvals.approveEarned(action.id)) return true;
        if (await deps.approvals.expire(action.id)) await deps.jobs.enqueueTurn(incident.id, 'expired');
        return true;
      });
      return;
    case 'approved':
      return runApproved(run, action);
    case 'denied':
      return denied(run, action);
    case 'expired':
      return report(run, action, 'Nobody decided in time; nothing was run.');
    case 'void':
      return back(run, 'planning', action.outcome ?? 'The state moved.', action.id);
    case 'started':
    case 'unknown':
    case 'succeeded':
    case 'failed':
    case 'queued':
    case 'skipped':
      // The ledger moves the incident in the same transaction; a state like this here has been moved on already.
      return;
  }
}

async function runApproved(run: PhaseRun, action: Action): Promise<void> {
  const { deps, incident } = run;
  const result = await run.durably('execute', () =>
    deps.gate.execute(action, ledgerHooks(run, action), deps.shutdown),
  );
  if (result.kind === 'ran' || result.kind === 'given_back') return;
  if (result.kind === 'later') {
    await run.durably('ask again', () =>
      deps.jobs.enqueueTurn(incident.id, 'busy', { delayMs: result.inMs }).then(() => true),
    );
    return;
  }
  await run.durably('not run', async () => {
    await deps.sql.begin((tx) => deps.approvals.void(tx, action, deps.redact(result.reason)));
    return true;
  });
  if (result.wait && (await run.durably('may ask again', () => stillAsks(run))))
    return report(run, action, `${result.wait.limit} Nothing was run.`, result.wait.limit, result.wait.until);
  if (result.code === 'OVER_BY_ITSELF') return report(run, action, result.reason, OVER_BY_ITSELF);
  if (result.code === 'NOT_TO_BLAME' && (await run.durably('look anew', () => lookAnew(run, result.reason))))
    return;
  if (result.code === 'NOT_TO_BLAME') return report(run, action, result.reason, NOT_TO_BLAME);
  return result.why === 'void'
    ? back(run, 'planning', result.reason, action.id)
    : report(run, action, `${result.reason} Nothing was run.`);
}

async function stillAsks({ deps, incident }: PhaseRun): Promise<boolean> {
  const record = await deps.records.load(incident.id);
  return record !== null && mayAskAgain(record);
}

async function denied(run: PhaseRun, action: Action): Promise<void> {
  const events = await run.durably(
    'read denial',
    async () => (await run.deps.records.load(run.incident.id))?.events ?? [],
  );
  const denial = events.findLast((event) => event.type === 'action.denied' && event.actionId === action.id);
  const anotherWay = denial?.type === 'action.denied' && denial.anotherWay;
  const why = action.decisionReason ? `Denied: ${action.decisionReason}` : 'Denied.';
  return anotherWay
    ? back(run, 'planning', why, action.id)
    : report(run, action, `${why} Nothing was run.`, AFTER_A_NO);
}

async function back(run: PhaseRun, to: 'planning', reason: string, key: string): Promise<void> {
  await run.durably('plan again', () =>
    move(run.deps, run.incident, {
      from: 'awaiting_approval',
      to,
      reason,
      key: `again:${key}`,
      changes: { nextStep: 'Looking for another safe fix.' },
    }),
  );
}

async function report(
  run: PhaseRun,
  action: Action,
  reason: string,
  nextStep = 'A person decides what to do; a hint in the thread has it looked at again.',
  asksAgainAt?: string,
): Promise<void> {
  await run.durably('report', () =>
    move(run.deps, run.incident, {
      from: 'awaiting_approval',
      to: 'reported',
      reason,
      key: `reported:${action.id}`,
      changes: { nextStep, ...(asksAgainAt === undefined ? {} : { asksAgainAt }) },
      turnAfterMs: null,
    }),
  );
}
