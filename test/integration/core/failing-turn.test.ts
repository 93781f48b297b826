import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Investigation, Investigator } from '../../../src/agents/ports.ts';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { Incident } from '../../../src/core/incident.ts';
import {
  boxAlert,
  boxInvestigator,
  boxTools,
  type Core,
  createCore,
  findsNothing,
} from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';

/** A turn that fails: what is tried again, what that costs, and how it ends. */
const CLAUDES = 'the disk is full';
/** How often the model was asked, by role. */
let asked: string[];
/** Whether an event can be written; throws when not. */
let writing: (event: IncidentEventBody) => void;
let database: ScratchDatabase;
let core: Core;

beforeEach(async () => {
  asked = [];
  writing = () => undefined;
  database = await scratchDatabase({ migrate: true });
  core = await start();
});
afterEach(async () => {
  await core.stop();
  await database.drop();
});

/** What every message of a model is: a durable step that is paid for. */
async function ask(work: Investigation, role: string): Promise<void> {
  await work.durably(`claude:${role}:r${work.incident.round}:turn 1 message`, async () => {
    asked.push(role);
    const tokens = { inputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, cacheWrite1hTokens: 0 };
    await work.spent({ model: 'claude', ...tokens, outputTokens: 1, thinkingTokens: 0, costUsd: 0.01 });
    return true;
  });
}

const model: Investigator = {
  ...boxInvestigator,
  name: 'claude',
  triage: async (work) => {
    await ask(work, 'triage');
    return boxInvestigator.triage(work);
  },
  diagnose: async (work) => {
    await ask(work, 'detective');
    return { ...findsNothing, rootCause: CLAUDES };
  },
};

async function start(): Promise<Core> {
  const started = await createCore({
    url: database.url,
    tools: boxTools({ broken: true, generation: 1, effects: 0, helps: true }),
    claude: model,
    records: (records) => ({
      ...records,
      append: async (tx, id, body, key) => {
        writing(body);
        return records.append(tx, id, body, key);
      },
    }),
  });
  await started.start();
  return started;
}

const opened = async (): Promise<IncidentId> => (await core.accept(boxAlert())).incidentId as IncidentId;

async function until(
  id: IncidentId,
  what: string,
  holds: (incident: Incident) => boolean,
): Promise<Incident> {
  await waitFor(
    what,
    async () => {
      const incident = await core.records.incident(id);
      return incident !== null && holds(incident);
    },
    { timeoutMs: 60_000 },
  );
  return (await core.records.incident(id)) as Incident;
}

const eventsOf = async (id: IncidentId, type: IncidentEventBody['type']) =>
  ((await core.records.load(id))?.events ?? []).filter((event) => event.type === type);

/** Fails in another way each time by its numbers, and in the same way by what they mean. */
const refused = (n: number) => new Error(`value ${n} is out of range for "body_${n}"`);

describe('a conclusion that cannot be put on record', () => {
  test('of the model alone: after three tries the playbook goes on, and the model was paid once', async () => {
    let failed = 0;
    writing = (event) => {
      if (event.type !== 'diagnosis.concluded' || event.diagnosis.rootCause !== CLAUDES) return;
      failed += 1;
      throw refused(failed);
    };
    const id = await opened();
    await until(id, 'the playbook’s plan', ({ state }) => state === 'awaiting_approval');
    expect(asked).toEqual(['triage', 'detective']);
    expect(failed).toBe(3);
    const [fallback] = await eventsOf(id, 'investigator.fallback');
    expect(fallback).toMatchObject({
      reason: expect.stringContaining('failed 3 times (value 3 is out of range'),
    });
  }, 90_000);

  test('of the playbook as well: after three more a person has to take over, and hears why', async () => {
    let failed = 0;
    writing = (event) => {
      if (event.type !== 'diagnosis.concluded') return;
      failed += 1;
      throw refused(failed);
    };
    const id = await opened();
    // Counted over a restart.
    await waitFor(
      'two failures on record',
      async () => (await core.sql`SELECT FROM turn_failure WHERE failures = 2`).length === 1,
      { timeoutMs: 60_000 },
    );
    await core.stop();
    core = await start();
    const incident = await until(id, 'a person to be called', ({ state }) => state === 'escalated');
    expect(incident).toMatchObject({ nextStep: 'A person has to take over.', investigator: 'playbook' });
    expect(asked.filter((role) => role === 'detective')).toHaveLength(1);
    expect(failed).toBe(6);
    expect(await eventsOf(id, 'incident.escalated')).toMatchObject([
      { reason: expect.stringContaining('out of range') },
    ]);
    // A person's hint begins anew.
    writing = () => undefined;
    expect(await core.steering.hint(id, 'UONCALL', 'look at the box')).toMatchObject({ ok: true });
    await until(id, 'a plan after all', ({ state }) => state === 'awaiting_approval');
  }, 120_000);
});

describe('an outage', () => {
  test('burns neither the incident nor money: it is tried until it is over, and the model is asked once', async () => {
    let failed = 0;
    writing = (event) => {
      if (event.type !== 'diagnosis.concluded' || failed === 3) return;
      failed += 1;
      throw Object.assign(new Error('write CONNECTION_CLOSED'), { code: 'CONNECTION_CLOSED' });
    };
    const id = await opened();
    const incident = await until(id, 'the model’s report', ({ state }) => state === 'reported');
    expect(incident).toMatchObject({ investigator: 'claude' });
    expect(asked).toEqual(['triage', 'detective']);
    expect(await eventsOf(id, 'investigator.fallback')).toEqual([]);
    expect(await core.sql`SELECT * FROM turn_failure`).toEqual([]);
  }, 90_000);

  test('in triage, before and after its own first move, costs one message', async () => {
    let failed = 0;
    writing = (event) => {
      if (event.type !== 'triage.concluded' || failed === 2) return;
      failed += 1;
      throw Object.assign(new Error('connection lost'), { code: '08006' });
    };
    const id = await opened();
    await until(id, 'the model’s report', ({ state }) => state === 'reported');
    expect(failed).toBe(2);
    expect(asked).toEqual(['triage', 'detective']);
  }, 90_000);
});
