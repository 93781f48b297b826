import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startEmbeddedPostgres } from '../../../../src/infra/db/embedded/start-embedded-postgres.ts';
import { loadRunbooks } from '../../../../src/runbooks/load-runbooks.ts';
import type { Runbook } from '../../../../src/runbooks/runbook.ts';
import { allTools } from '../../../../src/targets/all-tools.ts';
import { localAccess } from '../../../../src/targets/host/connect/local-access.ts';
import { createRegistry } from '../../../../src/tools/registry.ts';
import { quiet } from '../../../support/quiet.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import { createHostTargets } from '../../../support/targets.ts';
import { type LiveIncident, liveIncident } from './live-incident.ts';

const tools = createRegistry(allTools);
const PANIC =
  '2026-11-23 10:00:00.000 UTC [812] PANIC:  could not write to file "pg_wal/xlogtemp.812": No space left on device\n';
let runbooks: readonly Runbook[];
let dir: string;
let log: string;
let live: LiveIncident;

beforeAll(async () => {
  const loaded = await loadRunbooks(fileURLToPath(new URL('../../../../runbooks', import.meta.url)), {
    tools,
  });
  expect(loaded.problems).toEqual([]);
  runbooks = loaded.runbooks.map((runbook) => ({
    ...runbook,
    steps: runbook.steps.map((step) => ({ ...step, waitMs: Math.min(step.waitMs, 200) })),
  }));
});
beforeEach(() => {
  dir = scratchDir();
  mkdirSync(join(dir, 'postgresql'));
  log = join(dir, 'postgresql', 'postgresql-18-main.log');
  appendFileSync(
    log,
    '2026-11-23 09:00:00.000 UTC [1] LOG:  database system is ready to accept connections\n',
  );
});
afterEach(() => live.close());

/** A host of which the disk is so full. */
function host(name: string, usedPercent: number) {
  const target = { name, kind: 'host', domain: 'postgres', environment: 'test', aliases: [] } as const;
  const { ports } = createHostTargets(
    [{ ...target, roots: [{ path: dir, patch: false }], services: [], curlHosts: [], watch: [] }],
    {
      access: {
        ...localAccess,
        space: async () => ({ size: 1_000_000, free: 10_000 * (100 - usedPercent) }),
      },
      deniedPorts: [],
    },
  );
  return { target, ports };
}

async function diagnose(beside: readonly ReturnType<typeof host>[], url = 'postgres://127.0.0.1:9/none') {
  live = liveIncident({
    readUrl: url,
    actUrl: url,
    beside,
    tools,
    runbooks,
    incident: { alertName: 'PostgresDown', title: 'PostgresDown' },
  });
  const { diagnosis } = await live.triageAndDiagnose();
  return diagnosis;
}

describe('a server that cannot be reached', () => {
  test('whose host’s disk is full, as its own log says, is put down to that host by name', async () => {
    appendFileSync(log, PANIC);
    const diagnosis = await diagnose([host('db-1', 100)]);
    expect(diagnosis).toMatchObject({
      verdict: 'cause_found',
      category: 'disk_full',
      unknown: [],
      rootCause: expect.stringMatching(/^The disk of db-1, which shop-db runs on, is 100 % full/),
      unexplained: 'what has filled the disk of db-1',
    });
    expect(diagnosis.evidence).toHaveLength(3);
    // A neighbour is only read.
    expect(await live.plan(diagnosis)).toMatchObject({ kind: 'none' });
  });

  test('beside a full disk of which its log does not speak has no known cause', async () => {
    expect((await diagnose([host('db-1', 100)])).verdict).toBe('cannot_tell');
  });

  test('whose log speaks of a full disk that has room again has none either', async () => {
    appendFileSync(log, PANIC);
    const diagnosis = await diagnose([host('db-1', 60)]);
    expect(diagnosis.verdict).toBe('cannot_tell');
    expect(diagnosis.rootCause).toContain('Its log on db-1 says that the disk was full, but now');
  });

  test('of which another program’s log speaks is not blamed on it', async () => {
    appendFileSync(join(dir, 'backup.log'), 'ERROR: No space left on device\n');
    expect((await diagnose([host('db-1', 100)])).verdict).toBe('cannot_tell');
  });

  test('of two hosts neither is read: nothing says which one it runs on', async () => {
    appendFileSync(log, PANIC);
    const diagnosis = await diagnose([host('db-1', 100), host('db-2', 100)]);
    expect(diagnosis.verdict).toBe('cannot_tell');
    expect(diagnosis.unknown).toEqual(['Not read: it has several neighbours of the kind host (db-1, db-2).']);
  });

  test('without a neighbour says what would help', async () => {
    const diagnosis = await diagnose([]);
    expect(diagnosis.verdict).toBe('cannot_tell');
    expect(diagnosis.remedy).toContain(
      'If its host is no neighbour of shop-db in sentry.yaml yet, declare it there',
    );
  });

  test('which answers is well, whatever the disk of its host', async () => {
    appendFileSync(log, PANIC);
    const server = await startEmbeddedPostgres({ dataDir: scratchDir(), name: 'shop', log: quiet });
    try {
      expect((await diagnose([host('db-1', 100)], server.url)).verdict).toBe('healthy');
    } finally {
      await server.stop();
    }
  });
});
