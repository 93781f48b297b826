import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { IncidentRecord } from '../../../src/core/incident-record.ts';
import { EMPTY_RECALL } from '../../../src/core/memory.ts';
import type { Audiences } from '../../../src/memory/audiences.ts';
import { recordEpisode } from '../../../src/memory/episodes/episodes.ts';
import { draw } from '../../../src/slack/views/blocks/draw.ts';
import { everybodyReads } from '../../support/audiences.ts';
import { boxAlert, boxTools, type Core, createCore, type Machine } from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';

/** What failed in one incident is known in the next: through the whole core, with what is learnt kept on record. */
const machine: Machine = { broken: true, generation: 1, effects: 0, helps: true };
let database: ScratchDatabase;
let core: Core;
let fingerprint: string;
let mayTell: Audiences['mayTell'];

beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  core = await createCore({
    url: database.url,
    tools: boxTools(machine),
    gate: { audiences: { ...everybodyReads, mayTell: (...asked) => mayTell(...asked) } },
    memory: {
      recall: async () => EMPTY_RECALL,
      prepare: async () => null,
      recordShown: async () => undefined,
      enabled: true,
      rememberIncident: async () => undefined,
      recordEpisode: (episode) => recordEpisode(core.sql, episode),
    },
  });
  await core.start();
});
afterAll(async () => {
  await core.stop();
  await database.drop();
});
beforeEach(async () => {
  await core.sql`TRUNCATE incident, action, episode CASCADE`;
  fingerprint = randomUUID().replaceAll('-', '');
  mayTell = everybodyReads.mayTell;
  Object.assign(machine, { broken: true, generation: 1, effects: 0, helps: true });
});

async function asked(id: IncidentId, round = 1): Promise<IncidentRecord> {
  return waitFor(`${id} to ask`, async () => {
    const record = await core.records.load(id);
    const asks = record?.incident.state === 'awaiting_approval' && record.incident.round >= round;
    return asks ? record : null;
  });
}

async function opened(): Promise<IncidentRecord> {
  machine.broken = true;
  const { incidentId } = await core.accept(boxAlert({ fingerprint }));
  if (!incidentId) throw new Error('not accepted');
  return asked(incidentId);
}

/** Approved, run, and looked at; then closed by a person where it did not help. */
async function tried(helps: boolean): Promise<IncidentId> {
  machine.helps = helps;
  const { incident, actions } = await opened();
  const [action] = actions;
  if (!action) throw new Error('no action');
  await core.approvals.decide({
    actionId: action.id,
    planHash: action.planHash,
    by: 'UONCALL',
    decision: 'approve',
    reason: '',
    anotherWay: false,
  });
  if (helps)
    await waitFor(`${incident.id} to be fixed`, async () =>
      (await core.records.incident(incident.id))?.state === 'resolved' ? true : null,
    );
  else {
    await asked(incident.id, 2);
    expect(await core.steering.close(incident.id, 'UONCALL', 'by hand')).toMatchObject({ ok: true });
  }
  await core.sql`UPDATE incident SET ended_at = ended_at - interval '31 minutes' WHERE id = ${incident.id}`;
  return incident.id;
}

const firstLine = ({ actions }: IncidentRecord): string | undefined => actions[0]?.preflight[0];
const rootOf = (record: IncidentRecord): string =>
  JSON.stringify(
    draw(record, { threadUrl: () => null, approvers: null, mayName: () => true }).find(
      ({ slot }) => slot === 'root',
    ),
  );

test('what did not help is told on the next card of the same act, and what helped since is not', async () => {
  const failed = await tried(false);
  const next = await opened();
  expect(firstLine(next)).toBe(`Tried before: it did not help in ${failed}.`);
  expect(rootOf(next)).toContain('Did not help: Mend the box');
  await core.steering.close(next.incident.id, 'UONCALL', 'by hand');
  await core.sql`UPDATE incident SET ended_at = ended_at - interval '31 minutes' WHERE id = ${next.incident.id}`;
  await tried(true);
  expect(firstLine(await opened())).toBe('broken: true');
});

test('what helped before it failed is counted', async () => {
  await tried(true);
  const failed = await tried(false);
  expect(firstLine(await opened())).toBe(
    `Tried before: it did not help in ${failed}. Before that it helped once.`,
  );
});

test('of an incident that may not be told in this thread nothing is', async () => {
  await tried(false);
  mayTell = async (_, of) => ({ ids: new Set(), keptBack: new Set(of), isUnsure: false });
  expect(firstLine(await opened())).toBe('broken: true');
});
