import { afterAll, beforeAll, expect, it } from 'vitest';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { IncidentState } from '../../../src/core/incident.ts';
import { takeIncident } from '../../../src/escalation/acknowledge.ts';
import { countPaged } from '../../../src/escalation/count-paged.ts';
import { why } from '../../../src/incidents/questions/why.ts';
import { createTestIncidents, type TestIncidents } from '../../../src/incidents/test-incident.ts';
import { createEventBus } from '../../../src/infra/db/event-bus.ts';
import { createManualIncidents } from '../../../src/ingest/create-manual-incident.ts';
import { createMemory } from '../../../src/memory/memory.ts';
import { countBehind, syncIncidents } from '../../../src/memory/sync/sync-incidents.ts';
import { boxTarget, boxTools, type Core, createCore, type Machine } from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { quiet } from '../../support/quiet.ts';
import { waitFor } from '../../support/wait-for.ts';

const machine: Machine = { broken: false, generation: 1, effects: 0, helps: true };
const indexed: string[] = [];
const retrieval = {
  upsert: async (_: unknown, entries: readonly { readonly key: string }[]) => {
    indexed.push(...entries.map(({ key }) => key));
  },
} as never;
let database: ScratchDatabase;
let core: Core;
let tests: TestIncidents;
let bus: ReturnType<typeof createEventBus>;

beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  core = await createCore({ url: database.url, tools: boxTools(machine) });
  tests = createTestIncidents({
    sql: core.sql,
    open: createManualIncidents(core.sql, core.accept, [boxTarget]),
    take: (id, by) => takeIncident(core, id, by),
    close: core.steering.close,
  });
  bus = createEventBus({ url: database.url, log: quiet, sweepMs: 200 });
  bus.start();
  await core.start();
});
afterAll(async () => {
  await tests?.stop();
  await bus?.stop();
  await core?.stop();
  await database?.drop();
});

const until = (id: IncidentId, ...states: readonly IncidentState[]) =>
  waitFor(`${id} to be ${states.join(' or ')}`, async () => {
    const record = await core.records.load(id);
    return record && states.includes(record.incident.state) ? record : null;
  });

async function raised(): Promise<IncidentId> {
  const opened = await tests.raise('U0ADMIN');
  if (!opened.ok) throw new Error(opened.reason);
  return opened.incidentId;
}

it('is investigated and closed by Sentry, says so, and counts nowhere', async () => {
  const id = await raised();
  // Also where the process that raised it has died: whichever runs then closes it.
  await until(id, 'reported', 'escalated');
  tests.start(bus);
  const record = await until(id, 'resolved');

  expect(record.incident.title).toMatch(/^Test: nothing is wrong/);
  expect(record.events.filter(({ type }) => type === 'diagnosis.concluded').length).toBeGreaterThan(0);
  expect(record.incident).toMatchObject({ resolvedBy: 'person', closedBy: 'Sentry' });
  const told = why(record);
  expect(told).toContain('Closed by Sentry');
  expect(told).toContain('Sentry closed it: It was a test.');
  expect(told).not.toContain('<@U0ADMIN> closed it');

  const memory = createMemory({ sql: core.sql, retrieval, enabled: true, log: quiet } as never);
  await memory.rememberIncident(record);
  expect(await syncIncidents(core.sql, retrieval, core.records.load)).toBe(0);
  expect(await countBehind(core.sql)).toBe(0);
  expect(indexed).toEqual([]);
  expect(await core.sql`SELECT FROM memory_outbox`).toEqual([]);
  expect(await countPaged(core.sql)).toEqual({ ended: 0, unpaged: 0 });
});

it('raised again is no recurrence of the one before', async () => {
  const record = await until(await raised(), 'resolved');
  expect(record.events.filter(({ type }) => type === 'incident.last_time')).toEqual([]);
  const [left] = await core.sql<{
    readonly n: number;
  }>`SELECT count(*)::int AS n FROM test_incident WHERE NOT over`;
  expect(left?.n).toBe(0);
});

it('that has found something real is left to people', async () => {
  machine.broken = true;
  const id = await raised();
  await until(id, 'awaiting_approval');
  await waitFor('it to be left', async () => {
    const [row] = await core.sql<{
      readonly n: number;
    }>`SELECT count(*)::int AS n FROM test_incident WHERE NOT over`;
    return row?.n === 0 ? true : null;
  });
  expect((await core.records.incident(id))?.state).toBe('awaiting_approval');
  // From now on it is one like others: it counts, and is learnt from.
  const [is] = await core.sql<{ readonly test: boolean }>`SELECT sentry_is_test(${id}) AS test`;
  expect(is?.test).toBe(false);
});
