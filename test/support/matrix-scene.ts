import { randomBytes } from 'node:crypto';
import { CHANNELS, USERS } from '../../playground/slack/seed.ts';
import type { Action } from '../../src/core/action.ts';
import type { IncidentEventBody } from '../../src/core/event.ts';
import {
  type ActionId,
  asActionId,
  asIncidentId,
  asToolCallId,
  type IncidentId,
} from '../../src/core/ids.ts';
import type { IncidentState } from '../../src/core/incident.ts';
import { readHash } from '../../src/incidents/failed-reads/read-hash.ts';
import { conversationStore, runbooksStore } from '../../src/memory/documents/document.ts';
import { seenOf } from '../../src/slack/views/blocks/promotion-card.ts';
import { aDiagnosis, anAction, aToolCall } from './incident-record.ts';
import type { WholeSlack } from './whole-slack.ts';

/** The cases of every surface: as it should be, older than its time, of a channel that not everybody sees, over. */
export const STATES = ['ok', 'expired', 'elses', 'closed'] as const;
export type State = (typeof STATES)[number];

/** In everything of the incident in the private channel: nobody who is not in it may ever be shown it. */
export const PRIVATE_WORD = 'Zanzibar';

/** What a surface needs beyond an incident whose proposal waits. */
export interface Needs {
  readonly incident?: IncidentState;
  readonly mergedInto?: 'another';
  readonly action?: Partial<Action>;
  /** A step after the first that did not run. */
  readonly rest?: true;
  /** A read that showed nothing, for this reason. */
  readonly failedRead?: string;
  /** Somebody has said No to it. */
  readonly denied?: true;
  /** Its details were deleted, as they are after a while. */
  readonly deleted?: true;
  readonly promotion?: 'pending' | 'decided';
  /** A document of the workspace. */
  readonly workspace?: true;
}

/** What stands on record for one cell, and how buttons and commands name it. */
export interface Scene {
  readonly id: IncidentId;
  readonly another: IncidentId;
  readonly plan: string;
  readonly actionId: ActionId;
  readonly call: string;
  /** `INC-7:tc_…:<hash>` */
  readonly read: string;
  /** Of a promotion's card; empty where there is none. */
  readonly seen: string;
  readonly jobId: string;
  /** Of a document: its id, its hash. */
  readonly document: string;
  readonly documentSha: string;
}

const word = (): string =>
  randomBytes(8)
    .toString('hex')
    .slice(0, 12)
    .replaceAll(/[0189]/g, 'a');

/** By the state of the incident where nothing else is needed. */
const USUAL: Readonly<Record<State, IncidentState>> = {
  ok: 'awaiting_approval',
  expired: 'escalated',
  elses: 'awaiting_approval',
  closed: 'resolved',
};

