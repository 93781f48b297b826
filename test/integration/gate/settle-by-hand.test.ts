import { afterAll, beforeAll, expect, test } from 'vitest';
import { settleByHand } from '../../../src/approvals/settle-by-hand.ts';
import { asActionId } from '../../../src/domain/ids.ts';
import { boxAlert, boxTools, type Core, createCore } from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
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
    settleByHand(core, { actionId: asActionId(id), ran: true, by: 'ops', reason: 'seen on the box' });
  expect(await settle()).toMatchObject({ ok: false, code: 'NOT_UNKNOWN' });
  await core.sql`UPDATE action SET state = 'unknown', claim_id = 'x', done_by = clock_timestamp() + interval '1 minute' WHERE id = ${action.id}`;
  expect(await settle()).toMatchObject({ ok: false, code: 'NOT_UNKNOWN' });
  await core.sql`UPDATE action SET done_by = clock_timestamp() - interval '1 second' WHERE id = ${action.id}`;
  expect(await settle()).toEqual({ ok: true });
  expect((await core.records.action(action.id))?.state).toBe('succeeded');
  expect(await settle()).toMatchObject({ ok: false, code: 'NOT_UNKNOWN' });
  expect(await settle('act_000000000000')).toMatchObject({ ok: false, code: 'UNKNOWN_ACTION' });
});
