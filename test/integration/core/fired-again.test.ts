import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/core/alert.ts';
import { asIncidentId, type IncidentId } from '../../../src/core/ids.ts';
import type { IncidentState } from '../../../src/core/incident.ts';
import type { IncidentRecord } from '../../../src/core/incident-record.ts';
import { sweepSilent } from '../../../src/incidents/phases/silence.ts';
import { why } from '../../../src/incidents/questions/why.ts';
import { createTurn } from '../../../src/incidents/turn.ts';
import { draw } from '../../../src/slack/views/blocks/draw.ts';
import type { DrawOptions, Slot } from '../../../src/slack/views/blocks/slot.ts';
import { stepsView } from '../../../src/slack/views/record-views.ts';
import { boxAlert, boxTools, type Core, createCore, type Machine } from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';

const machine: Machine = { broken: true, generation: 1, effects: 0, helps: true };
let database: ScratchDatabase;
let core: Core;
let fingerprint: string;

beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  core = await createCore({ url: database.url, tools: boxTools(machine) });
  await core.start();
});
afterAll(async () => {
  await core.stop();
  await database.drop();
});
beforeEach(() => {
  fingerprint = randomUUID().replaceAll('-', '');
  Object.assign(machine, { broken: true, generation: 1, effects: 0, helps: true });
});

const now = () => new Date().toISOString();
/** The same alert, every time as a delivery of its own. */
const fires = (changes: Partial<Alert> = {}) => core.accept(boxAlert({ fingerprint, ...changes }));
const ends = () => fires({ status: 'resolved', endsAt: now() });

async function until(id: IncidentId, state: IncidentState, round = 1): Promise<IncidentRecord> {
  let seen: unknown;
  return waitFor(
    `${id} to be ${state}`,
    async () => {
      const record = await core.records.load(id);
      seen = record?.incident.state;
      return record?.incident.state === state && record.incident.round >= round ? record : null;
    },
    { seen: () => seen },
  );
}

async function opened(): Promise<IncidentId> {
  const { incidentId } = await fires();
  if (!incidentId) throw new Error('not accepted');
  return incidentId;
}

/** Mended by a person's approval, and confirmed. */
async function fixed(): Promise<IncidentRecord> {
  const id = await opened();
  const action = (await until(id, 'awaiting_approval')).actions.at(-1);
  if (!action) throw new Error('no action');
  await core.approvals.decide({
    actionId: action.id,
    planHash: action.planHash,
    by: 'UONCALL',
    decision: 'approve',
    reason: '',
    anotherWay: false,
  });
  return until(id, 'resolved');
}

/** Looked into, with nothing to do. */
async function reported(): Promise<IncidentId> {
  machine.broken = false;
  const id = await opened();
  await until(id, 'reported');
  return id;
}

const options: DrawOptions = {
  threadUrl: (id) => `https://example.slack.com/archives/C0/${id}`,
  approvers: null,
  mayName: () => true,
};
const slots = (record: IncidentRecord, changes: Partial<DrawOptions> = {}): readonly Slot[] =>
  draw(record, { ...options, ...changes });
const shown = (record: IncidentRecord, name: string, changes: Partial<DrawOptions> = {}): string =>
  JSON.stringify(slots(record, changes).find(({ slot }) => slot === name) ?? null);
const steps = (record: IncidentRecord): string => JSON.stringify(stepsView(record, null, options));

