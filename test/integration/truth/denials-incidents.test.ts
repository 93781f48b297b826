import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { MessagesRequest } from '../../../playground/claude/scenario.ts';
import { createScriptedClaude, type ScriptedClaude } from '../../../playground/claude/scripted-claude.ts';
import { createClaude } from '../../../src/agents/claude/create-claude.ts';
import type { Action } from '../../../src/core/action.ts';
import type { IncidentEvent } from '../../../src/core/event.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import { createChangeOfMind } from '../../../src/incidents/after-all.ts';
import { createAnthropicBackend } from '../../../src/llm/anthropic.ts';
import { createModelGateway } from '../../../src/llm/gateway.ts';
import { boxAlert, boxTools, type Core, createCore, type Machine } from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Whole incidents on the real engine, in two processes, by the playbook and by a scripted Claude: a No and what follows it. */
const machine: Machine = { broken: true, generation: 1, effects: 0, helps: true };
const people = ['UONCALL', 'USECOND'].map((id) => ({ kind: 'user', id }) as const);
let database: ScratchDatabase;
let claude: ScriptedClaude;
let core: Core;
let modelled: Core;

beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  claude = await createScriptedClaude({ scenario: () => ({}) });
  const tools = boxTools(machine);
  core = await createCore({ url: database.url, tools, approvers: people });
  // Not started: its incidents are worked by the first process, unless a test starts one with a model.
  modelled = await createCore({
    url: database.url,
    tools,
    approvers: people,
    claude: createClaude({
      llm: createModelGateway({
        backend: createAnthropicBackend({ apiKey: 'k', baseUrl: claude.url, idleMs: 5_000 }),
        retry: { baseDelayMs: 1, maxAttempts: 2 },
      }),
      tools,
      targets: ['box'],
      toolCalls: async (id: IncidentId) => (await core.records.load(id))?.toolCalls ?? [],
    }),
  });
});
beforeAll(() => core.start());
afterAll(async () => {
  claude.release();
  await core.stop();
  await modelled.stop();
  await claude.close();
  await database.drop();
});
beforeEach(async () => {
  Object.assign(machine, { broken: true, generation: machine.generation + 1, effects: 0, helps: true });
  await core.sql`DELETE FROM denial`;
});

async function open(): Promise<IncidentId> {
  const { incidentId } = await core.accept(boxAlert());
  if (!incidentId) throw new Error('not accepted');
  return incidentId;
}

async function until(id: IncidentId, state: string): Promise<void> {
  let seen: string | undefined;
  await waitFor(
    `${id} to be ${state}`,
    async () => {
      seen = (await core.records.incident(id))?.state;
      return seen === state;
    },
    { seen: () => seen, timeoutMs: 40_000 },
  );
}

/** The card that waits for its decision, other than those known. */
async function card(id: IncidentId, known: readonly Action[] = []): Promise<Action> {
  return waitFor(
    `a card of ${id}`,
    async () => {
      const { incident, actions = [] } = (await core.records.load(id)) ?? {};
      const found = actions.find(
        (action) => action.state === 'proposed' && !known.some((each) => each.id === action.id),
      );
      return incident?.state === 'awaiting_approval' ? found : undefined;
    },
    { timeoutMs: 40_000 },
  );
}

const decide = async (
  action: Action,
  decision: 'approve' | 'deny',
  more: { readonly by?: string; readonly anotherWay?: boolean; readonly scope?: 'object' | 'action' } = {},
) => {
  const decided = await core.approvals.decide({
    actionId: action.id,
    planHash: action.planHash,
    by: more.by ?? 'UONCALL',
    decision,
    reason: decision === 'deny' ? 'I am working in it' : '',
    anotherWay: more.anotherWay ?? false,
    reach: { scope: more.scope ?? 'object', minutes: 60 },
  });
  expect(decided).toMatchObject({ ok: true });
};

const eventsOf = async (id: IncidentId): Promise<readonly IncidentEvent[]> =>
  (await core.records.load(id))?.events ?? [];
const done = (id: IncidentId) => core.steering.stop(id, 'UONCALL', 'done');

