import { type Refusal, refuse } from '../../core/errors.ts';
import type { IncidentEventBody } from '../../core/event.ts';
import type { ToolCallId } from '../../core/ids.ts';
import type { Tx } from '../../core/sql.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { classifyReadFailure } from '../failed-reads/classify-read-failure.ts';
import { openReads } from '../failed-reads/open-reads.ts';
import { readHash } from '../failed-reads/read-hash.ts';
import { moveAlone } from '../move.ts';
import { watchForStop } from '../work.ts';
import type { PhaseRun } from './phase-run.ts';

/** What of a call says which read it is: a step keeps no more. */
type Read = Pick<ToolCall, 'id' | 'incidentId' | 'tool' | 'target' | 'input' | 'code'>;

interface Asked {
  readonly call: Read;
  readonly by: string;
  /** Of what the person saw. */
  readonly hash: string;
}

/** How it went; `toolCallId` null: it was not tried. */
interface Tried {
  readonly toolCallId: ToolCallId | null;
  readonly readable: boolean;
  readonly reason: string;
}

/**
 * `reported`, `escalated` → `diagnosing`, when what a person has had read again can be read now; else it stays where it is
 * and the card says why. Nothing here can change a system: see `mayReadAgain` and the detective's rights.
 */
export async function retryRead(run: PhaseRun): Promise<void> {
  const { incident } = run;
  if (incident.state !== 'reported' && incident.state !== 'escalated') return;
  const asked = await run.durably('asked to read again', () => nextAsked(run));
  if (asked === null) return;
  const tried = await run.durably(`read again ${asked.call.id}`, () => tryAgain(run, asked));
  // It stays asked for: whoever resumes has it read then.
  if (tried === 'stopped') return;
  await run.durably(`read again ${asked.call.id} on record`, () => conclude(run, asked, tried));
}

async function nextAsked({ deps, incident }: PhaseRun): Promise<Asked | null> {
  const record = await deps.records.load(incident.id);
  if (record === null) return null;
  const open = openReads(record).find(({ asked }) => asked !== null);
  const event = record.events.findLast(
    (each) => each.type === 'read.asked' && each.toolCallId === open?.call.id,
  );
  if (!open || event?.type !== 'read.asked') return null;
  const { id, incidentId, tool, target, input, code } = open.call;
  return { call: { id, incidentId, tool, target, input, code }, by: event.by, hash: event.readHash };
}

/** The very same read, with a credential for it alone, through all of the gate. */
async function tryAgain(run: PhaseRun, { call, hash }: Asked): Promise<Tried | 'stopped'> {
  const { deps, incident } = run;
  const no = mayNot(run, call, hash);
  if (no) return { toolCallId: null, readable: false, reason: no.reason };
  const credential = deps.vault.mint({
    role: 'detective',
    incidentId: incident.id,
    targets: call.target === null ? [] : [call.target],
    tools: [call.tool],
  });
  const stop = watchForStop(run);
  try {
    const { tool, target, input } = call;
    const { toolCallId } = await deps.gate.call(
      credential,
      { tool, target, input },
      { purpose: `Reading again what could not be read (${call.id})`, signal: stop.signal },
    );
    if (stop.signal.aborted) return 'stopped';
    const now = await deps.records.toolCall(toolCallId);
    const why = now && classifyReadFailure(now);
    const readable = now?.state === 'ok' && why === null;
    return { toolCallId, readable, reason: readable ? '' : (why?.reason ?? now?.output.slice(0, 300) ?? '') };
  } finally {
    stop.end();
    deps.vault.revoke(credential);
  }
}

/** What was asked for is still what is on record, of this incident, and a read. */
function mayNot({ deps, incident }: PhaseRun, call: Read, hash: string): Refusal | undefined {
  if (call.incidentId !== incident.id || call.target !== incident.target || readHash(call) !== hash)
    return refuse('READ_CHANGED', 'What is on record is not what was asked for. Nothing was read.');
  return deps.gate.mayReadAgain(call);
}

/** Only where the incident still waits: whoever has moved it since looks for himself. */
async function conclude({ deps, incident }: PhaseRun, asked: Asked, tried: Tried): Promise<string> {
  const { call, by } = asked;
  const event: IncidentEventBody = {
    type: 'read.finished',
    by,
    of: call.id,
    tool: call.tool,
    ...tried,
    reason: deps.redact(tried.reason),
  };
  return deps.sql.begin(async (tx) => {
    if (tried.readable)
      return moveAlone(tx, deps, incident, {
        from: incident.state,
        to: 'diagnosing',
        reason: 'What could not be read can be read now.',
        key: `read:${call.id}`,
        changes: {
          round: incident.round + 1,
          nextStep: 'Looking again, with what can be read now.',
          // What a model had no room left for, it goes on with.
          ...(call.code === 'NOT_RUN' && deps.claude ? { investigator: 'claude' as const } : {}),
        },
        events: [event],
      });
    if (!(await stillWaits(tx, incident))) return 'lost';
    await deps.records.append(tx, incident.id, event, `read again:${call.id}`);
    return 'stays';
  });
}

async function stillWaits(tx: Tx, { id, state, round }: PhaseRun['incident']): Promise<boolean> {
  const rows = await tx`
    SELECT FROM incident WHERE id = ${id} AND state = ${state} AND round = ${round} FOR UPDATE`;
  return rows.length > 0;
}
