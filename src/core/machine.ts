import type { IncidentState } from './incident.ts';

/** How many diagnoses an incident gets before *not fixed* escalates: the first and two more (design.md §2). */
export const MAX_ROUNDS = 3;

/**
 * The states and the legal moves between them (design.md §2, "States"), as data. Nothing else decides a legal move.
 * `resolved` from anywhere with nothing running means: the source says it is over.
 */
const moves: Readonly<Record<IncidentState, readonly IncidentState[]>> = {
  // `reported`: the policy asks for no more. `escalated` from here on: the work itself fails again and again (failed-turn.ts).
  open: ['triaging', 'reported', 'escalated', 'resolved'],
  triaging: ['ignored', 'diagnosing', 'reported', 'escalated', 'resolved'],
  // A person has it investigated although the first look found nothing to.
  ignored: ['diagnosing'],
  diagnosing: ['reported', 'planning', 'escalated', 'resolved'],
  // `diagnosing` from here on: what was to be mended has changed while its plan waited.
  planning: ['awaiting_approval', 'diagnosing', 'reported', 'escalated', 'resolved'],
  awaiting_approval: ['planning', 'diagnosing', 'remediating', 'reported', 'escalated', 'resolved'],
  // Back: it could not begin in time, and nothing ran.
  remediating: ['verifying', 'awaiting_approval'],
  verifying: ['resolved', 'reported', 'diagnosing', 'escalated'],
  // Waiting for approval: a person has what was denied asked for again. Planning: the limit is over that kept the fix back.
  // Triaging: more is wanted than the policy asked for.
  reported: ['triaging', 'diagnosing', 'planning', 'awaiting_approval', 'escalated', 'resolved'],
  escalated: ['diagnosing', 'awaiting_approval', 'resolved'],
  // `reported`: its alert comes and goes, or it fires again and the policy asks for no more. `escalated`: what was called fixed did
  // not last, and enough was tried; or whether it is back cannot be looked at.
  resolved: ['diagnosing', 'reported', 'escalated'],
  stopped: ['resolved'],
};

/** Stopping is a person's right in any state but the ended ones; while a mutation runs the stop waits for its end. */
const stoppable: readonly IncidentState[] = [
  'open',
  'triaging',
  'diagnosing',
  'planning',
  'awaiting_approval',
  'verifying',
  'reported',
  'escalated',
];

/** Whether an incident may go from one state to the other. `stoppedFrom` is where *Resume* leads. */
export function mayMove(
  from: IncidentState,
  to: IncidentState,
  stoppedFrom: IncidentState | null = null,
): boolean {
  if (to === 'stopped') return stoppable.includes(from);
  if (from === 'stopped' && to === stoppedFrom) return true;
  return moves[from].includes(to);
}

/** What a turn does next for an incident in a state; `wait` ends the turn. */
export type NextWork = 'triage' | 'diagnose' | 'plan' | 'await_approval' | 'remediate' | 'verify' | 'wait';

const work: Readonly<Record<IncidentState, NextWork>> = {
  open: 'triage',
  triaging: 'triage',
  diagnosing: 'diagnose',
  planning: 'plan',
  awaiting_approval: 'await_approval',
  remediating: 'remediate',
  verifying: 'verify',
  reported: 'wait',
  escalated: 'wait',
  resolved: 'wait',
  ignored: 'wait',
  stopped: 'wait',
};

export function nextWork(state: IncidentState): NextWork {
  return work[state];
}

/** States in which nothing of ours runs or waits to run against the target: the source's "resolved" ends the incident there. */
export function sourceMayResolve(state: IncidentState): boolean {
  return moves[state].includes('resolved') && state !== 'verifying';
}

export function isEnded(state: IncidentState): boolean {
  return state === 'resolved' || state === 'ignored';
}

/** States in which an incident may rest under another of the same problem: nothing is proposed yet, and no person is waited for. */
export function restsUnder(state: IncidentState): boolean {
  return state === 'open' || state === 'triaging' || state === 'diagnosing' || state === 'planning';
}

/** States in which an incident may lead others: it is at work, or about to be. */
export function mayLeadOthers(state: IncidentState): boolean {
  return nextWork(state) !== 'wait';
}

/** States in which only a person or a time goes on: what is told then is looked at by a turn of its own. */
export function mayLookAgain(state: IncidentState): boolean {
  return state === 'awaiting_approval' || state === 'reported' || state === 'escalated';
}