describe('a No of one incident', () => {
  test('is on the card of the next one, which runs by its own approval only', async () => {
    const first = await open();
    const denied = await card(first);
    await decide(denied, 'deny');
    await until(first, 'reported');
    const second = await open();
    const next = await card(second);
    expect(next.denialsAcknowledged).toHaveLength(1);
    expect(machine.effects).toBe(0);
    await decide(next, 'approve', { by: 'USECOND' });
    await until(second, 'resolved');
    expect(machine.effects).toBe(1);
    await done(first);
  });

  test('takes back what another had approved and not begun, and that one asks again with it', async () => {
    const [one, two] = [await open(), await open()];
    const [cardOfOne, cardOfTwo] = [await card(one), await card(two)];
    // Nothing begins meanwhile: something else has not ended on the box.
    await core.sql`
      INSERT INTO action (id, incident_id, round, state, tool, target, input, command, plan_hash, guard, why, blast_radius,
                          preflight, undo, risk, verify, audit_only, expires_at, started_at, done_by, identity)
      VALUES ('act_busybusybusy', ${await open()}, 9, 'unknown', 't', 'box', '{}', 'c', 'h', '{}', '', '', '{}', '', 'low', '{}',
              false, now(), now(), now() + interval '1 hour', '1')`;
    await decide(cardOfTwo, 'approve', { by: 'USECOND' });
    await decide(cardOfOne, 'deny');
    const again = await card(two, [cardOfTwo]);
    expect(again.denialsAcknowledged).toHaveLength(1);
    expect(again.planHash).not.toBe(cardOfTwo.planHash);
    expect(await core.records.action(cardOfTwo.id)).toMatchObject({ state: 'void' });
    expect(machine.effects).toBe(0);
    await core.sql`DELETE FROM action WHERE id = 'act_busybusybusy'`;
    for (const id of [one, two]) await done(id);
  });

  test('is on the card that a limit had kept back, when it is asked for again', async () => {
    const [one, two] = [await open(), await open()];
    await card(one);
    const known = await card(two);
    await core.sql`UPDATE action SET state = 'void' WHERE incident_id = ${two}`;
    await core.sql`
      UPDATE incident SET state = 'reported', asks_again_at = clock_timestamp() WHERE id = ${two}`;
    await decide(await card(one), 'deny');
    await core.sql`SELECT sentry_enqueue_turn(${two}, 'ask again', 0)`;
    expect((await card(two, [known])).denialsAcknowledged).toHaveLength(1);
    expect(machine.effects).toBe(0);
    for (const id of [one, two]) await done(id);
  });

  test('links two incidents of one system, on both sides', async () => {
    const one = await open();
    await card(one);
    const two = await open();
    await card(two);
    expect(await eventsOf(two)).toContainEqual(
      expect.objectContaining({
        type: 'incident.related',
        began: 'before',
        incidents: expect.arrayContaining([one]),
      }),
    );
    expect(await eventsOf(one)).toContainEqual(
      expect.objectContaining({ type: 'incident.related', began: 'since', incidents: [two] }),
    );
    for (const id of [one, two]) await done(id);
  });
});

describe('another way', () => {
  test('is another plan, or an honest none: what was denied is not asked for, and not called tried', async () => {
    const id = await open();
    await decide(await card(id), 'deny', { anotherWay: true });
    // Every way of this tool touches the box.
    await until(id, 'reported');
    const events = await eventsOf(id);
    const none = events.findLast((event) => event.type === 'plan.none');
    expect(none).toMatchObject({ reason: expect.stringContaining('A person said no to the box') });
    expect(JSON.stringify(events)).not.toMatch(/did not help/);
    expect((await core.records.incident(id))?.nextStep).toMatch(/“Approve after all” on its card/);
    await done(id);
  });

  test('may do something else where only that very action was denied', async () => {
    const id = await open();
    const denied = await card(id);
    await decide(denied, 'deny', { anotherWay: true, scope: 'action' });
    const other = await card(id, [denied]);
    expect(other.command).not.toBe(denied.command);
    expect(other.denialsAcknowledged).toEqual([]);
    await done(id);
  });
});

