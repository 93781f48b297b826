import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { mayReadAgain } from '../../../src/actions/checks/may-read-again.ts';
import { OpsError } from '../../../src/core/errors.ts';
import { type ActionId, asToolCallId, type IncidentId } from '../../../src/core/ids.ts';
import type { IncidentState } from '../../../src/core/incident.ts';
import type { Json } from '../../../src/core/tool-call.ts';
import { openReads } from '../../../src/incidents/failed-reads/open-reads.ts';
import { readHash } from '../../../src/incidents/failed-reads/read-hash.ts';
import {
  createRetryRead,
  type NamedRead,
  type RetryRead,
} from '../../../src/incidents/failed-reads/retry-read.ts';
import { allTools } from '../../../src/targets/all-tools.ts';
import { type ActiveTool, defineReadTool } from '../../../src/tools/define.ts';
import { evidenceTools } from '../../../src/tools/evidence/evidence-tools.ts';
import { memoryToolset } from '../../../src/tools/memory/memory-tools.ts';
import { createRegistry } from '../../../src/tools/registry.ts';
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

const machine: Machine = { broken: true, generation: 1, effects: 0, helps: true };
/** How the box answers who reads it, and how often it was asked. */
const box = {
  reads: 'denied' as 'denied' | 'slow' | 'hangs' | 'ok',
  asked: 0,
  hanging: 0,
  risk: 'low' as 'low' | 'high',
};

const readBox = defineReadTool({
  name: 'box_state',
  description: 'Says whether the box is broken.',
  kind: 'read',
  domain: 'postgres',
  input: z.strictObject({ deep: z.boolean().default(false) }),
  timeoutMs: 5_000,
  async run({ signal }) {
    box.asked += 1;
    if (box.reads === 'hangs') {
      box.hanging += 1;
      await new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
      );
    }
    if (box.reads === 'denied')
      throw new OpsError('POSTGRES_42501', 'permission denied for the box', { hint: 'Grant it.' });
    if (box.reads === 'slow') throw new OpsError('TIMEOUT', 'No answer within 5 s.', { hint: 'Again.' });
    return { text: `broken: ${machine.broken}`, data: { broken: machine.broken } };
  },
});

let database: ScratchDatabase;
let core: Core;
let readAgain: RetryRead;

beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  const mend = boxTools(machine).find((tool) => tool.kind === 'active') as ActiveTool<{ how: string }, Json>;
  const atRisk: typeof mend = {
    ...mend,
    preflight: async (context, input) => ({ ...(await mend.preflight(context, input)), risk: box.risk }),
  };
  const tools = [readBox, atRisk];
  core = await createCore({
    url: database.url,
    tools,
    investigator: boxInvestigator,
    approvers: [
      { kind: 'user', id: 'UONCALL' },
      { kind: 'user', id: 'UOTHER' },
    ],
  });
  readAgain = createRetryRead(core, { mayAsk: (user) => core.policy.mayAsk(user), readerOf: () => 'ro' });
  await core.start();
});
afterAll(async () => {
  await core.stop();
  await database.drop();
});
beforeEach(() => {
  Object.assign(machine, { broken: true, generation: 1, effects: 0, helps: true });
  Object.assign(box, { reads: 'denied', asked: 0, hanging: 0, risk: 'low' });
});
afterEach(() => expect(machine.effects, 'nothing was changed by any button').toBe(0));

const until = (id: IncidentId, state: IncidentState) =>
  waitFor(`${id} to be ${state}`, async () => (await core.records.incident(id))?.state === state);

async function recordOf(id: IncidentId) {
  const record = await core.records.load(id);
  if (!record) throw new Error('no record');
  return record;
}

const ended = (id: IncidentId, count = 1) =>
  waitFor('the read to be over', async () => {
    const done = (await recordOf(id)).events.filter((event) => event.type === 'read.finished');
    return done.length === count ? done : null;
  });

/** An incident that could not be told the cause of, and its button. */
async function reported(reads: typeof box.reads = 'denied'): Promise<{ id: IncidentId; button: NamedRead }> {
  box.reads = reads;
  const { incidentId: id } = await core.accept(boxAlert());
  if (!id) throw new Error('not accepted');
  await until(id, 'reported');
  return { id, button: await buttonOf(id) };
}

async function buttonOf(incidentId: IncidentId): Promise<NamedRead> {
  const [open] = openReads(await recordOf(incidentId));
  if (!open) throw new Error('there is no button');
  return { incidentId, toolCallId: open.call.id, hash: open.hash };
}

const press = (button: NamedRead, by = 'UONCALL') => readAgain.ask(button, by);