export async function setScene({ services }: WholeSlack, state: State, needs: Needs = {}): Promise<Scene> {
  const { sql, records } = services;
  const channel = state === 'elses' ? CHANNELS.admin : CHANNELS.alerts;
  // What is in the workspace's memory is everybody's, wherever it comes from.
  const secret = state === 'elses' && !needs.workspace ? PRIVATE_WORD : 'public';
  const actionId = asActionId(`act_${word()}`);
  const another = await insertIncident('open', `${secret}: another`);
  const moved = needs.incident ?? USUAL[state];
  const incident = state === 'closed' ? 'resolved' : moved;
  const id = await insertIncident(incident, `${secret}: sessions are blocked`);

  async function insertIncident(to: IncidentState, title: string): Promise<IncidentId> {
    const over = to === 'resolved';
    const [row] = await sql<{ id: string }>`
      INSERT INTO incident (title, severity, domain, target, source, fingerprint, labels, annotations, channel, state, ended_at,
                            resolved_by, stopped_from, incident_type)
      VALUES (${title}, 'critical', 'postgres', 'shop-db', 'test', ${word()}, '{}', '{}', ${channel}, ${to},
              ${over ? sql`clock_timestamp()` : null}, ${over ? 'person' : null},
              ${to === 'stopped' ? 'awaiting_approval' : null}, 'blocked_sessions')
      RETURNING id`;
    return asIncidentId(row?.id ?? '');
  }

  const call = {
    ...aToolCall({
      id: asToolCallId(`tc_${word()}`),
      incidentId: id,
      output: `${secret}: pid 4242\n`.repeat(400),
    }),
    ...(needs.failedRead
      ? { state: 'failed' as const, code: needs.failedRead, output: `${secret}: no answer` }
      : {}),
    tool: 'postgres_blocking_tree',
  };
  await sql`
    INSERT INTO tool_call (id, incident_id, role, tool, target, input, state, output, result, output_sha256, truncated, code,
                           started_at, finished_at)
    VALUES (${call.id}, ${id}, ${call.role}, ${call.tool}, 'shop-db', '{}', ${call.state}, ${call.output}, '{}',
            ${call.outputSha256}, false, ${call.code}, clock_timestamp(), clock_timestamp())`;
  const first = anAction({
    id: actionId,
    planId: actionId,
    incidentId: id,
    tool: 'postgres_vacuum_table',
    command: 'VACUUM (ANALYZE) public.incident',
    input: { schema: 'public', table: 'incident', analyze: true },
    why: `${secret}: it holds the lock`,
    state: needs.denied
      ? 'denied'
      : state === 'expired'
        ? 'expired'
        : state === 'closed'
          ? 'void'
          : 'proposed',
    ...needs.action,
  });
  // What waits for its decision waits while the incident does.
  const asked = needs.denied && state !== 'closed' ? { ...first, state: 'proposed' as const } : first;
  const second = anAction({ ...first, id: asActionId(`act_${word()}`), step: 2, state: 'skipped' });
  for (const action of needs.rest ? [asked, second] : [asked])
    await sql`
      INSERT INTO action (id, incident_id, round, state, tool, target, input, command, plan_hash, guard, why, blast_radius,
                          preflight, undo, risk, verify, audit_only, expires_at, plan_id, step, done_by, decided_by, verbs)
      VALUES (${action.id}, ${id}, 1, ${action.state}, ${action.tool}, 'shop-db', ${sql.json(action.input)}, ${action.command},
              ${action.planHash}, '{}', ${action.why}, ${action.blastRadius}, '{}', ${action.undo}, 'medium',
              ${sql.json(action.verify as never)}, false,
              clock_timestamp() + ${state === 'expired' && !needs.denied ? '-1 minute' : '30 minutes'}::interval, ${action.planId}, ${action.step},
              ${action.state === 'unknown' ? sql`clock_timestamp() - interval '1 hour'` : null}, ${action.decidedBy},
              ${sql.json(action.verbs as never)})`;
  const events: readonly IncidentEventBody[] = [
    { type: 'incident.opened', source: 'test', title: `${secret}: blocked` },
    {
      type: 'tool.called',
      toolCallId: call.id,
      role: 'detective',
      tool: 'postgres_blocking_tree',
      purpose: `${secret}: who blocks whom`,
      state: call.state,
      summary: `${secret}: 5 sessions`,
    },
    {
      type: 'diagnosis.concluded',
      round: 1,
      diagnosis: aDiagnosis({
        rootCause: `${secret}: pid 4242 holds a lock.`,
        evidence: [{ claim: 'pid 4242 blocks', toolCallIds: [call.id], quote: 'pid 4242' }],
        ...(needs.failedRead ? { unread: [{ toolCallId: call.id, way: 'run', reason: 'no answer' }] } : {}),
      }),
    },
    { type: 'action.proposed', actionId },
  ];
  for (const event of events) await sql.begin((tx) => records.append(tx, id, event));
  if (needs.denied) {
    const { planHash } = first;
    const by = { actionId, planHash, by: USERS.onCall };
    await services.approvals.decide({ ...by, decision: 'deny', reason: 'no', anotherWay: false });
    await sql`UPDATE incident SET state = ${incident} WHERE id = ${id}`;
  }
  await sql`
    UPDATE incident SET cause = ${`${secret}: pid 4242 holds a lock.`}, verdict = 'cause_found', confidence = 0.95 WHERE id = ${id}`;
  if (needs.mergedInto) await sql`UPDATE incident SET merged_into = ${another} WHERE id = ${id}`;
  if (needs.deleted) await sql`UPDATE incident SET details_deleted_at = clock_timestamp() WHERE id = ${id}`;
  const scene = {
    id,
    another,
    plan: `${actionId}:${first.planHash}`,
    actionId,
    call: call.id,
    read: `${id}:${call.id}:${readHash(call)}`,
  };
  return { ...scene, ...(await remembered(services, scene.id, secret, needs)) };
}

