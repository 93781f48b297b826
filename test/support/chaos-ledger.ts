import { planHash } from '../../src/actions/proposals/plan-hash.ts';
import { asActionId } from '../../src/core/ids.ts';
import type { Json } from '../../src/core/tool-call.ts';
import type { Core } from './core.ts';
import type { Row } from './typed.ts';

interface Plan {
  readonly id: string;
  readonly tool: string;
  readonly target: string;
  readonly input: Json;
  readonly command: string;
  readonly guard: Json;
}

/** An incident with an approved action, or a plan of several, on a target: written as if investigated, approved by the real approvals. */
export async function approvedAction(
  core: Core,
  plan: Plan,
  identity = { systemIdentifier: plan.target, timelineId: 1 },
  later: readonly Plan[] = [],
): Promise<void> {
  const { sql } = core;
  const { id, target } = plan;
  const shown = {
    why: '',
    blastRadius: '',
    preflight: [],
    undo: '',
    risk: 'low',
    runbookId: null,
    autonomyKey: null,
    purpose: 'prevent',
  } as const;
  const touches = { objects: [], denialsAcknowledged: [] };
  const verify = { steps: [], holdMs: 1, timeoutMs: 1 };
  const hashed = ({ tool, input, command, guard }: Plan) => ({
    tool,
    target,
    input,
    command,
    guard,
    verify,
    ...shown,
    ...touches,
  });
  const hash = planHash(hashed(plan), later.map(hashed));
  const [incident] = await sql<Row>`
    INSERT INTO incident (state, title, severity, domain, target, source, fingerprint, labels, annotations)
    VALUES ('awaiting_approval', 'chaos', 'critical', 'postgres', ${target}, 'test', ${id}, '{}', '{}') RETURNING id`;
  for (const [at, { tool, input, command, guard, ...step }] of [plan, ...later].entries())
    await sql`
    INSERT INTO action (id, plan_id, step, incident_id, round, state, tool, target, input, command, plan_hash, guard,
                        system_identifier, timeline_id, why, blast_radius, preflight, undo, risk, purpose, verify, audit_only,
                        expires_at)
    VALUES (${step.id}, ${id}, ${at + 1}, ${String(incident?.['id'])}, 1, ${at === 0 ? 'proposed' : 'queued'}, ${tool}, ${target}, ${sql.json(input)}, ${command},
            ${hash}, ${sql.json(guard)}, ${identity.systemIdentifier}, ${identity.timelineId}, '', '',
            ARRAY[]::text[], '', 'low', ${shown.purpose}, ${sql.json(verify)}, false, clock_timestamp() + interval '1 hour')`;
  const decided = await core.approvals.decide({
    actionId: asActionId(id),
    planHash: hash,
    by: 'UONCALL',
    decision: 'approve',
    reason: '',
    anotherWay: false,
  });
  if (!decided.ok) throw new Error(`${id} could not be approved: ${decided.reason}`);
}