describe('Run it', () => {
  test('makes a read again that came too late, and the incident goes on to its cause', async () => {
    const { id, button } = await reported('slow');
    expect(openReads(await recordOf(id))).toMatchObject([{ why: { way: 'run' } }]);
    box.reads = 'ok';
    expect(await press(button)).toMatchObject({ ok: true });
    await until(id, 'awaiting_approval');
    const record = await recordOf(id);
    const finished = record.events.find((event) => event.type === 'read.finished');
    expect(record.incident).toMatchObject({ round: 2, requesters: ['UONCALL'] });
    expect(finished).toMatchObject({ by: 'UONCALL', of: button.toolCallId, readable: true });
    // Its evidence is that of a detective's read, by a credential that is over.
    const call = record.toolCalls.find(
      (each) => finished?.type === 'read.finished' && each.id === finished.toolCallId,
    );
    expect(call).toMatchObject({ role: 'detective', tool: 'box_state', input: { deep: false }, state: 'ok' });
    // Minted for this one tool.
    const [minted] = await core.sql<Row>`
      SELECT body FROM audit_entry WHERE body::jsonb->>'kind' = 'credential.minted' AND body::jsonb->>'incident' = ${id}
         AND body LIKE '%box_state%'`;
    expect(String(minted?.['body'])).toContain('"tools":["box_state"]');
  });

  test('counts as evidence of the round that it begins', async () => {
    const { id, button } = await reported('slow');
    box.reads = 'ok';
    await press(button);
    await until(id, 'awaiting_approval');
    const { events } = await recordOf(id);
    const types = events.map(({ type }) => type);
    const at = types.lastIndexOf('read.finished');
    expect(types[at - 1]).toBe('tool.called');
    expect(events[at + 1]).toMatchObject({ type: 'state.changed', to: 'diagnosing' });
  });
});

describe('Check again', () => {
  test('says what to grant, reads once more for whoever did, and stays when it is still missing', async () => {
    const { id, button } = await reported();
    expect(await readAgain.grant(button, 'UONCALL')).toMatchObject({
      ok: true,
      exact: 'GRANT pg_monitor TO ro;',
    });
    expect(await press(button)).toMatchObject({ ok: true });
    await ended(id);
    expect((await recordOf(id)).incident).toMatchObject({ state: 'reported', round: 1 });
    // The card has another button now: the old one is out of date.
    expect(await press(button)).toMatchObject({ ok: false, code: 'STALE' });
    expect(await press(await buttonOf(id))).toMatchObject({ ok: true });
    await ended(id, 2);
  });
});

describe('a press', () => {
  test('of many people at once is one read', async () => {
    const { id, button } = await reported();
    box.asked = 0;
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => press(button, n % 2 === 0 ? 'UONCALL' : 'UOTHER')),
    );
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
    for (const no of answers) if (!no.ok) expect(['ASKED_ALREADY', 'STALE']).toContain(no.code);
    await ended(id);
    expect(box.asked).toBe(1);
  });

  test('that names anything but the read on the card is refused, and on record', async () => {
    const [{ button }, { button: other }] = [await reported(), await reported()];
    box.asked = 0;
    const forged: readonly NamedRead[] = [
      { ...button, toolCallId: other.toolCallId, hash: other.hash },
      { ...button, incidentId: other.incidentId },
      { ...button, hash: other.hash },
      { ...button, toolCallId: 'tc_000000000000' },
    ];
    for (const each of forged) expect(await press(each)).toMatchObject({ ok: false, code: 'STALE' });
    const entries = await core.sql`
      SELECT FROM audit_entry WHERE body::jsonb->>'kind' = 'read.refused' AND body LIKE '%"STALE"%'
         AND body::jsonb->>'incident' IN (${button.incidentId}, ${other.incidentId})`;
    expect(entries).toHaveLength(forged.length);
    expect(box.asked).toBe(0);
  });

  test('of a stranger is refused, whichever button', async () => {
    const { button } = await reported();
    expect(await press(button, 'USTRANGER')).toMatchObject({ ok: false, code: 'MAY_NOT_ASK' });
    expect(await readAgain.grant(button, 'USTRANGER')).toMatchObject({ ok: false, code: 'MAY_NOT_ASK' });
  });

  test('while a turn runs, when it is stopped, and after the end says so', async () => {
    const { id, button } = await reported();
    await core.sql`UPDATE incident SET state = 'diagnosing' WHERE id = ${id}`;
    expect(await press(button)).toMatchObject({ ok: false, code: 'BUSY' });
    await core.sql`UPDATE incident SET state = 'reported' WHERE id = ${id}`;
    await core.steering.stop(id, 'UONCALL', 'enough');
    expect(await press(button)).toMatchObject({ ok: false, code: 'STOPPED' });
    await core.steering.resume(id, 'UONCALL');
    await core.sql`UPDATE incident SET state = 'resolved', ended_at = clock_timestamp() WHERE id = ${id}`;
    expect(await press(button)).toMatchObject({
      ok: false,
      code: 'ENDED',
      reason: expect.stringContaining('has ended'),
    });
  });

  test('is called off by Stop, and made after Resume', async () => {
    const { id, button } = await reported();
    box.reads = 'hangs';
    await press(button);
    await waitFor('the read to hang', async () => box.hanging > 0);
    expect(await core.steering.stop(id, 'UONCALL', 'enough')).toMatchObject({ ok: true });
    const called = await waitFor('the read to be called off', async () =>
      (await recordOf(id)).toolCalls.find(({ code }) => code === 'STOPPED'),
    );
    expect(called.state).toBe('failed');
    expect((await recordOf(id)).incident.state).toBe('stopped');
    box.reads = 'ok';
    await core.steering.resume(id, 'UONCALL');
    await until(id, 'awaiting_approval');
  });

  test('under the switch reads, and what follows is only shown', async () => {
    const { id, button } = await reported('slow');
    await core.sql`UPDATE switch SET stopped = true, by = 'UADMIN', reason = 'drill' WHERE scope = '*'`;
    try {
      box.reads = 'ok';
      expect(await press(button)).toMatchObject({ ok: true });
      await until(id, 'reported');
      await waitFor('what would be proposed', async () => (await recordOf(id)).actions.length > 0);
      expect((await recordOf(id)).actions).toMatchObject([{ auditOnly: true, state: 'proposed' }]);
    } finally {
      await core.sql`UPDATE switch SET stopped = false WHERE scope = '*'`;
    }
  });
});