/** What memory holds of it: a draft of the incident, or a document of the workspace. */
async function remembered(
  { documents, workspace, sql }: WholeSlack['services'],
  incidentId: IncidentId,
  secret: string,
  needs: Needs,
): Promise<Pick<Scene, 'seen' | 'jobId' | 'document' | 'documentSha'>> {
  const none = { seen: '', jobId: '', document: '', documentSha: '' };
  if (!needs.promotion && !needs.workspace) return none;
  const written = await documents.write(
    { kind: 'agent', role: 'detective', incidentId },
    {
      place: { store: conversationStore, incidentId },
      document: {
        path: `drafts/${incidentId.toLowerCase()}`,
        title: `${secret}: the report job`,
        content: `${secret}: the nightly report leaves a transaction open.`,
        docType: 'note',
      },
      sources: [{ kind: 'incident', ref: incidentId }],
    },
  );
  if (!written.ok) throw new Error(written.reason);
  const { id: document, sha256: documentSha } = written.document;
  const proposed = await workspace.promotions.propose(
    { kind: 'agent', incidentId, userId: null },
    { ref: { id: document }, rationale: 'It came twice.', domain: 'postgres', by: 'detective' },
  );
  if (!proposed.ok) throw new Error(proposed.reason);
  const promotion = await workspace.promotions.get(proposed.jobId);
  const found = { seen: promotion ? seenOf(promotion) : '', jobId: proposed.jobId, document, documentSha };
  if (!needs.workspace && needs.promotion !== 'decided') return found;
  await workspace.promotions.decide({
    jobId: proposed.jobId,
    by: USERS.admin,
    decision: { kind: 'approve' },
    currentSha256: null,
  });
  if (!needs.workspace) return found;
  const [row] = await sql<{ id: string; sha256: string }>`
    SELECT id, sha256 FROM memory_document WHERE store = ${runbooksStore} AND path = ${`drafts/${incidentId.toLowerCase()}`}`;
  return { ...found, document: row?.id ?? '', documentSha: row?.sha256 ?? '' };
}

/** What stands on record of these incidents, and beside them: what may not change where nothing may be done. */
export async function recordNow(
  { services: { sql } }: WholeSlack,
  ids: readonly IncidentId[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ of: string; mark: string | null }>`
    SELECT i.id AS of, concat_ws(' ', i.state, i.severity, i.merged_into, i.round,
             (SELECT count(*) FROM event e WHERE e.incident_id = i.id),
             (SELECT string_agg(concat(a.state, a.decided_by), ' ' ORDER BY a.id) FROM action a WHERE a.incident_id = i.id),
             (SELECT nullif(concat(acknowledged_by, nullif(hurried, 0)), '') FROM escalation s WHERE s.incident_id = i.id),
             (SELECT count(*) FROM grade g WHERE g.incident_id = i.id)) AS mark
      FROM incident i WHERE i.id = ANY (${sql.array([...ids])}::text[])
    UNION ALL SELECT 'incidents', (SELECT count(*)::text FROM incident)
    UNION ALL SELECT 'switch', (SELECT string_agg(concat(scope, stopped), ' ' ORDER BY scope) FROM switch)
    UNION ALL SELECT 'mutes', (SELECT concat(count(*), ' ', count(ended_by)) FROM mute)
    UNION ALL SELECT 'memory', (SELECT string_agg(concat(id, version, retired_at IS NULL), ' ' ORDER BY id) FROM memory_document)
    UNION ALL SELECT 'proposals', (SELECT string_agg(concat(id, state), ' ' ORDER BY id) FROM dream_job)`;
  return new Map(rows.map(({ of, mark }) => [of, mark ?? '']));
}
