import { setTimeout as sleep } from 'node:timers/promises';
import { checkVerifyStep } from '../../agents/playbook/check-verify-step.ts';
import { type Action, neverRan } from '../../domain/action.ts';
import type { IncidentEvent } from '../../domain/event.ts';
import type { Verdict } from '../../domain/incident.ts';
import { MAX_ROUNDS } from '../machine.ts';
import { move, note } from '../move.ts';
import type { PhaseRun } from '../phase-run.ts';
import { rememberNow } from '../recall.ts';

/** Between two looks at the live system. */
const LOOK_EVERY_MS = 1_000;

interface Conclusion {
  readonly verdict: Verdict;
  readonly reason: string;
}

/** `verifying` → `resolved`, back to `diagnosing`, or `escalated`. No model: the live system decides. */
export async function verify(run: PhaseRun): Promise<void> {
  const { deps, incident } = run;
  const record = await run.durably('read record', () => deps.records.load(incident.id));
  const action = record?.actions.findLast(
    ({ state, undoes }) => ['succeeded', 'failed', 'unknown'].includes(state) && undoes === null,
  );
  const conclusion = await run.durably(
    'watch',
    async (): Promise<Conclusion | null> =>
      action ? watch(run, action) : { verdict: 'cannot_tell', reason: 'No executed action is on record.' },
  );
  if (conclusion === null) return rememberNow(run);
  const failures = failedRounds(record?.events ?? []) + (conclusion.verdict === 'not_fixed' ? 1 : 0);
  if (action && !neverRan(action))
    await run.durably('episode', async () => {
      await deps.memory.recordEpisode({
        incidentId: incident.id,
        actionId: action.id,
        error: incident.title,
        diagnosis: incident.cause ?? '',
        command: action.command,
        result: action.outcome ?? '',
        success: successOf(action, conclusion.verdict),
      });
      return true;
    });
  await run.durably('conclude', () => conclude(run, conclusion, failures, action));
  await rememberNow(run);
}

/**
 * Fixed once every step has held for the plan's time without a break, or the source says so; *not fixed* at its end. Null:
 * the incident has left this state (stopped, or concluded by a turn that was faster than this one's repetition).
 */
async function watch(run: PhaseRun, action: Action): Promise<Conclusion | null> {
  const { deps, incident } = run;
  const plan = action.verify;
  if (plan.steps.length === 0)
    return { verdict: 'cannot_tell', reason: 'There is no way on record to tell whether it helped.' };
  const credential = deps.vault.mint({
    role: 'validator',
    incidentId: incident.id,
    targets: [action.target],
  });
  const begun = Date.now();
  let healthySince: number | undefined;
  let last: { readonly holds: boolean | null; readonly lines: readonly string[] } | undefined;
  try {
    for (;;) {
      const before = await deps.records.incident(incident.id);
      if (before && (before.state !== 'verifying' || before.round !== incident.round)) return null;
      const seen = await look();
      if (last === undefined || seen.holds !== last.holds) {
        await note(deps, incident, `checked:${action.id}:${Date.now()}`, {
          type: 'verification.checked',
          round: incident.round,
          ...seen,
        });
      }
      last = seen;
      healthySince = seen.holds === true ? (healthySince ?? Date.now()) : undefined;
      if (healthySince !== undefined && Date.now() - healthySince >= plan.holdMs)
        return {
          verdict: 'fixed',
          reason: `${seen.lines.join('; ')} (held for ${Math.round(plan.holdMs / 1000)} s)`,
        };
      const now = await deps.records.incident(incident.id);
      if (now?.sourceResolvedAt)
        return { verdict: 'fixed', reason: 'The source reports that the alert has ended.' };
      // What did not run needs no time to show its effect.
      if (seen.holds === false && neverRan(action))
        return {
          verdict: 'not_fixed',
          reason: `It did not run, and it is still so: ${seen.lines.join('; ')}`,
        };
      if (Date.now() - begun >= plan.timeoutMs) return ending(seen, plan.timeoutMs);
      await sleep(Math.min(LOOK_EVERY_MS, Math.max(100, plan.holdMs)), undefined, { signal: deps.shutdown });
    }
  } finally {
    deps.vault.revoke(credential);
  }

  async function look(): Promise<{ readonly holds: boolean | null; readonly lines: readonly string[] }> {
    const checks = [];
    for (const step of plan.steps) {
      const result = await deps.gate.call(
        credential,
        { tool: step.tool, target: action.target, input: step.input },
        { purpose: `verify: ${step.says}`, signal: deps.shutdown },
      );
      checks.push(checkVerifyStep(step, result));
    }
    const holds = checks.some((check) => check.holds === false)
      ? false
      : checks.some((check) => check.holds === null)
        ? null
        : true;
    return { holds, lines: checks.map((check) => deps.redact(check.line)) };
  }
}

