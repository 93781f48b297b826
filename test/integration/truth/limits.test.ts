import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { IncidentId } from '../../../src/core/ids.ts';
import { ASK_AGAIN_TURN } from '../../../src/incidents/move.ts';
import { why } from '../../../src/incidents/questions/why.ts';
import { createTurn } from '../../../src/incidents/turn.ts';
import { drawRoot } from '../../../src/slack/views/blocks/root.ts';
import { type Core, createCore } from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import type { Row } from '../../support/typed.ts';
import { driving, QUEUE_LIMIT_KEY, queueInvestigator, queueTools, queueWorld } from './queue-rig.ts';

/** Long enough never to end by itself while a test runs. */
const LONG_MS = 3_600_000;
/** Longer than a busy machine takes to come to its plan. */
const BUSY_MS = 10_000;

const world = queueWorld();
let database: ScratchDatabase;
let core: Core;
let incident: ReturnType<typeof driving>;
const createOne = () =>
  createCore({ url: database.url, tools: queueTools(world), investigator: queueInvestigator(world) });

beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  core = await createOne();
  incident = driving(core);
  await core.start();
});
afterAll(async () => {
  await core.stop();
  await database.drop();
});
beforeEach(async () => {
  Object.assign(world, queueWorld(), { limitMs: LONG_MS, acts: () => (world.waiting = 0) });
  await core.sql`DELETE FROM rate_claim`;
});

/** Somebody else's action has used the limit up. */
const usedUp = () =>
  core.sql`INSERT INTO rate_claim (action_id, key) VALUES (${`act_${crypto.randomUUID()}`}, ${QUEUE_LIMIT_KEY})`;

/** The limit's last moment passes: for the rule, and for the incident that waits for it. */
async function limitEnds(id: IncidentId): Promise<void> {
  await core.sql`DELETE FROM rate_claim`;
  await core.sql`UPDATE incident SET asks_again_at = clock_timestamp() - interval '1 second'
                  WHERE id = ${id} AND asks_again_at IS NOT NULL`;
}
/** What the delayed turn does when its time has come. */
const comesBack = (id: IncidentId, on = core) => on.engine.enqueueTurn(id, ASK_AGAIN_TURN);
const turnNow = (id: IncidentId) => createTurn(core)(id, ASK_AGAIN_TURN, (_, work) => work());

async function keptBack(): Promise<IncidentId> {
  await usedUp();
  const id = await incident.open();
  await incident.until(id, 'reported');
  return id;
}

describe('a fix that a limit keeps back', () => {
  test('is said with the time from which it may be done, in the reader’s zone', async () => {
    const record = await incident.load(await keptBack());
    const [claimed] = await core.sql<Row>`
      SELECT (extract(epoch FROM claimed_at) * 1000)::float8 + ${LONG_MS} AS until FROM rate_claim`;
    const at = Date.parse(record.incident.asksAgainAt ?? '');
    expect(Math.abs(at - Number(claimed?.['until']))).toBeLessThan(5);
    expect(record.incident.nextStep).toBe('At most 1 kick of consumer-7 in 60 minutes.');
    const { blocks } = drawRoot(record);
    const shown = JSON.stringify(blocks);
    expect(shown).toContain(`"type":"date","timestamp":${Math.floor(at / 1000)}`);
    expect(shown).toContain('I’ll ask again then');
    const until = `${new Date(at).toISOString().slice(0, 19)}Z`;
    expect(why(record)).toContain(`may be done again at ${until}; I’ll ask again then`);
  });

  test('is asked for again by itself when the limit is over, and then done once', async () => {
    world.limitMs = BUSY_MS;
    const id = await keptBack();
    // Nobody wakes it: the turn was put down with the report.
    await incident.approve(id);
    const { incident: ended, events } = await incident.until(id, 'resolved');
    expect(ended).toMatchObject({ resolvedBy: 'confirmed', asksAgainAt: null });
    expect(world.acted).toBe(1);
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'state.changed', from: 'reported', to: 'planning' }),
    );
  });

  test('met only at the claim is reported with its time as well, and asked for anew', async () => {
    const id = await incident.open();
    await incident.proposed(id);
    await usedUp();
    const approved = await incident.approve(id);
    const { incident: waits } = await incident.until(id, 'reported');
    expect(world.acted).toBe(0);
    expect(waits.asksAgainAt).not.toBeNull();
    await limitEnds(id);
    await comesBack(id);
    const anew = await incident.approve(id);
    expect(anew.id).not.toBe(approved.id);
    await incident.until(id, 'resolved');
    expect(world.acted).toBe(1);
  });

  test('is asked for by another process when the one that reported it is gone', async () => {
    world.limitMs = BUSY_MS;
    const id = await keptBack();
    await core.stop();
    core = await createOne();
    incident = driving(core);
    await core.start();
    await incident.proposed(id);
  });
});

describe('when the limit is over', () => {
  test('nothing is asked for when the problem has ended, and that is what is said', async () => {
    const id = await keptBack();
    world.waiting = 0;
    await limitEnds(id);
    await comesBack(id);
    const {
      incident: now,
      actions,
      events,
    } = await incident.until(id, 'reported', (record) => record.incident.asksAgainAt === null);
    expect(now.nextStep).toContain('over by itself');
    expect(actions).toEqual([]);
    // No model plans for what is over.
    expect(events.filter((event) => event.type === 'state.changed' && event.to === 'planning')).toHaveLength(
      1,
    );
  });

  test('nothing is asked for when it cannot be read whether the problem is there', async () => {
    const id = await keptBack();
    world.readable = false;
    await limitEnds(id);
    await turnNow(id);
    const { incident: now, actions } = await incident.load(id);
    expect(now).toMatchObject({ state: 'reported', asksAgainAt: null });
    expect(now.nextStep).toContain('could not be read');
    expect(actions).toEqual([]);
  });

  test('nothing is asked for after a stop, nor after it was resumed', async () => {
    const id = await keptBack();
    await core.steering.stop(id, 'UONCALL', 'enough');
    await limitEnds(id);
    await turnNow(id);
    expect((await incident.load(id)).incident.state).toBe('stopped');
    await core.steering.resume(id, 'UONCALL');
    await turnNow(id);
    const { incident: now, actions } = await incident.load(id);
    expect(now).toMatchObject({ state: 'reported', asksAgainAt: null });
    expect(now.nextStep).toContain('Nothing comes by itself');
    expect(actions).toEqual([]);
  });

  test('a turn that comes too early asks for nothing, and leaves the promise standing', async () => {
    const id = await keptBack();
    await turnNow(id);
    const { incident: now, actions } = await incident.load(id);
    expect(now.state).toBe('reported');
    expect(now.asksAgainAt).not.toBeNull();
    expect(actions).toEqual([]);
  });

  test('a limit that others use up again and again is waited for three times, and then a person is asked', async () => {
    const id = await keptBack();
    for (let again = 1; again <= 3; again += 1) {
      const before = (await incident.load(id)).incident.asksAgainAt;
      expect(before).not.toBeNull();
      // Over for this incident, and used up by somebody else at once.
      await core.sql`UPDATE rate_claim SET claimed_at = clock_timestamp()`;
      await core.sql`UPDATE incident SET asks_again_at = clock_timestamp() WHERE id = ${id}`;
      await comesBack(id);
      await incident.until(
        id,
        'reported',
        ({ events }) =>
          events.filter((event) => event.type === 'state.changed' && event.to === 'reported').length ===
          again + 1,
      );
    }
    const { incident: now } = await incident.load(id);
    expect(now.asksAgainAt).toBeNull();
    expect(now.nextStep).not.toContain('again then');
  });
});
