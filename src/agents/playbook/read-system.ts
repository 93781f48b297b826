import { setTimeout as sleep } from 'node:timers/promises';
import type { Json, ToolCallResult } from '../../core/tool-call.ts';
import { adviseOn } from '../../targets/advise.ts';
import type { Investigation } from '../ports.ts';

/** Part of a durable step's name: a phase never takes another one's reads for its own, nor a second look the first one's. */
export type Phase = 'triage' | 'diagnose' | `${'triage' | 'diagnose'}:again`;

/** Calls a read tool once, also over a crash. `name` is the same whenever the same step of the same round runs. */
export async function readSystem(
  work: Investigation,
  phase: Phase,
  name: string,
  tool: string,
  input: Json,
  purpose: string,
  waitMs = 0,
  target = work.incident.target,
): Promise<ToolCallResult> {
  return work.durably(`playbook:${phase}:r${work.incident.round}:${name}`, async () => {
    // Inside: what was cut off by a shutdown must not end the turn as if it were done.
    work.signal.throwIfAborted();
    if (waitMs > 0) await sleep(waitMs, undefined, { signal: work.signal });
    return work.callTool({ tool, target, input }, purpose);
  });
}

/** What could not be read, why, and what would make it readable. */
export function unreadable(tool: string, result: ToolCallResult): string {
  if (result.kind === 'ok' || result.kind === 'proposed') return '';
  const { code, reason } = result;
  const hint = adviseOn({ tool, target: null, code, input: {}, result: null, output: reason }, null)?.hint;
  return `${tool} could not be read: ${reason.replace(/[.\s]+$/, '')}.${hint === undefined ? '' : ` ${hint}`}`;
}