function ending(
  seen: { readonly holds: boolean | null; readonly lines: readonly string[] },
  timeoutMs: number,
): Conclusion {
  const after = `after ${Math.round(timeoutMs / 1000)} s`;
  if (seen.holds === null)
    return { verdict: 'cannot_tell', reason: `It could not be read ${after}: ${seen.lines.join('; ')}` };
  if (seen.holds)
    return {
      verdict: 'cannot_tell',
      reason: `It looks healthy, but did not stay so long enough ${after}: ${seen.lines.join('; ')}`,
    };
  return { verdict: 'not_fixed', reason: `Still so ${after}: ${seen.lines.join('; ')}` };
}

async function conclude(
  run: PhaseRun,
  { verdict, reason }: Conclusion,
  failures: number,
  action: Action | undefined,
): Promise<unknown> {
  const { deps, incident } = run;
  const concluded = { type: 'verification.concluded', round: incident.round, verdict, reason } as const;
  const key = `verified:${incident.round}`;
  if (verdict === 'fixed')
    return move(deps, incident, {
      from: 'verifying',
      to: 'resolved',
      reason: 'Fixed.',
      key,
      changes: { verdict, nextStep: null },
      events: [
        concluded,
        { type: 'incident.summary', text: `${endedBy(action)} ${incident.cause ?? ''}`.trim() },
      ],
      turnAfterMs: null,
    });
  if (verdict === 'not_fixed' && failures < MAX_ROUNDS)
    return move(deps, incident, {
      from: 'verifying',
      to: 'diagnosing',
      reason: 'Not fixed: looking again, with what was tried.',
      key,
      changes: {
        verdict,
        round: incident.round + 1,
        nextStep: 'Looking for the cause again, knowing what did not help.',
      },
      events: [concluded],
    });
  const why =
    verdict === 'not_fixed'
      ? `Not fixed after ${failures} attempts.`
      : `It cannot be told whether it is fixed: ${reason}`;
  return move(deps, incident, {
    from: 'verifying',
    to: 'escalated',
    reason: why,
    key,
    changes: { verdict, nextStep: 'A person has to take over.' },
    events: [concluded, { type: 'incident.escalated', reason: why }],
    turnAfterMs: null,
  });
}

/** Memory must not learn that a command helped which did not run: then the problem ended without it. */
function successOf(action: Action, verdict: Verdict): boolean | null {
  if (verdict === 'cannot_tell') return null;
  if (verdict === 'not_fixed') return false;
  return action.state === 'succeeded' ? true : null;
}

/** By name: the whole command stands on its card. */
function endedBy(action: Action | undefined): string {
  if (action?.state === 'succeeded') return `Fixed by ${action.tool} on ${action.target}.`;
  return action
    ? `It ended without the fix: ${action.tool} on ${action.target} ${action.state === 'failed' ? 'did not run' : 'may not have run'}.`
    : 'It ended.';
}

/** Rounds that ended *not fixed* since the incident was opened, reopened or helped on by a person. */
function failedRounds(events: readonly IncidentEvent[]): number {
  let count = 0;
  for (const event of events) {
    if (event.type === 'verification.concluded' && event.verdict === 'not_fixed') count += 1;
    if (
      event.type === 'state.changed' &&
      event.to === 'diagnosing' &&
      ['resolved', 'reported', 'escalated'].includes(event.from)
    )
      count = 0;
  }
  return count;
}
