import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Investigation, type Investigator, InvestigatorFailed } from '../../../src/agents/ports.ts';
import { createRecordChange } from '../../../src/changes/record-change.ts';
import { createWhatChanged } from '../../../src/changes/what-changed.ts';
import type { Change } from '../../../src/core/change.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { IncidentRecord } from '../../../src/core/incident-record.ts';
import { readChangesSubject } from '../../../src/incidents/changes-around.ts';
import { openDatabase } from '../../../src/infra/db/client.ts';
import { createRecords } from '../../../src/record/record.ts';
import { changesTools } from '../../../src/tools/changes/changes-tools.ts';
import type { ChangesPort } from '../../../src/tools/changes/ports.ts';
import {
  boxAlert,
  boxInvestigator,
  boxTarget,
  boxTools,
  type Core,
  type CoreOptions,
  createCore,
} from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';

let database: ScratchDatabase;
let client: ReturnType<typeof openDatabase>;
let core: Core;
let seen: (Investigation['changes'] | 'nobody')[];
let port: ChangesPort;

beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  client = openDatabase(database.url);
});
afterAll(async () => {
  await client.close();
  await database.drop();
});
beforeEach(() => {
  seen = [];
  const { sql } = client;
  const targets = new Map([[boxTarget.name, boxTarget]]);
  port = createWhatChanged({
    sql,
    subjectOf: (id) => readChangesSubject({ sql, records: createRecords(sql), targets }, id),
  });
});
afterEach(() => core.stop());

/** Notes what it was given. Whose diagnosis suggests nothing looks once more before it plans. */
const noting = (investigator: Investigator, fails = false): Investigator => ({
  ...investigator,
  diagnose(work, triage) {
    seen.push('changes' in work ? work.changes : 'nobody');
    if (fails) throw new InvestigatorFailed('the model is down.');
    return investigator.diagnose(work, triage);
  },
});

async function begin(options: Pick<CoreOptions, 'claude' | 'changes' | 'records'>) {
  core = await createCore({
    url: database.url,
    tools: [...boxTools({ broken: true, generation: 1, effects: 0, helps: true }), ...changesTools],
    investigator: noting(boxInvestigator),
    ...options,
  });
  await core.start();
}

async function investigated(alert: object = {}) {
  const { incidentId } = await core.accept({ ...boxAlert(), ...alert });
  return waitFor('a proposal', async () => {
    const record = await core.records.load(incidentId as IncidentId);
    return record?.incident.state === 'awaiting_approval' ? record : null;
  });
}

const told = (): Promise<unknown> => {
  const at = new Date(Date.now() - 5 * 60_000).toISOString();
  const change: Change = {
    source: 'argo-cd',
    id: `deploy ${at}`,
    kind: 'deployment',
    state: 'succeeded',
    title: 'box 2 deployed',
    where: [boxTarget.name],
    environment: null,
    startedAt: null,
    at,
    by: 'olivia',
    from: '1',
    to: '2',
    commits: [],
    url: null,
  };
  return createRecordChange(client.sql)(change);
};

const called = (record: Pick<IncidentRecord, 'toolCalls'>) =>
  record.toolCalls.filter(({ tool }) => tool === 'what_changed');

test('what was changed is asked once, on record, before the cause is looked for', async () => {
  await told();
  await begin({ changes: port });
  const record = await investigated();
  expect(seen[0]).toMatchObject({
    found: { answer: 'changed', suspects: [{ ref: 'c1', title: 'box 2 deployed' }] },
  });
  expect(seen).toEqual([seen[0], seen[0]]);
  expect(called(record)).toHaveLength(1);
  const looked = record.events.filter((event) => event.type === 'changes.looked');
  expect(looked).toMatchObject([{ round: 1, found: { answer: 'changed' } }]);
  const [call] = record.toolCalls;
  expect(call).toMatchObject({ tool: 'what_changed', target: null, role: 'detective', state: 'ok' });
  expect(looked).toMatchObject([{ toolCallId: call?.id }]);
  expect(call?.output).toContain('c1 box 2 deployed (1 → 2) by olivia · 5 min before it began');
});

test('whoever takes over goes by the same answer', async () => {
  await begin({ changes: port, claude: noting({ ...boxInvestigator, name: 'claude' }, true) });
  const record = await investigated({ fingerprint: 'taken over', deliveryKey: 'taken over' });
  expect(seen[0]).toMatchObject({ toolCallId: called(record)[0]?.id });
  expect(seen).toEqual([seen[0], seen[0], seen[0]]);
  expect(called(record)).toHaveLength(1);
  expect(record.events.filter((event) => event.type === 'changes.looked')).toHaveLength(1);
});

test('that it cannot be asked holds nobody up', async () => {
  const whatChanged = () => Promise.reject(new Error('away'));
  await begin({ changes: { ...port, whatChanged } });
  const record = await investigated({ fingerprint: 'away', deliveryKey: 'away' });
  expect(seen).toEqual([null, null]);
  expect(called(record)).toMatchObject([{ state: 'failed', output: 'away' }]);
  expect(record.events.filter((event) => event.type === 'changes.looked')).toEqual([]);
});

test('one that hangs is given up, and holds nobody up', async () => {
  const whatChanged = () => new Promise<never>(() => undefined);
  await begin({ changes: { ...port, whatChanged } });
  const record = await investigated({ fingerprint: 'hangs', deliveryKey: 'hangs' });
  expect(seen).toEqual([null, null]);
  expect(called(record)).toMatchObject([
    { state: 'failed', code: 'TIMEOUT', output: expect.stringContaining('3 s') },
  ]);
});

test('a call whose event was lost is not made again in its round', async () => {
  let hasFailed = false;
  await begin({
    changes: port,
    records: (plain) => ({
      ...plain,
      async append(tx, id, body, key) {
        if (body.type !== 'changes.looked' || hasFailed) return plain.append(tx, id, body, key);
        hasFailed = true;
        throw new Error('the record is away');
      },
    }),
  });
  const record = await investigated({ fingerprint: 'lost', deliveryKey: 'lost' });
  const [call, ...others] = called(record);
  expect(others).toEqual([]);
  expect(seen).toMatchObject([null, { toolCallId: call?.id }]);
  const looked = record.events.filter((event) => event.type === 'changes.looked');
  expect(looked).toMatchObject([{ round: 1, toolCallId: call?.id }]);
});

test('nobody is asked where nobody could answer', async () => {
  await begin({});
  const record = await investigated({ fingerprint: 'nobody', deliveryKey: 'nobody' });
  expect(seen).toEqual(['nobody', 'nobody']);
  expect(called(record)).toEqual([]);
});
