import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../src/infra/db/client.ts';
import { readWorkload } from '../../../src/record/workload.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';

let scratch: ScratchDatabase;
let db: Database;
beforeAll(async () => {
  scratch = await scratchDatabase({ migrate: true, engine: false });
  db = openDatabase(scratch.url);
  await db.sql`CREATE FUNCTION sentry_enqueue_turn(text, text, bigint) RETURNS text LANGUAGE sql AS 'SELECT NULL::text'`;
});
afterAll(async () => {
  await db.close();
  await scratch.drop();
});

async function incident(id: string, state: string): Promise<void> {
  await db.sql`
    INSERT INTO incident (id, state, title, severity, domain, source, fingerprint, labels, annotations)
    VALUES (${id}, ${state}, 't', 'warning', 'host', 'hand', ${id}, '{}', '{}')`;
}

async function action(incidentId: string, state: string, auditOnly = false): Promise<void> {
  await db.sql`
    INSERT INTO action (id, incident_id, round, state, tool, target, input, command, plan_hash, guard, why, blast_radius,
                        preflight, undo, risk, verify, audit_only, proposed_at, expires_at, started_at, done_by)
    VALUES (${`act_${incidentId}_${state}`}, ${incidentId}, 1, ${state}, 't', ${incidentId}, '{}', 'c', 'h', '{}', '', '', '{}', '',
            'low', '{}', ${auditOnly}, now() - interval '1000 seconds', now() + interval '1 hour', now(), now())`;
}

async function failure(incidentId: string, state: string): Promise<void> {
  await db.sql`
    INSERT INTO turn_failure (incident_id, state, round, investigator, reason)
    VALUES (${incidentId}, ${state}, 1, 'playbook', 'x')`;
}

it('an empty record has nothing under way [M7]', async () => {
  const { incidents, ...rest } = await readWorkload(db.sql);
  expect(incidents.map(({ count }) => count)).toEqual(Array(10).fill(0));
  expect(rest).toEqual({ failing: 0, unknownActions: 0, approvals: 0, approvalWaitMs: 0 });
});

it('counts what is open, what fails now, what nobody knows and what waits for people [M7]', async () => {
  await incident('INC-1', 'awaiting_approval');
  await incident('INC-2', 'awaiting_approval');
  await incident('INC-3', 'diagnosing');
  await incident('INC-4', 'resolved');
  await incident('INC-5', 'ignored');
  await incident('INC-6', 'escalated');
  await action('INC-1', 'proposed');
  await action('INC-2', 'proposed', true);
  await action('INC-3', 'approved');
  await action('INC-4', 'unknown');
  await action('INC-6', 'started');
  await failure('INC-3', 'diagnosing');
  await failure('INC-3', 'triaging');
  await failure('INC-1', 'planning');
  await failure('INC-6', 'escalated');
  const { incidents, approvalWaitMs, ...rest } = await readWorkload(db.sql);
  const open = incidents.filter(({ count }) => count > 0).map(({ state, count }) => `${state} ${count}`);
  expect(open.sort()).toEqual(['awaiting_approval 2', 'diagnosing 1', 'escalated 1']);
  expect(rest).toEqual({ failing: 1, unknownActions: 1, approvals: 1 });
  expect(Math.floor(approvalWaitMs / 500_000)).toBeGreaterThanOrEqual(2);
});