describe('a change of mind', () => {
  const mind = () => createChangeOfMind({ ...core, policy: core.policy });
  const click = (action: Action, by = 'UONCALL') => ({ actionId: action.id, planHash: action.planHash, by });

  test('asks for it again by a new card with the No on it, which still needs its approval', async () => {
    const id = await open();
    const denied = await card(id);
    await decide(denied, 'deny');
    await until(id, 'reported');
    expect(await mind().askAgain(click(denied, 'USTRANGER'))).toMatchObject({
      ok: false,
      code: 'NOT_AN_APPROVER',
    });
    expect(await mind().askAgain(click(denied))).toEqual({ ok: true, text: null });
    const again = await card(id, [denied]);
    expect(again).toMatchObject({ command: denied.command, denialsAcknowledged: [expect.any(String)] });
    expect(await mind().askAgain(click(denied))).toMatchObject({ ok: false, code: 'AT_WORK' });
    expect(machine.effects).toBe(0);
    await decide(again, 'approve');
    await until(id, 'resolved');
    expect(machine.effects).toBe(1);
  });

  test('takes the No back: it stands nowhere, and is asked for anew; once, and not by a stranger', async () => {
    const [id, other] = [await open(), await open()];
    const denied = await card(id);
    await card(other);
    await decide(denied, 'deny');
    await until(id, 'reported');
    expect(await mind().takeBack(click(denied, 'USTRANGER'))).toMatchObject({
      ok: false,
      code: 'NOT_AN_APPROVER',
    });
    expect(await mind().takeBack(click(denied, 'USECOND'))).toEqual({ ok: true, text: null });
    expect(await card(id, [denied])).toMatchObject({ denialsAcknowledged: [] });
    expect(await mind().takeBack(click(denied))).toMatchObject({ ok: false, code: 'TAKEN_BACK_ALREADY' });
    expect((await core.records.load(id))?.denials).toMatchObject([{ takenBackBy: 'USECOND' }]);
    for (const each of [id, other]) await done(each);
  });

  test('of another’s No is for who may approve the very thing: not for who asked for it', async () => {
    const id = await open();
    const denied = await card(id);
    await decide(denied, 'deny', { by: 'USECOND' });
    await until(id, 'reported');
    await core.sql`UPDATE incident SET requesters = ARRAY['UONCALL', 'USECOND'] WHERE id = ${id}`;
    const strict = createChangeOfMind({
      ...core,
      policy: {
        mayDecide: async (user, action, incident, decision) =>
          decision === 'approve' && incident.requesters.includes(user)
            ? { ok: false, code: 'SELF_APPROVAL', reason: 'You asked for this yourself.' }
            : core.policy.mayDecide(user, action, incident, decision),
      },
    });
    expect(await strict.takeBack(click(denied))).toMatchObject({ ok: false, code: 'SELF_APPROVAL' });
    // One's own word is one's own.
    expect(await strict.takeBack(click(denied, 'USECOND'))).toMatchObject({ ok: true });
    await done(id);
  });
});

describe('a scripted Claude', () => {
  const offers = (request: MessagesRequest, name: string): boolean =>
    (request.tools ?? []).some((tool) => tool.name === name);

  test('meets a No of another incident, and one of its own, whatever it says of them', async () => {
    const first = await open();
    await decide(await card(first), 'deny');
    await until(first, 'reported');
    await core.engine.stop(2_000);
    await modelled.start();
    let told = '';
    claude.play((request) => {
      if (offers(request, 'report_triage'))
        return { blocks: [{ tool: 'report_triage', input: { severity: 'critical', reason: 'broken' } }] };
      if (offers(request, 'report_diagnosis'))
        return request.messages.length === 1
          ? { blocks: [{ tool: 'box_state', input: { target: 'box' } }] }
          : {
              blocks: [
                {
                  tool: 'report_diagnosis',
                  input: {
                    verdict: 'cause_found',
                    rootCause: 'The box is broken.',
                    confidence: 0.97,
                    evidence: [
                      {
                        claim: 'The box says broken: true.',
                        toolCallIds: [
                          /tc_[a-z0-9]{12}/.exec(JSON.stringify(request.messages.at(-1)))?.[0] ?? '',
                        ],
                        quote: 'broken: true',
                      },
                    ],
                  },
                },
              ],
            };
      if (request.messages.length > 1) {
        told = JSON.stringify(request.messages.at(-1));
        return {
          blocks: [{ tool: 'report_no_action', input: { reason: 'It may not be touched now.' } }],
        };
      }
      return { blocks: [{ tool: 'box_mend', input: { target: 'box', how: 'claude', why: 'nobody minds' } }] };
    });
    const id = await open();
    const asked = await card(id);
    expect(asked.denialsAcknowledged).toHaveLength(1);
    await decide(asked, 'deny', { anotherWay: true });
    await until(id, 'reported');
    expect(told).toContain('A person said no to the box');
    const planned = (await eventsOf(id)).findLast((event) => event.type === 'plan.none');
    expect(planned).toMatchObject({
      reason: 'Claude proposes no action.',
      said: 'It may not be touched now.',
    });
    expect(machine.effects).toBe(0);
  });
});
