import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  resolveUnknownOutcome,
  settleByClick,
} from '../../../src/actions/approvals/resolve-unknown-outcome.ts';
import { asActionId } from '../../../src/core/ids.ts';
import { boxAlert, boxTools, type Core, createCore } from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import type { Row } from '../../support/typed.ts';
import { waitFor } from '../../support/wait-for.ts';

let database: ScratchDatabase;
let core: Core;

beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  core = await createCore({
    url: database.url,
    tools: boxTools({ broken: true, generation: 1, effects: 0, helps: true }),
  });
  await core.start();
});
afterAll(async () => {
  await core.stop();
  await database.drop();
});

async function proposed() {
  const { incidentId } = await core.accept(boxAlert());
  return waitFor('a proposal', async () => {
    const record = incidentId ? await core.records.load(incidentId) : null;
    return record?.incident.state === 'awaiting_approval' ? record.actions.at(-1) : null;
  });
}

test('a person settles what nobody can tell, once, and only after its claim has run out', async () => {
  const action = await proposed();
  const settle = (id: string = action.id) =>
    resolveUnknownOutcome(core, {
      actionId: asActionId(id),
      ran: true,
      by: 'ops',
      reason: 'seen on the box',
    });
  expect(await settle()).toMatchObject({ ok: false, code: 'NOT_UNKNOWN' });
  await core.sql`UPDATE action SET state = 'unknown', claim_id = 'x', done_by = clock_timestamp() + interval '1 minute' WHERE id = ${action.id}`;
  expect(await settle()).toMatchObject({ ok: false, code: 'NOT_UNKNOWN' });
  await core.sql`UPDATE action SET done_by = clock_timestamp() - interval '1 second' WHERE id = ${action.id}`;
  expect(await settle()).toEqual({ ok: true });
  expect((await core.records.action(action.id))?.state).toBe('succeeded');
  expect(await settle()).toMatchObject({ ok: false, code: 'NOT_UNKNOWN' });
  expect(await settle('act_000000000000')).toMatchObject({ ok: false, code: 'UNKNOWN_ACTION' });
});

test('an approver settles it by a click on its card; a stranger and a stale card do not', async () => {
  const action = await proposed();
  const click = (by: string, planHash = action.planHash) =>
    settleByClick(core, { actionId: action.id, planHash, by, name: 'Ona', ran: false });
  await core.sql`UPDATE action SET state = 'unknown', claim_id = 'x', done_by = clock_timestamp() - interval '1 second' WHERE id = ${action.id}`;
  expect(await click('USTRANGER')).toMatchObject({ ok: false, code: 'NOT_AN_APPROVER' });
  expect(await click('UONCALL', 'f'.repeat(64))).toMatchObject({ ok: false, code: 'PLAN_CHANGED' });
  expect((await core.records.action(action.id))?.state).toBe('unknown');
  const both = await Promise.all([click('UONCALL'), click('UONCALL')]);
  expect(both.filter(({ ok }) => ok)).toHaveLength(1);
  expect(await core.records.action(action.id)).toMatchObject({
    state: 'failed',
    outcome: expect.stringContaining('Settled by Ona: it did not run'),
  });
  const kinds = await core.sql<Row>`
    SELECT body::jsonb->>'kind' AS kind, body::jsonb->>'actor' AS actor FROM audit_entry
     WHERE body::jsonb->'details'->>'action' = ${action.id} AND body::jsonb->>'kind' LIKE 'action.settle%' ORDER BY seq`;
  expect(kinds.map(({ kind, actor }) => `${kind} ${actor}`)).toEqual([
    'action.settle_refused USTRANGER',
    'action.settle_refused UONCALL',
    'action.settled UONCALL',
    'action.settle_refused UONCALL',
  ]);
});

test('settled before its own turn came to look, its incident goes on to verify', async () => {
  const action = await proposed();
  // As a process leaves it that died while it ran: the incident is in remediation, and no turn of it is under way.
  await core.sql`UPDATE incident SET state = 'remediating' WHERE id = ${action.incidentId}`;
  await core.sql`UPDATE action SET state = 'unknown', claim_id = 'x', done_by = clock_timestamp() - interval '1 second' WHERE id = ${action.id}`;
  expect(
    await resolveUnknownOutcome(core, { actionId: action.id, ran: true, by: 'ops', reason: '' }),
  ).toEqual({
    ok: true,
  });
  await waitFor('the verification to end', async () => {
    const incident = await core.records.incident(action.incidentId);
    return incident !== null && !['remediating', 'verifying'].includes(incident.state) ? incident : null;
  });
});
