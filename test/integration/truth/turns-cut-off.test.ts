import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Investigation, Investigator } from '../../../src/agents/ports.ts';
import type { Action } from '../../../src/core/action.ts';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { IncidentState } from '../../../src/core/incident.ts';
import { defineActiveTool, type Tool } from '../../../src/tools/define.ts';
import {
  boxAlert,
  boxInvestigator,
  boxTools,
  type Core,
  createCore,
  type Machine,
} from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import type { Row } from '../../support/typed.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Turns that end half-way: what they had read is of its moment, and what they had proposed stands in nobody's way. */
let machine: Machine;
let database: ScratchDatabase;
let core: Core;
let plans: Investigator['plan'];
/** Called before an event is written; throws, or never ends, when it is not to be. */
let writing: (event: IncidentEventBody) => void | Promise<void>;
/** Called whenever the state that an action would change is read. */
let preflighted: () => Promise<void>;

const tools = (): readonly Tool[] =>
  boxTools(machine).map((tool) =>
    tool.kind === 'active'
      ? defineActiveTool({
          ...tool,
          preflight: async (context, input) => {
            await preflighted();
            return tool.preflight(context, input);
          },
        })
      : tool,
  );

async function start(): Promise<Core> {
  const started = await createCore({
    url: database.url,
    tools: tools(),
    investigator: { ...boxInvestigator, plan: (work, diagnosis) => plans(work, diagnosis) },
    records: (records) => ({
      ...records,
      append: async (tx, id, body, key) => {
        await writing(body);
        return records.append(tx, id, body, key);
      },
    }),
  });
  await started.start();
  return started;
}

beforeEach(async () => {
  machine = { broken: true, generation: 1, effects: 0, helps: true };
  plans = boxInvestigator.plan;
  writing = () => undefined;
  preflighted = async () => undefined;
  database = await scratchDatabase({ migrate: true });
  core = await start();
});
afterEach(async () => {
  await core.stop();
  await database.drop();
});

const opened = async (): Promise<IncidentId> => (await core.accept(boxAlert())).incidentId as IncidentId;

async function until(id: IncidentId, state: IncidentState): Promise<void> {
  let seen: unknown;
  await waitFor(
    `${id} to be ${state}`,
    async () => {
      seen = (await core.records.incident(id))?.state;
      return seen === state;
    },
    { timeoutMs: 60_000, seen: () => seen },
  );
}

const actionsOf = async (id: IncidentId): Promise<readonly Action[]> =>
  (await core.records.load(id))?.actions ?? [];

async function proposedBy(id: IncidentId): Promise<Action> {
  await waitFor('a proposal', async () => (await actionsOf(id)).some(({ state }) => state === 'proposed'));
  return (await actionsOf(id)).findLast(({ state }) => state === 'proposed') as Action;
}

const approve = ({ id, planHash }: Action) =>
  core.approvals.decide({
    actionId: id,
    planHash,
    by: 'UONCALL',
    decision: 'approve',
    reason: '',
    anotherWay: false,
  });

async function approved(work: Investigation): Promise<void> {
  await waitFor('an approval', async () =>
    (await actionsOf(work.incident.id)).some(({ state }) => state === 'approved'),
  );
}

