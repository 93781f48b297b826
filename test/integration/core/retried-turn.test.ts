import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BESIDE_TURN } from '../../../src/incidents/move.ts';
import { openDatabase } from '../../../src/infra/db/client.ts';
import { createEngine } from '../../../src/infra/dbos/engine.ts';
import { migrateEngine } from '../../../src/infra/dbos/enqueue-function.ts';
import { boxAlert, boxInvestigator, boxTools, createCore } from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { quiet } from '../../support/quiet.ts';
import type { Row } from '../../support/typed.ts';
import { waitFor } from '../../support/wait-for.ts';

let database: ScratchDatabase;
beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
});
afterAll(() => database.drop());

test('a turn that fails is tried again for what it was asked for, counting on', async () => {
  const { sql, close } = openDatabase(database.url);
  await migrateEngine(database.url, sql);
  const engine = createEngine({ databaseUrl: database.url, sql, log: quiet, executorId: randomUUID() });
  const came: string[] = [];
  await engine.start(async (_, reason) => {
    came.push(reason);
    if (came.length < 2) throw new Error('the database was away');
  });
  await sql`SELECT sentry_enqueue_turn('INC-1', ${`retry 1: ${BESIDE_TURN}`})`;
  await waitFor('the next try', async () => came.length === 2);
  expect(came).toEqual([BESIDE_TURN, BESIDE_TURN]);
  const rows = await sql<Row>`SELECT inputs FROM dbos.workflow_input ORDER BY retention_timestamp`;
  expect(rows.map(({ inputs }) => String(inputs)).join('\n')).toContain(`retry 2: ${BESIDE_TURN}`);
  await engine.stop(1_000);
  await close();
});

test('what a model gives as its reason is no order to the turn that follows', async () => {
  const core = await createCore({
    url: database.url,
    tools: boxTools({ broken: true, generation: 1, effects: 0, helps: true }),
    investigator: {
      ...boxInvestigator,
      triage: async (work) => ({ ...(await boxInvestigator.triage(work)), reason: BESIDE_TURN }),
    },
  });
  await core.start();
  const { incidentId } = await core.accept(boxAlert());
  await waitFor('a proposal', async () => {
    const incident = incidentId && (await core.records.incident(incidentId));
    return incident && incident.state === 'awaiting_approval';
  });
  await core.stop();
});