describe('an alert that fires again soon after the end', () => {
  test('has its incident go on in its one progress message, with the count, and a fresh read', async () => {
    const { incident, ...before } = await fixed();
    machine.broken = true;
    expect(await fires()).toEqual({ kind: 'reopened', incidentId: incident.id });
    const after = await until(incident.id, 'awaiting_approval', 2);
    const reopening = after.events.findIndex(
      ({ type, seq }) => type === 'state.changed' && seq > (before.events.at(-1)?.seq ?? 0),
    );
    const names = (upTo: number) =>
      slots({ ...after, events: after.events.slice(0, upTo) }).map(({ slot }) => slot);
    const earlier = names(reopening);
    const added = names(reopening + 1).filter((name) => !earlier.includes(name));
    expect(added).toEqual(['again:opening-2']);
    expect(shown(after, 'again:opening-2')).toMatch(/Fires again.* \(2nd time in /);
    expect(earlier).toContain('live:1');
    expect(steps(after)).toContain('Its alert fired again (2 times by now).');
    const reads = (record: Pick<IncidentRecord, 'toolCalls'>) =>
      record.toolCalls.filter(({ tool, role }) => tool === 'box_state' && role === 'detective').length;
    expect(reads(after)).toBeGreaterThan(reads(before));
    expect(after.incident).toMatchObject({ round: 2, occurrences: 2 });
  });

  test('later than that opens a new one, which says when the last was, and what helped', async () => {
    const { incident: last } = await fixed();
    await core.sql`UPDATE incident SET ended_at = ended_at - interval '31 minutes' WHERE id = ${last.id}`;
    machine.broken = true;
    const id = await opened();
    expect(id).not.toBe(last.id);
    const record = await until(id, 'awaiting_approval');
    const root = shown(record, 'root');
    expect(root).toContain('Last time: ');
    expect(root).toContain(`https://example.slack.com/archives/C0/${last.id}`);
    expect(root).toContain('fixed: Mend the box');
    // Of an incident in a channel that they may not see people learn nothing.
    expect(shown(record, 'root', { mayName: () => false })).not.toContain('Last time');
    expect(why(record)).toContain('the same alert had an incident before');
    expect(why(record)).not.toContain(last.id);
  });

  test('what was undone in the last one is told as that, and as nothing that helped', async () => {
    const { incident: last, actions } = await fixed();
    await core.sql`
      INSERT INTO action SELECT (jsonb_populate_record(a, jsonb_build_object('id', 'act_told', 'plan_id', 'act_told', 'undoes', a.id,
             'beside', true, 'purpose', 'undo', 'requested_by', 'UNOAH'))).*
        FROM action a WHERE id = ${actions.at(-1)?.id ?? ''}`;
    await core.sql`
      UPDATE incident SET resolved_by = 'source', ended_at = ended_at - interval '31 minutes' WHERE id = ${last.id}`;
    machine.broken = true;
    const root = shown(await until(await opened(), 'awaiting_approval'), 'root');
    expect(root).toMatch(/Mended the box: Undone by ".*"user_id":"UNOAH"/);
    expect(root).not.toContain('fixed: Mend the box');
  });

  test('after an undo it goes on however long ago it ended: the alert may come before the undo is on record', async () => {
    const { incident, actions } = await fixed();
    await core.sql`UPDATE incident SET ended_at = ended_at - interval '3 hours' WHERE id = ${incident.id}`;
    await core.sql`
      INSERT INTO action SELECT (jsonb_populate_record(a, jsonb_build_object('id', 'act_undo', 'plan_id', 'act_undo',
             'state', 'failed', 'undoes', a.id, 'beside', true, 'purpose', 'undo'))).*
        FROM action a WHERE id = ${actions.at(-1)?.id ?? ''}`;
    await core.sql`UPDATE action SET state = 'started', finished_at = NULL WHERE id = 'act_undo'`;
    expect(await fires()).toMatchObject({ kind: 'reopened', incidentId: incident.id });
    await core.sql`DELETE FROM action WHERE id = 'act_undo'`;
  });
});

test('what fires again while its turn ends it is not ended, and its card stays', async () => {
  const id = await opened();
  await until(id, 'awaiting_approval');
  await core.sql`UPDATE incident SET source_resolved_at = clock_timestamp() WHERE id = ${id}`;
  await createTurn(core)(id, 'source_resolved', async (name, work) => {
    if (name === 'resolved by source') expect(await fires()).toMatchObject({ kind: 'repeated' });
    return work();
  });
  const { incident, actions } = await until(id, 'awaiting_approval');
  expect(incident.sourceResolvedAt).toBeNull();
  expect(actions.map(({ state }) => state)).toEqual(['proposed']);
});

describe('an alert that is taken in without any work', () => {
  test('is seen in the thread, counted, and *Investigate again* looks afresh', async () => {
    const id = await reported();
    expect(shown(await until(id, 'reported'), 'again:1')).toBe('null');
    await fires();
    expect(shown(await until(id, 'reported'), 'again:1')).toContain('Its alert still fires: sent again');
    await fires();
    const record = await until(id, 'reported');
    expect(shown(record, 'again:1')).toContain('Its alert still fires: sent again 2 times');
    expect(shown(record, 'again:1')).toContain('sentry_investigate');
    expect(slots(record).filter(({ slot }) => slot.startsWith('again:'))).toHaveLength(1);

    expect(await core.investigate(id, 'U0NOAH')).toMatchObject({ ok: true });
    const again = await until(id, 'reported', 2);
    expect(shown(again, 'again:1')).not.toContain('sentry_investigate');
    expect(steps(again)).toContain('U0NOAH');
    expect(why(again)).toContain('<@U0NOAH> had it investigated again');
  });

  test('by an ignored incident is seen as well, and can be investigated', async () => {
    const id = await reported();
    await core.sql`UPDATE incident SET state = 'ignored', ended_at = clock_timestamp() WHERE id = ${id}`;
    await core.sql`
      INSERT INTO event (incident_id, type, body)
      VALUES (${id}, 'state.changed', '{"from": "triaging", "to": "ignored", "reason": ""}')`;
    expect(await fires()).toMatchObject({ kind: 'repeated', incidentId: id });
    const record = await until(id, 'ignored');
    expect(shown(record, 'again:2')).toContain('nothing to investigate');
    expect(shown(record, 'again:2')).toContain('sentry_investigate');
    expect(await core.investigate(id, 'U0NOAH')).toMatchObject({ ok: true });
    expect((await until(id, 'reported', 2)).incident.endedAt).toBeNull();
  });

  test('its button does nothing twice, nothing where something works, and nothing beside a newer incident', async () => {
    const id = await reported();
    const answers = await Promise.all([1, 2, 3].map(() => core.investigate(id, 'U0NOAH')));
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
    await until(id, 'reported', 2);
    await core.steering.stop(id, 'U0NOAH', '');
    expect(await core.investigate(id, 'U0NOAH')).toMatchObject({ code: 'STOPPED' });
    expect(await core.investigate(asIncidentId('INC-999999'), 'U0NOAH')).toMatchObject({ ok: false });
    await core.sql`UPDATE incident SET state = 'ignored', ended_at = clock_timestamp() - interval '1 day' WHERE id = ${id}`;
    const next = await opened();
    expect(next).not.toBe(id);
    expect(await core.investigate(id, 'U0NOAH')).toMatchObject({ code: 'HAS_SUCCESSOR' });
  });
});

describe('an alert that comes and goes', () => {
  /** Its source calls it over, Sentry ends it, and it fires again. */
  async function flip(id: IncidentId): Promise<void> {
    await ends();
    await until(id, 'resolved');
    await fires();
  }

  /** Until it is found to flap. */
  async function flapping(): Promise<IncidentRecord> {
    const id = await reported();
    for (const round of [2, 3, 4]) {
      await flip(id);
      await until(id, 'reported', round);
    }
    await flip(id);
    return waitFor('the flapping', async () => {
      const record = await core.records.load(id);
      return record?.incident.flappingUntil && record.incident.state === 'reported' ? record : null;
    });
  }

  /** As if it had been quiet for as long as it takes. */
  const quietFor = async (id: IncidentId) => {
    await core.sql`UPDATE incident SET flapping_until = clock_timestamp() - interval '1 s' WHERE id = ${id}`;
    await core.sql`SELECT sentry_enqueue_turn(${id}, 'quiet?', 0)`;
  };

  test('is looked into no more at each flip, and said in one line that counts', async () => {
    const found = await flapping();
    const { id } = found.incident;
    expect(found.incident).toMatchObject({ round: 4, occurrences: 5 });
    const line = slots(found).at(-1);
    expect(JSON.stringify(line)).toMatch(/Flapping: 4 times in .*sentry_investigate/);
    expect(shown(found, 'root')).toContain('Flapping');

    for (const times of [5, 6]) {
      await ends();
      await fires();
      const record = await until(id, 'reported');
      expect(shown(record, line?.slot ?? '')).toContain(`Flapping: ${times} times`);
      expect(slots(record).map(({ slot }) => slot)).toEqual(slots(found).map(({ slot }) => slot));
      expect(record.toolCalls).toHaveLength(found.toolCalls.length);
    }
    // All times are on record.
    const story = why((await core.records.load(id)) as IncidentRecord);
    expect(story).toMatch(/it comes and goes: it fired again 4 times, at 20/);
    expect(story).toContain('fired again (7 times now');
  }, 60_000);

  test('ends once it has been quiet, and not before', async () => {
    const { id } = (await flapping()).incident;
    await ends();
    await core.sql`SELECT sentry_enqueue_turn(${id}, 'any', 0)`;
    await core.sql`SELECT sentry_enqueue_turn(${id}, 'quiet?', 0)`;
    await waitFor('the turns', async () => {
      const waiting = await core.sql`
        SELECT 1 FROM dbos.workflow_status
         WHERE queue_partition_key = ${id} AND status IN ('ENQUEUED', 'PENDING')`;
      return waiting.length === 0;
    });
    expect((await core.records.incident(id))?.state).toBe('reported');
    await quietFor(id);
    const over = await until(id, 'resolved');
    expect(over.incident).toMatchObject({ resolvedBy: 'source', flappingUntil: null });
  }, 60_000);

  test('is looked into again once it stays, and when somebody asks', async () => {
    const steady = (await flapping()).incident;
    await quietFor(steady.id);
    const looked = await until(steady.id, 'reported', 5);
    expect(why(looked)).toContain('It no longer comes and goes');

    fingerprint = randomUUID().replaceAll('-', '');
    const { id } = (await flapping()).incident;
    expect(await core.investigate(id, 'U0NOAH')).toMatchObject({ ok: true });
    await until(id, 'reported', 5);
    // Counted anew.
    await flip(id);
    expect((await until(id, 'reported', 6)).incident.flappingUntil).toBeNull();
  }, 60_000);
});

test('an alert whose end came first is on record, over, and nobody looked into it', async () => {
  expect(await ends()).toMatchObject({ kind: 'orphan_resolved' });
  const { incidentId } = await fires({ startsAt: new Date(Date.now() - 60_000).toISOString() });
  if (!incidentId) throw new Error('not accepted');
  const record = await until(incidentId, 'resolved');
  expect(record.incident.resolvedBy).toBe('source');
  expect(record.toolCalls).toEqual([]);
  expect(slots(record).map(({ slot }) => slot)).toEqual(['root', 'summary:1']);
});

describe('an incident of which nothing more is heard', () => {
  const silentFor = (id: IncidentId, ago: string) => core.sql`
    UPDATE incident SET updated_at = clock_timestamp() - ${ago}::interval, opened_at = clock_timestamp() - ${ago}::interval
     WHERE id = ${id}`;
  /** All turns that were asked for have come. */
  const settled = (id: IncidentId) =>
    waitFor('its turns', async () => {
      const waiting = await core.sql`
        SELECT 1 FROM dbos.workflow_status
         WHERE queue_partition_key = ${id} AND status IN ('ENQUEUED', 'PENDING')`;
      return waiting.length === 0;
    });

  test('ends after 7 days on nobody’s word, says so, and is not called fixed', async () => {
    const id = await reported();
    await silentFor(id, '8 days');
    await sweepSilent(core.sql, core.confirmation);
    const record = await until(id, 'resolved');
    expect(record.incident).toMatchObject({ resolvedBy: null, verdict: null });
    expect(shown(record, 'root')).toContain('Over · nothing more was heard of its alert');
    expect(shown(record, 'summary:1')).toContain('Whether the problem is gone is not known.');
  });

  test('does not while its alert is sent again, and not where nobody would tell of its end', async () => {
    const [young, byHand, heard] = [await reported(), await again(), await again()];
    await silentFor(young, '6 days');
    await silentFor(heard, '8 days');
    await fires();
    await core.sql`UPDATE alert_state SET source = 'hand' WHERE incident_id = ${byHand}`;
    await silentFor(byHand, '8 days');
    await sweepSilent(core.sql, core.confirmation);
    // Asked for although it was heard of since.
    await core.sql`SELECT sentry_enqueue_turn(${heard}, 'silent?', 0)`;
    for (const id of [young, heard, byHand]) {
      await settled(id);
      expect((await core.records.incident(id))?.state, id).toBe('reported');
    }
  });

  test('ends although a hundred older ones may not be, and although its details are deleted', async () => {
    const [refused, id] = [await reported(), await again()];
    await silentFor(refused, '9 days');
    await silentFor(id, '8 days');
    await core.sql`UPDATE incident SET details_deleted_at = clock_timestamp() WHERE id = ${id}`;
    await core.sql`UPDATE alert_state SET source = 'hand' WHERE incident_id = ${refused}`;
    await core.sql`
      INSERT INTO incident
      SELECT (jsonb_populate_record(i, jsonb_build_object('id', 'INC-9000' || n, 'fingerprint', 'silent' || n))).*
        FROM incident i, generate_series(1, 100) AS n WHERE i.id = ${refused}`;
    await sweepSilent(core.sql, core.confirmation);
    await until(id, 'resolved');
    const asked = await core.sql`
      SELECT 1 FROM dbos.workflow_status WHERE queue_partition_key LIKE 'INC-9000%'`;
    expect(asked).toHaveLength(0);
    await core.sql`DELETE FROM incident WHERE id LIKE 'INC-9000%'`;
  });

  test('does not while a sender that tells of it once has told of no end, and does once it has', async () => {
    const id = await reported();
    await core.sql`
      INSERT INTO alert_state (incident_id, source, fingerprint, firing) VALUES (${id}, 'cloudwatch', ${fingerprint}, true)`;
    await silentFor(id, '8 days');
    const ask = async () => {
      await sweepSilent(core.sql, core.confirmation);
      await core.sql`SELECT sentry_enqueue_turn(${id}, 'silent?', 0)`;
      await settled(id);
    };
    await ask();
    expect((await core.records.incident(id))?.state).toBe('reported');
    await core.sql`UPDATE alert_state SET firing = false WHERE incident_id = ${id} AND source = 'cloudwatch'`;
    await ask();
    await until(id, 'resolved');
  });

  test('does not when it is heard of while it is about to end', async () => {
    const id = await reported();
    await silentFor(id, '8 days');
    await core.sql.begin(async (tx) => {
      await tx`UPDATE incident SET updated_at = clock_timestamp() WHERE id = ${id}`;
      await core.sql`SELECT sentry_enqueue_turn(${id}, 'silent?', 0)`;
      await waitFor('the turn to wait for the alert', async () => {
        const waits = await core.sql`
          SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
        return waits.length > 0;
      });
    });
    await settled(id);
    expect((await core.records.incident(id))?.state).toBe('reported');
  });

  /** One more, of another alert. */
  async function again(): Promise<IncidentId> {
    fingerprint = randomUUID().replaceAll('-', '');
    return reported();
  }
});
