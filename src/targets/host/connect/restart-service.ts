import { setTimeout as sleep } from 'node:timers/promises';
import type { ActionOutcome } from '../../../core/action.ts';
import { messageOf } from '../../../core/errors.ts';
import type { SessionOptions } from '../../../tools/ports.ts';
import type { Machine } from '../machine.ts';
import type { ServiceGuard, ServiceState } from '../system.ts';
import { GUARD_LATE, GUARD_MOVED, GUARD_NO_COMMAND } from './deadline-guard.ts';

/** How long to wait after the command for a main process to be there. */
const COMES_UP_MS = 5_000;
const LOOK_EVERY_MS = 200;
/** Of the tool's time, what is kept for the start of the deadline guard and the look afterwards. */
const RESERVED_MS = 15_000;

export interface RestartPlan {
  readonly machine: Machine;
  readonly argv: readonly string[];
  readonly guard: ServiceGuard;
  readonly deadline: { readonly clock: string | null; readonly withinMs: number };
  /** The command's own output may be kept: it leaves no daemon behind with our pipe in its hands. */
  readonly capture: boolean;
  readonly state: () => Promise<ServiceState>;
}

/** Restarts a service, once. Throws only when nothing ran. */
export async function restartService(plan: RestartPlan, options: SessionOptions): Promise<ActionOutcome> {
  const { guard } = plan;
  const began = performance.now();
  const maxMs = Math.max(1_000, options.timeoutMs - RESERVED_MS);
  // The last moment of a run is `withinMs`: what may take `maxMs` has to begin so long before it.
  const begin = { clock: plan.deadline.clock, withinMs: plan.deadline.withinMs - maxMs };
  const terms = { deadline: begin, steady: guard.steady, maxMs, capture: plan.capture };
  const run = await plan.machine.restart(plan.argv, terms, options.signal);
  const took = Math.round((performance.now() - began) / 100) / 10;
  const said = run.output.trim() === '' ? '' : ` It said: ${run.output.trim().slice(0, 500)}`;
  if (run.lost !== undefined)
    return {
      kind: 'unknown',
      text: `Nobody can say how the restart of ${guard.service} ended: ${run.lost}.`,
    };
  if (run.exitCode === null)
    return {
      kind: 'unknown',
      text: `The restart of ${guard.service} took longer than ${took} s and was killed.${said}`,
    };
  if (run.exitCode === GUARD_LATE)
    return { kind: 'failed', text: 'Nothing was done: the deadline had passed.' };
  if (run.exitCode === GUARD_MOVED)
    return {
      kind: 'failed',
      text: `Nothing was done: the main process of ${guard.service} is another by now.`,
    };
  if (run.exitCode === GUARD_NO_COMMAND)
    return { kind: 'failed', text: 'Nothing was done: the declared command cannot be started.' };
  if (run.exitCode !== 0)
    return {
      kind: 'failed',
      text: `The restart of ${guard.service} ended with exit code ${run.exitCode}.${said}`,
    };
  // It has been done, whatever can be read of it now.
  const text = await comesUp(plan, took).catch(
    (error: unknown) =>
      `The restart of ${guard.service} ran (${took} s); how it is now could not be read: ${messageOf(error)}`,
  );
  return { kind: 'succeeded', text };
}

/** The command has done its work; whether the service stays up is for the verification. */
async function comesUp({ guard, state }: RestartPlan, took: number): Promise<string> {
  const until = performance.now() + COMES_UP_MS;
  let now = await state();
  const another = (): boolean =>
    now.mainPid !== null &&
    (guard.steady === null ||
      now.mainPid !== guard.steady.main_pid ||
      now.startedAt !== guard.steady.started_at);
  while (!another() && performance.now() < until) {
    await sleep(LOOK_EVERY_MS);
    now = await state();
  }
  if (another())
    return `${guard.service} was restarted in ${took} s; its main process is pid ${now.mainPid}.`;
  return now.mainPid === null
    ? `The restart of ${guard.service} ran (${took} s), but no main process is there: ${now.says}.`
    : `The restart of ${guard.service} ran (${took} s), but its main process is still pid ${now.mainPid}.`;
}