describe('no button reaches what changes a system', () => {
  /** Writes into the record what no code of ours writes there. */
  const rewrite = (call: string, tool: string, input: object) =>
    core.sql`UPDATE tool_call SET tool = ${tool}, input = ${core.sql.json(input as never)} WHERE id = ${call}`;

  test('when the recorded call names a tool that acts', async () => {
    const { id, button } = await reported();
    await rewrite(button.toolCallId, 'box_mend', { how: 'now' });
    expect(await press(button)).toMatchObject({ ok: false, code: 'STALE' });
    // With the right hash as well.
    expect(await press(await buttonOf(id))).toMatchObject({ ok: false, code: 'NOT_A_READ' });
    expect((await recordOf(id)).actions).toEqual([]);
  });

  test.each([
    ['names a tool that acts', 'box_mend', { how: 'now' }],
    ['has other arguments', 'box_state', { deep: true }],
  ])('when what was asked for %s by the time it is read', async (_, tool, input) => {
    const { id, button } = await reported();
    box.asked = 0;
    await rewrite(button.toolCallId, tool, input);
    const now = (await core.records.toolCall(asToolCallId(button.toolCallId)))!;
    // Asked for by hand, once with what the person saw and once with what stands there now.
    const hash = tool === 'box_mend' ? readHash(now) : button.hash;
    await core.sql.begin(async (tx) => {
      await core.records.append(tx, id, {
        type: 'read.asked',
        by: 'UONCALL',
        toolCallId: asToolCallId(button.toolCallId),
        readHash: hash,
        tool,
        way: 'run',
      });
      await tx`SELECT sentry_enqueue_turn(${id}, 'read again')`;
    });
    expect(await ended(id)).toMatchObject([{ toolCallId: null, readable: false }]);
    expect(box.asked).toBe(0);
    const record = await recordOf(id);
    expect(record.actions).toEqual([]);
    expect(record.incident.state).toBe('reported');
    expect(openReads(record)).toEqual([]);
  });

  test('whichever tool of the product it is', () => {
    const registry = createRegistry([...allTools, ...evidenceTools, ...memoryToolset]);
    const offered = [...allTools, ...evidenceTools, ...memoryToolset];
    const refused = offered.filter(
      ({ name }) => mayReadAgain(registry, { tool: name, target: 'box', input: {} })?.code === 'NOT_A_READ',
    );
    const others = offered.filter(({ kind }) => !['read', 'diagnostic', 'docs'].includes(kind));
    expect(refused).toEqual(others);
    expect(others.length).toBeGreaterThan(8);
  });

  test('nor a read whose words are not whole, or not those of the tool', () => {
    const registry = createRegistry(allTools);
    const may = (input: never, tool = 'read_file') =>
      mayReadAgain(registry, { tool, target: 'box', input })?.code;
    const whole = { path: '/srv/a', lines: 200, last: false };
    expect(may(whole as never)).toBeUndefined();
    expect(may({ ...whole, path: '/srv/[redacted:email#1]' } as never)).toBe('NOT_REPEATABLE');
    expect(may({ path: '/srv/a' } as never)).toBe('NOT_REPEATABLE');
    expect(may({ ...whole, more: 1 } as never)).toBe('NOT_REPEATABLE');
    expect(may(whole as never, 'nothing_like_it')).toBe('NOT_A_READ');
  });
});

