import { randomBytes } from 'node:crypto';
import { planHash } from '../approvals/plan-hash.ts';
import { canonicalJson } from '../domain/canonical-json.ts';
import { OpsError, type Refusal, refuse } from '../domain/errors.ts';
import { type ActionId, asActionId } from '../domain/ids.ts';
import { newId } from '../domain/new-id.ts';
import type { Tx } from '../domain/sql.ts';
import type { Json, ProposalNotes } from '../domain/tool-call.ts';
import type { Credential } from '../security/credentials.ts';
import { switchScopes } from '../security/kill-switch.ts';
import type { ActiveTool, ToolContext } from '../tools/define.ts';
import type { GateDeps } from './gate-deps.ts';

/**
 * Station 9 for a call nobody has approved: reads the state, and writes the action as it would run. Nothing is changed.
 * One undecided action an incident: asked again after a crash, the same plan is answered with the action already there.
 */
export async function propose(
  deps: GateDeps,
  credential: Credential,
  tool: ActiveTool<unknown, Json>,
  context: ToolContext,
  input: Json,
  notes: ProposalNotes | undefined,
): Promise<{ readonly ok: true; readonly actionId: ActionId; readonly text: string } | Refusal> {
  const { sql, records } = deps;
  const target = context.target.name;
  const command = tool.command(input);
  // Promise 2: what redaction would have to hide cannot be shown, so it cannot be approved.
  if (deps.redact(command) !== command || canonicalJson(deps.redactJson(input)) !== canonicalJson(input))
    return refuse(
      'SECRET_IN_PLAN',
      'The arguments hold what looks like a secret; such an action cannot be shown, so it cannot be proposed.',
    );

  const failedBefore = await sql`
    SELECT id FROM action WHERE incident_id = ${credential.incidentId} AND target = ${target} AND command = ${command}
      AND state IN ('failed', 'succeeded') AND tool_call_id IS NOT NULL`;
  if (failedBefore.length > 0)
    return refuse('TRIED_ALREADY', `"${command}" has already been run in this incident and did not help.`);

  const before = await tool.preflight(context, input);
  const identity = await deps.identity(target);
  const guard = before.guard;
  const hash = planHash({ tool: tool.name, target, input, command, guard });
  const id = asActionId(newId('act', randomBytes));
  const auditOnly =
    (await deps.killSwitch.stopped(switchScopes(target, context.target.domain))) !== undefined;
  const verify = notes?.verify ?? tool.verify(input, guard);

  const stored = await sql.begin(async (tx) => {
    const [pending] = await tx`
      SELECT id, plan_hash, target, command, round FROM action
       WHERE incident_id = ${credential.incidentId} AND state IN ('proposed', 'approved', 'started')`;
    if (pending?.['plan_hash'] === hash) return asActionId(String(pending['id']));
    const [incident] = await tx`SELECT round FROM incident WHERE id = ${credential.incidentId}`;
    if (pending && !(await replaced(tx, pending, Number(incident?.['round'] ?? 1)))) return null;
    await tx`
      INSERT INTO action (id, incident_id, round, state, tool, target, input, command, plan_hash, guard,
                          system_identifier, timeline_id, why, blast_radius, preflight, undo, risk, runbook_id, verify,
                          audit_only, expires_at)
      VALUES (${id}, ${credential.incidentId}, ${incident?.['round'] ?? 1}, 'proposed', ${tool.name}, ${target},
              ${tx.json(input)}, ${command}, ${hash}, ${tx.json(guard)}, ${identity.systemIdentifier},
              ${identity.timelineId}, ${deps.redact(notes?.why ?? '')}, ${deps.redact(before.blastRadius)},
              ${tx.array(before.lines.map((line) => deps.redact(line)))}::text[], ${before.undo}, ${before.risk},
              ${notes?.runbookId ?? null}, ${tx.json(verify)}, ${auditOnly},
              clock_timestamp() + ${deps.approvalMinutes} * interval '1 minute')`;
    await records.append(tx, credential.incidentId, { type: 'action.proposed', actionId: id });
    return id;
  });
  /**
   * Takes back what nobody will decide any more: the same command, proposed by a turn that died before the state moved,
   * or a proposal of an earlier round (in AUDIT mode none is ever decided).
   */
  async function replaced(tx: Tx, pending: Record<string, unknown>, round: number): Promise<boolean> {
    const same = pending['target'] === target && pending['command'] === command;
    if (!same && Number(pending['round']) === round) return false;
    const reason = same
      ? 'The state has moved since this was proposed.'
      : 'It has been looked at again since.';
    const rows = await tx`
      UPDATE action SET state = 'void', outcome = ${reason}, finished_at = clock_timestamp()
       WHERE id = ${String(pending['id'])} AND state = 'proposed' RETURNING id`;
    const actionId = asActionId(String(pending['id']));
    if (rows.length > 0)
      await records.append(
        tx,
        credential.incidentId,
        { type: 'action.void', actionId, reason },
        `void:${actionId}`,
      );
    return rows.length > 0;
  }

  if (stored === null)
    return refuse(
      'ALREADY_PROPOSED',
      'Another action of this incident is waiting for its decision; one at a time.',
    );
  return {
    ok: true,
    actionId: stored,
    text: `Proposed as ${stored}: ${command}\nIt waits for a person's approval; it has not run.`,
  };
}

/** Whether an error of a preflight means that what the action is about is gone. */
export function isGone(error: unknown): boolean {
  return error instanceof OpsError && error.code === 'GONE';
}
