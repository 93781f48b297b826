import { fileURLToPath } from 'node:url';
import postgres, { type Sql } from 'postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPlaybook } from '../../../../src/agents/playbook/create-playbook.ts';
import type { IncidentId } from '../../../../src/core/ids.ts';
import type { IncidentState } from '../../../../src/core/incident.ts';
import { openReads } from '../../../../src/incidents/failed-reads/open-reads.ts';
import { createRetryRead, type NamedRead } from '../../../../src/incidents/failed-reads/retry-read.ts';
import { why } from '../../../../src/incidents/questions/why.ts';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../../../src/infra/db/embedded/start-embedded-postgres.ts';
import { loadRunbooks } from '../../../../src/runbooks/load-runbooks.ts';
import { allTools } from '../../../../src/targets/all-tools.ts';
import { createRegistry } from '../../../../src/tools/registry.ts';
import { boxAlert, type Core, createCore } from '../../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';
import { quiet } from '../../../support/quiet.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import { createPostgresTargets, type PostgresTargets } from '../../../support/targets.ts';
import type { Row } from '../../../support/typed.ts';
import { waitFor } from '../../../support/wait-for.ts';

let server: EmbeddedPostgres;
let admin: Sql;
let targets: PostgresTargets;
let database: ScratchDatabase;
let core: Core;
const clients: Sql[] = [];

/** The reading role lacks pg_monitor: it sees that there are sessions, and not what they do. */
beforeAll(async () => {
  const [started, record, loaded] = await Promise.all([
    startEmbeddedPostgres({ dataDir: scratchDir(), name: 'shop', log: quiet, settings: { fsync: 'off' } }),
    scratchDatabase({ migrate: true }),
    loadRunbooks(fileURLToPath(new URL('../../../../runbooks', import.meta.url)), {
      tools: createRegistry(allTools),
    }),
  ]);
  [server, database] = [started, record];
  admin = postgres(server.url, { max: 1, onnotice: () => undefined });
  await admin`CREATE ROLE sentry_ro LOGIN PASSWORD 'read'`;
  await admin`CREATE TABLE orders (id int PRIMARY KEY, note text)`;
  await admin`INSERT INTO orders VALUES (1, 'x')`;
  const readUrl = new URL(server.url);
  [readUrl.username, readUrl.password] = ['sentry_ro', 'read'];
  targets = createPostgresTargets([
    {
      name: 'box',
      kind: 'postgres',
      environment: 'test',
      aliases: [],
      readUrl: readUrl.href,
      actUrl: server.url,
    },
  ]);
  // Without the pauses between two looks.
  const runbooks = loaded.runbooks.map((runbook) => ({
    ...runbook,
    steps: runbook.steps.map((step) => ({ ...step, waitMs: 0 })),
  }));
  core = await createCore({
    url: database.url,
    tools: allTools,
    investigator: createPlaybook({ runbooks: () => runbooks }),
    gate: { ports: targets.ports, identity: (name) => targets.identity(name) },
  });
  await core.start();
}, 120_000);

afterAll(async () => {
  await core.stop();
  await Promise.all([targets.close(), ...clients.map((client) => client.end({ timeout: 0 }))]);
  await admin.end({ timeout: 0 });
  await Promise.all([server.stop(), database.drop()]);
});

function client(application_name: string): Sql {
  const sql = postgres(server.url, { max: 1, connection: { application_name }, onnotice: () => undefined });
  clients.push(sql);
  return sql;
}

/** Somebody locks a row and forgets it; somebody else waits. Gives the one at fault. */
async function blockSessions(): Promise<number> {
  const [forgetful, waiting] = [client('billing'), client('checkout')];
  const [{ pid } = { pid: 0 }] = await forgetful<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
  await forgetful.unsafe('BEGIN; UPDATE orders SET note = $$y$$ WHERE id = 1');
  // It ends with its connection.
  waiting`UPDATE orders SET note = 'z' WHERE id = 1`.then(
    () => undefined,
    () => undefined,
  );
  await waitFor('a session to wait', async () => {
    const [row] = await admin`SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock'`;
    return row?.['n'] === 1;
  });
  return pid;
}

const recordOf = async (id: IncidentId, state: IncidentState) => {
  await waitFor(`${id} to be ${state}`, async () => (await core.records.incident(id))?.state === state);
  const record = await core.records.load(id);
  if (record === null) throw new Error('no record');
  return record;
};

/** As the one button on the card names it. */
async function button(id: IncidentId): Promise<NamedRead> {
  const record = await core.records.load(id);
  const [open] = record ? openReads(record) : [];
  if (!open) throw new Error('there is no button');
  return { incidentId: id, toolCallId: open.call.id, hash: open.hash };
}

it('a privilege is missing, a person grants it outside, Check again is pressed, and the incident goes on to the cause', async () => {
  const pid = await blockSessions();
  const readAgain = createRetryRead(core, {
    mayAsk: (user) => core.policy.mayAsk(user),
    readerOf: () => 'sentry_ro',
  });
  const { incidentId } = await core.accept(
    boxAlert({ name: 'PostgresBlockedSessions', title: 'Sessions are blocked' }),
  );
  if (!incidentId) throw new Error('not accepted');

  const first = await recordOf(incidentId, 'reported');
  const told = first.events.findLast((event) => event.type === 'diagnosis.concluded');
  expect(told).toMatchObject({
    diagnosis: {
      verdict: 'cannot_tell',
      unread: [{ way: 'grant', reason: expect.stringMatching(/hidden/) }],
    },
  });
  const early = await button(incidentId);
  const grant = await readAgain.grant(early, 'UONCALL');
  expect(grant).toMatchObject({
    ok: true,
    tool: 'postgres_blocking_tree',
    exact: 'GRANT pg_monitor TO sentry_ro;',
    who: expect.stringContaining('superuser'),
  });

  // Too early: it is read again, and still says nothing.
  expect(await readAgain.ask(early, 'UONCALL')).toMatchObject({ ok: true });
  const again = await waitFor('the second try', async () => {
    const record = await core.records.load(incidentId);
    return record?.events.some((event) => event.type === 'read.finished') ? record : null;
  });
  expect(again.incident).toMatchObject({ state: 'reported', round: 1 });
  expect(await readAgain.ask(early, 'UONCALL')).toMatchObject({ ok: false, code: 'STALE' });

  await admin.unsafe((grant.ok && grant.exact) || '');
  expect(await readAgain.ask(await button(incidentId), 'UONCALL')).toMatchObject({ ok: true });
  const last = await recordOf(incidentId, 'awaiting_approval');
  expect(last.incident.round).toBe(2);
  expect(last.incident.cause).toContain(`Session ${pid} `);
  expect(last.actions).toMatchObject([
    { tool: 'postgres_terminate_backend', input: { pid }, state: 'proposed' },
  ]);
  expect(why(first)).toMatch(/not read: postgres blocking tree: .*hidden.*somebody has to grant it/);
  const story = why(last);
  expect(story).toMatch(/<@UONCALL> had postgres blocking tree read again, now that it may be allowed/);
  expect(story).toMatch(/postgres blocking tree still cannot be read/);
  expect(story).toMatch(/postgres blocking tree could be read now/);
  const audit = await core.sql<Row>`
    SELECT body::jsonb->>'actor' AS by FROM audit_entry WHERE body::jsonb->>'kind' = 'read.asked' ORDER BY seq`;
  expect(audit.map((row) => row['by'])).toEqual(['UONCALL', 'UONCALL']);
});