describe('what Approve means stays what it meant', () => {
  const decide = (
    action: { id: ActionId; planHash: string },
    by: string,
    decision: 'approve' | 'deny' = 'approve',
  ) =>
    core.approvals.decide({
      actionId: action.id,
      planHash: action.planHash,
      by,
      decision,
      reason: '',
      anotherWay: false,
    });

  /** A cause that was not readable at first, read at somebody's press, and the card that came of it. */
  async function proposedAfter(presser: string) {
    const { id, button } = await reported('slow');
    box.reads = 'ok';
    expect(await press(button, presser)).toMatchObject({ ok: true });
    await until(id, 'awaiting_approval');
    return { id, button, action: (await recordOf(id)).actions.at(-1)! };
  }

  test('a read button of before, pressed while the card waits, moves neither card nor incident', async () => {
    const { id, button, action } = await proposedAfter('UONCALL');
    expect(await press(button)).toMatchObject({ ok: false, code: 'BUSY' });
    expect((await recordOf(id)).actions).toEqual([action]);
    expect((await recordOf(id)).incident.state).toBe('awaiting_approval');
  });

  test('whoever had it read asked for what comes of it, and may not alone approve what is of high risk', async () => {
    box.risk = 'high';
    const { id, action } = await proposedAfter('UONCALL');
    expect(action.risk).toBe('high');
    expect(await decide(action, 'UONCALL')).toMatchObject({ ok: false, code: 'SELF_APPROVAL' });
    expect((await recordOf(id)).actions).toMatchObject([{ state: 'proposed' }]);
  });

  test('the card of an earlier round approves nothing of a later one', async () => {
    const { id, action } = await proposedAfter('UONCALL');
    expect(await decide(action, 'UOTHER', 'deny')).toMatchObject({ ok: true });
    await until(id, 'reported');
    // Denied, with the cause known: there is nothing left to read, and no button to go round the denial with.
    expect(openReads(await recordOf(id))).toEqual([]);
    box.reads = 'slow';
    await core.steering.hint(id, 'UOTHER', 'look again');
    await waitFor('the report of round 3', async () => {
      const { incident } = await recordOf(id);
      return incident.round === 3 && incident.state === 'reported';
    });
    box.reads = 'ok';
    expect(await press(await buttonOf(id))).toMatchObject({ ok: true });
    await until(id, 'awaiting_approval');
    const next = (await recordOf(id)).actions.at(-1)!;
    expect(next.id).not.toBe(action.id);
    expect(await decide(action, 'UOTHER')).toMatchObject({ ok: false, code: 'ALREADY_DECIDED' });
    expect(await decide({ id: next.id, planHash: action.planHash }, 'UOTHER')).toMatchObject({
      ok: false,
      code: 'PLAN_CHANGED',
    });
    expect((await recordOf(id)).actions.at(-1)).toMatchObject({ state: 'proposed' });
  });

  test('an undo that waits for its second person is never taken for the plan of a later round', async () => {
    const { id } = await reported('slow');
    const credential = core.vault.mint({ role: 'surgeon', incidentId: id, targets: ['box'] });
    const request = { tool: 'box_mend', target: 'box', input: { how: 'back' } };
    const signal = new AbortController().signal;
    const first = await core.gate.call(credential, { ...request, input: { how: 'first' } }, { signal });
    await core.sql`UPDATE action SET state = 'succeeded' WHERE incident_id = ${id}`;
    const undo = { actionId: (first.kind === 'proposed' && first.actionId) as ActionId, by: 'UONCALL' };
    const [back, plan] = [
      await core.gate.call(credential, request, { signal, undo }),
      await core.gate.call(credential, request, { signal }),
    ];
    const { actions } = await recordOf(id);
    expect(actions).toMatchObject([
      { id: undo.actionId, state: 'succeeded' },
      { id: back.kind === 'proposed' && back.actionId, state: 'void', undoes: undo.actionId },
      { id: plan.kind === 'proposed' && plan.actionId, state: 'proposed', undoes: null },
    ]);
  });

  test('two presses and a hint at the same moment leave one course and at most one card', async () => {
    const { id, button } = await reported('slow');
    box.reads = 'ok';
    await Promise.all([press(button), core.steering.hint(id, 'UOTHER', 'look'), press(button, 'UOTHER')]);
    await until(id, 'awaiting_approval');
    const { actions, events } = await recordOf(id);
    expect(actions.filter(({ state }) => state === 'proposed')).toHaveLength(1);
    const rounds = events.filter((event) => event.type === 'state.changed' && event.to === 'diagnosing');
    expect(rounds).toHaveLength(2);
  });
});