describe('a plan that was approved before its turn had ended', () => {
  test('is the plan when the turn is tried again, whatever that would have proposed', async () => {
    let tries = 0;
    plans = async (work) => {
      tries += 1;
      if (tries > 1) throw new Error('asked for another plan though one is approved');
      await boxInvestigator.plan(work, {} as never);
      await approved(work);
      throw new Error('the turn died after it had proposed');
    };
    const id = await opened();
    expect(await approve(await proposedBy(id))).toMatchObject({ ok: true });
    await until(id, 'resolved');
    expect(await actionsOf(id)).toMatchObject([{ state: 'succeeded' }]);
    expect(machine.effects).toBe(1);
  }, 90_000);

  test('is withdrawn when the turn ends without a plan, and blocks none after it', async () => {
    plans = async (work, diagnosis) => {
      await boxInvestigator.plan(work, diagnosis);
      await approved(work);
      return { kind: 'none', reason: 'It looked different in the end.' };
    };
    const id = await opened();
    expect(await approve(await proposedBy(id))).toMatchObject({ ok: true });
    await until(id, 'reported');
    expect(await actionsOf(id)).toMatchObject([{ state: 'void' }]);
    plans = boxInvestigator.plan;
    expect(await core.steering.hint(id, 'UONCALL', 'mend the box')).toMatchObject({ ok: true });
    await until(id, 'awaiting_approval');
    expect(machine.effects).toBe(0);
  }, 90_000);

  test('of an earlier planning is withdrawn before the next one plans', async () => {
    const id = await opened();
    const first = await proposedBy(id);
    await until(id, 'awaiting_approval');
    // As a process that died between two versions of the code could leave it.
    await core.sql`UPDATE action SET state = 'approved', decided_by = 'UONCALL' WHERE id = ${first.id}`;
    await core.sql`UPDATE incident SET state = 'reported' WHERE id = ${id}`;
    expect(await core.steering.hint(id, 'UONCALL', 'mend it another way')).toMatchObject({ ok: true });
    await until(id, 'awaiting_approval');
    expect(await actionsOf(id)).toMatchObject([{ state: 'void' }, { state: 'proposed' }]);
  }, 90_000);

  test('and has begun is never withdrawn', async () => {
    const id = await opened();
    const first = await proposedBy(id);
    await until(id, 'awaiting_approval');
    await core.sql`UPDATE action SET state = 'started', decided_by = 'UONCALL' WHERE id = ${first.id}`;
    await core.sql`UPDATE incident SET state = 'reported' WHERE id = ${id}`;
    expect(await core.steering.hint(id, 'UONCALL', 'mend it another way')).toMatchObject({ ok: true });
    await waitFor('the next planning', async () => {
      const events = (await core.records.load(id))?.events ?? [];
      return events.some(({ type }) => type === 'plan.none');
    });
    expect(await actionsOf(id)).toMatchObject([{ state: 'started' }]);
  }, 90_000);
});

test('a decision is read again by a turn that is tried again', async () => {
  const id = await opened();
  const first = await proposedBy(id);
  await until(id, 'awaiting_approval');
  let failed = false;
  preflighted = async () => {
    if (failed) return;
    failed = true;
    const reason = 'Somebody has said no to it elsewhere.';
    await core.sql.begin((tx) => core.approvals.void(tx, first, reason));
    throw Object.assign(new Error('write CONNECTION_CLOSED'), { code: 'CONNECTION_CLOSED' });
  };
  // The turn that the decision asks for is the only one that could see it.
  await waitFor('the turns before it to end', async () => {
    const [row] = await core.sql<Row>`
      SELECT count(*)::int AS n FROM dbos.workflow_status
       WHERE queue_partition_key = ${id} AND status IN ('ENQUEUED', 'PENDING')`;
    return row?.['n'] === 0;
  });
  expect(await approve(first)).toMatchObject({ ok: true });
  await waitFor('another plan', async () => (await actionsOf(id)).length === 2, { timeoutMs: 60_000 });
  expect(await actionsOf(id)).toMatchObject([{ state: 'void' }, { state: 'proposed' }]);
}, 90_000);

describe('a look at the live system', () => {
  async function verifying(): Promise<IncidentId> {
    const id = await opened();
    const first = await proposedBy(id);
    await until(id, 'awaiting_approval');
    expect(await approve(first)).toMatchObject({ ok: true });
    return id;
  }

  test('is taken again by a turn that is tried again', async () => {
    let failed = 0;
    writing = (event) => {
      // Three times: then each of the turns that come after the run has looked while the box was whole.
      if (event.type !== 'verification.concluded' || failed === 3) return;
      failed += 1;
      machine.broken = failed === 3;
      throw Object.assign(new Error('write CONNECTION_CLOSED'), { code: 'CONNECTION_CLOSED' });
    };
    const id = await verifying();
    await waitFor('a conclusion', async () => (await conclusions(id)).length > 0, { timeoutMs: 60_000 });
    expect(await conclusions(id)).toMatchObject([{ verdict: 'not_fixed' }]);
  }, 90_000);

  test('of before a long interruption is no conclusion of now', async () => {
    let cut: () => void = () => undefined;
    const isCut = new Promise<void>((resolve) => {
      cut = resolve;
    });
    writing = async (event) => {
      if (event.type !== 'verification.concluded') return;
      cut();
      throw new Error('cut off');
    };
    const id = await verifying();
    await isCut;
    await core.stop();
    machine.broken = true;
    writing = () => undefined;
    const { openDatabase } = await import('../../../src/infra/db/client.ts');
    const { sql, close } = openDatabase(database.url);
    await sql`UPDATE criterion_reading SET at = at - interval '3 hours'`;
    await close();
    core = await start();
    await waitFor('a conclusion', async () => (await conclusions(id)).length > 0, { timeoutMs: 60_000 });
    expect(await conclusions(id)).toMatchObject([{ verdict: 'not_fixed' }]);
  }, 90_000);
});

const conclusions = async (id: IncidentId) =>
  ((await core.records.load(id))?.events ?? []).filter(({ type }) => type === 'verification.concluded');
