import { afterAll, beforeAll, expect, test } from 'vitest';
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
});
afterAll(async () => {
  await core.stop();
  await database.drop();
});

test('an incident whose turn is gone is found and worked on', async () => {
  const { incidentId } = await core.accept(boxAlert());
  await core.sql`DELETE FROM dbos.workflow_status`;
  await core.sql`UPDATE incident SET updated_at = clock_timestamp() - interval '1 hour' WHERE id = ${incidentId}`;
  await core.start();
  const record = await waitFor('a proposal', async () => {
    const seen = incidentId ? await core.records.load(incidentId) : null;
    return seen?.incident.state === 'awaiting_approval' ? seen : null;
  });
  expect(record.actions).toHaveLength(1);
});
