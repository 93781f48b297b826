import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mayRunUnasked } from '../../../../src/actions/policy/autonomy.ts';
import { createUndo, type UndoAnswer } from '../../../../src/actions/undo.ts';
import type { Action } from '../../../../src/core/action.ts';
import { asActionId } from '../../../../src/core/ids.ts';
import { BESIDE_TURN } from '../../../../src/incidents/move.ts';
import { createTurn } from '../../../../src/incidents/turn.ts';
import { createKillSwitch } from '../../../../src/safety/kill-switch/kill-switch.ts';
import { allTools } from '../../../../src/targets/all-tools.ts';
import { createRegistry } from '../../../../src/tools/registry.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import type { Row } from '../../../support/typed.ts';
import { type HostRig, hostRig } from './host-rig.ts';

const GOOD = 'name=worker\nworkers=4\nlevel=info\n';
const PATCHED = GOOD.replace('workers=4', 'workers=8');
const diff =
  '--- a/worker.conf\n+++ b/worker.conf\n@@ -1,3 +1,3 @@\n name=worker\n-workers=4\n+workers=8\n level=info\n';
const policyPath = join(scratchDir(), 'policy.yaml');
const policy = (rule = ''): void =>
  writeFileSync(policyPath, `rules: [{name: all, approvers: [UONCALL, USECOND]${rule}}]\n`);

let rig: HostRig;
let conf: string;
beforeAll(async () => {
  policy();
  rig = await hostRig({ policyPath });
  conf = join(rig.host.dir, 'app', 'worker.conf');
});
beforeEach(async () => {
  policy();
  await rig.core.sql`UPDATE switch SET stopped = false`;
  await rig.core.sql`UPDATE denial SET taken_back_at = clock_timestamp() WHERE taken_back_at IS NULL`;
  await rig.core
    .sql`UPDATE action SET state = 'failed' WHERE state IN ('proposed', 'approved', 'started', 'unknown')`;
  writeFileSync(conf, GOOD);
});
afterAll(() => rig.stop());

const text = (): string => readFileSync(conf, 'utf8');

function undoer(mode: 'AUDIT' | 'ACTIVE' = 'ACTIVE') {
  const { gateDeps, core } = { gateDeps: rig.core.gateDeps, core: rig.core };
  return createUndo({
    ...gateDeps,
    registry: createRegistry(allTools),
    gate: core.gate,
    approvals: core.approvals,
    policy: core.policy,
    killSwitch: createKillSwitch(core.sql, { mode, dataDir: '/nonexistent' }),
    shutdown: new AbortController().signal,
  });
}

/** A patch that ran, in an incident at rest. */
async function patched(
  input: { file_path: string; diff: string } = { file_path: 'worker.conf', diff },
): Promise<Action> {
  const action = await rig.propose('apply_patch', input);
  await rig.execute(await rig.approve(action));
  await rig.core
    .sql`UPDATE incident SET state = 'resolved', verdict = 'fixed' WHERE id = ${action.incidentId}`;
  const ran = await rig.core.records.action(action.id);
  if (ran?.state !== 'succeeded') throw new Error(`the patch is ${ran?.state}: ${ran?.outcome}`);
  return ran;
}

const press = ({ id, planHash }: Action, by = 'UONCALL'): Promise<UndoAnswer> =>
  undoer().press({ actionId: id, planHash, by });
/** As the engine would run it, in a process that has just started. */
const turn = ({ incidentId }: Action): Promise<void> =>
  createTurn(rig.core)(incidentId, BESIDE_TURN, (_, work) => work());
const undosOf = async ({ id }: Action) =>
  (
    await rig.core.sql<Row>`SELECT id, state, outcome FROM action WHERE undoes = ${id} ORDER BY proposed_at`
  ).map((row) => ({ id: String(row['id']), state: row['state'], outcome: String(row['outcome'] ?? '') }));
const audited = async (kind: string, by: string): Promise<number> => {
  const [row] = await rig.core.sql<Row>`
    SELECT count(*)::int AS n FROM audit_entry WHERE body::jsonb->>'kind' = ${kind} AND body::jsonb->>'actor' = ${by}`;
  return Number(row?.['n']);
};

describe('one click on Undo', () => {
  test('puts the file back as it was, once, on record and with its evidence, and the incident stays where it is', async () => {
    const action = await patched();
    expect(undoer().can(action)).toBe(true);
    expect(text()).toBe(PATCHED);
    expect(await press(action)).toEqual({ ok: true, text: null });
    // Nothing has run in the click itself: a process that dies now leaves an approval that the next one follows.
    expect(text()).toBe(PATCHED);
    await turn(action);
    expect(text()).toBe(GOOD);
    const record = await rig.core.records.load(action.incidentId);
    const undo = record?.actions.at(-1);
    expect(undo).toMatchObject({
      tool: 'undo_patch',
      state: 'succeeded',
      undoes: action.id,
      requestedBy: 'UONCALL',
    });
    expect(record?.incident).toMatchObject({
      state: 'resolved',
      // It is no longer true that it was fixed, and checked.
      verdict: null,
      nextStep: expect.stringContaining('taken back'),
    });
    expect(
      record?.toolCalls.filter(({ actionId }) => actionId === undo?.id).map(({ state }) => state),
    ).toEqual(['proposed', 'ok']);
    expect(await audited('undo.asked', 'UONCALL')).toBeGreaterThan(0);
    await turn(action);
    expect((await undosOf(action)).length).toBe(1);
    expect(await press(action)).toMatchObject({ ok: false, code: 'UNDONE_ALREADY' });
  });

  test('two clicks at once and two processes that come to run it are one undo', async () => {
    const action = await patched();
    const answers = await Promise.all([press(action), press(action), press(action, 'USECOND')]);
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
    await Promise.all([turn(action), turn(action)]);
    expect(text()).toBe(GOOD);
    expect((await undosOf(action)).filter(({ state }) => state === 'succeeded')).toHaveLength(1);
    const [row] = await rig.core.sql<Row>`
      SELECT count(*)::int AS n FROM tool_call t JOIN action a ON a.id = t.action_id WHERE a.undoes = ${action.id} AND t.state = 'ok'`;
    expect(row?.['n']).toBe(1);
  });

  test('after somebody changed the file is refused, and says what to do; nothing is overwritten', async () => {
    const action = await patched();
    writeFileSync(conf, 'mine\n');
    const answer = await press(action);
    expect(answer).toMatchObject({ ok: false, code: 'GONE' });
    expect(answer.ok ? '' : answer.reason).toMatch(
      /somebody has changed it since.*Compare it with worker\.conf\.bak/,
    );
    expect(await undosOf(action)).toEqual([]);
    expect(text()).toBe('mine\n');
  });

  test('does nothing when the file is changed between the click and the run, and may be pressed again', async () => {
    const action = await patched();
    await press(action);
    writeFileSync(conf, 'mine\n');
    await turn(action);
    expect(text()).toBe('mine\n');
    expect(await undosOf(action)).toMatchObject([
      { state: 'void', outcome: expect.stringContaining('changed it since') },
    ]);
    writeFileSync(conf, PATCHED);
    await press(action);
    await turn(action);
    expect(text()).toBe(GOOD);
  });

  test('does nothing when the backup is not what was kept', async () => {
    const action = await patched();
    const call = action.toolCallId && (await rig.core.records.toolCall(action.toolCallId));
    const { backup } = (call ? call.result : {}) as { backup: string };
    writeFileSync(join(rig.host.dir, 'app', backup), 'forged\n');
    expect(await press(action)).toMatchObject({ ok: false, code: 'GONE' });
    expect(text()).toBe(PATCHED);
  });

  test('is refused while the switch is set, in AUDIT mode, and by a switch set after the click', async () => {
    const action = await patched();
    expect(
      await undoer('AUDIT').press({ actionId: action.id, planHash: action.planHash, by: 'UONCALL' }),
    ).toMatchObject({
      code: 'AUDIT_MODE',
    });
    await rig.core.sql`UPDATE switch SET stopped = true WHERE scope = '*'`;
    expect(await press(action)).toMatchObject({ ok: false, code: 'STOPPED' });
    expect(await undosOf(action)).toEqual([]);
    await rig.core.sql`UPDATE switch SET stopped = false`;
    await press(action);
    await rig.core.sql`UPDATE switch SET stopped = true WHERE scope = '*'`;
    await turn(action);
    expect(text()).toBe(PATCHED);
    expect(await undosOf(action)).toMatchObject([{ state: 'void' }]);
  });

  test.each([
    ['a stranger', (action: Action) => press(action, 'USTRANGER'), 'NOT_AN_APPROVER'],
    ['a stale card', (action: Action) => press({ ...action, planHash: 'f'.repeat(64) }), 'PLAN_CHANGED'],
    [
      'no card of ours',
      (action: Action) => press({ ...action, id: asActionId('act_000000000000') }),
      'UNKNOWN_ACTION',
    ],
  ])('by %s is refused and on record, and proposes nothing', async (_, click, code) => {
    const action = await patched();
    expect(await click(action)).toMatchObject({ ok: false, code });
    expect(await undosOf(action)).toEqual([]);
    expect(text()).toBe(PATCHED);
    expect(
      await audited('undo.refused', code === 'NOT_AN_APPROVER' ? 'USTRANGER' : 'UONCALL'),
    ).toBeGreaterThan(0);
  });

  test('with the card of one incident and the hash of another is refused', async () => {
    const one = await patched();
    await press(one);
    await turn(one);
    const other = await patched();
    expect(
      await press({ ...one, planHash: other.planHash === one.planHash ? 'f'.repeat(64) : other.planHash }),
    ).toMatchObject({
      code: 'PLAN_CHANGED',
    });
    expect(await press(one)).toMatchObject({ code: 'UNDONE_ALREADY' });
    expect(text()).toBe(PATCHED);
  });

  test('of an incident that is being worked on is refused, with what to do', async () => {
    const action = await patched();
    await rig.core.sql`UPDATE incident SET state = 'diagnosing' WHERE id = ${action.incidentId}`;
    const answer = await press(action);
    expect(answer).toMatchObject({
      ok: false,
      code: 'AT_WORK',
      reason: expect.stringContaining('/sentry stop'),
    });
  });

  test('where the policy wants two people the second is still asked; the same person twice is one', async () => {
    const action = await patched();
    policy(', approvals: 2');
    expect(await press(action)).toMatchObject({ ok: true, text: expect.stringContaining('1 more') });
    expect(await press(action)).toMatchObject({ ok: false, code: 'APPROVED_ALREADY' });
    await turn(action);
    expect(text()).toBe(PATCHED);
    expect(await press(action, 'USECOND')).toEqual({ ok: true, text: null });
    await turn(action);
    expect(text()).toBe(GOOD);
  });

  test('where nobody may approve what they asked for, somebody else has to', async () => {
    const action = await patched();
    policy(', self_approval: false');
    expect(await press(action)).toMatchObject({ ok: true, text: expect.stringContaining('Somebody else') });
    await turn(action);
    expect(text()).toBe(PATCHED);
    expect(await press(action, 'USECOND')).toEqual({ ok: true, text: null });
    await turn(action);
    expect(text()).toBe(GOOD);
  });

  test('that nobody seconds in time expires by its own turn', async () => {
    const action = await patched();
    policy(', approvals: 2');
    await press(action);
    await rig.core.sql`UPDATE action SET expires_at = clock_timestamp() WHERE undoes = ${action.id}`;
    await turn(action);
    expect(await undosOf(action)).toMatchObject([{ state: 'expired' }]);
  });

  test('that still waits is taken back by a stop of its incident; pressed after it, it is a new word', async () => {
    const action = await patched();
    await rig.core.sql`UPDATE incident SET state = 'reported' WHERE id = ${action.incidentId}`;
    await press(action);
    expect(await rig.core.steering.stop(action.incidentId, 'UONCALL', 'not now')).toMatchObject({ ok: true });
    await turn(action);
    expect(text()).toBe(PATCHED);
    expect(await undosOf(action)).toMatchObject([
      { state: 'void', outcome: expect.stringContaining('stopped') },
    ]);
    expect(await press(action)).toEqual({ ok: true, text: null });
    await turn(action);
    expect(text()).toBe(GOOD);
  });

  test('nobody can second an undo that was asked for before its incident was stopped', async () => {
    const action = await patched();
    await rig.core.sql`UPDATE incident SET state = 'escalated' WHERE id = ${action.incidentId}`;
    policy(', approvals: 2');
    await press(action);
    const [asked] = await undosOf(action);
    await rig.core.steering.stop(action.incidentId, 'UONCALL', 'not now');
    const undo = await rig.core.records.action(asActionId(asked?.id ?? ''));
    expect(
      await rig.core.approvals.decide({
        actionId: asActionId(asked?.id ?? ''),
        planHash: undo?.planHash ?? '',
        by: 'USECOND',
        decision: 'approve',
        reason: '',
        anotherWay: false,
      }),
    ).toMatchObject({ ok: false, code: 'VOID' });
  });

  test('whose end nobody knows is looked at, also while a later one of the same incident waits', async () => {
    const other = join(rig.host.dir, 'app', 'other.conf');
    writeFileSync(other, GOOD);
    const first = await patched();
    const [second] = [
      await patched({ file_path: 'other.conf', diff: diff.replaceAll('worker.conf', 'other.conf') }),
    ];
    // Two patches of one incident, in two of its rounds.
    await rig.core.sql`UPDATE action SET incident_id = ${first.incidentId} WHERE id = ${second.id}`;
    await rig.core
      .sql`UPDATE tool_call SET incident_id = ${first.incidentId} WHERE id = ${second.toolCallId}`;
    await press(first);
    // It took too long: it may still take effect when somebody takes the second one back.
    await rig.core.sql`
      UPDATE action SET state = 'unknown', claim_id = 'x', started_at = clock_timestamp(), finished_at = clock_timestamp(),
             done_by = clock_timestamp() + interval '1 hour' WHERE undoes = ${first.id}`;
    expect(await press({ ...second, incidentId: first.incidentId })).toEqual({ ok: true, text: null });
    await rig.core.sql`
      UPDATE action SET finished_at = finished_at - interval '1 minute', done_by = clock_timestamp() - interval '1 second'
       WHERE undoes = ${first.id}`;
    await turn(first);
    expect(await undosOf(first)).toMatchObject([{ state: 'failed' }]);
    expect(await undosOf(second)).toMatchObject([{ state: 'succeeded' }]);
    expect(readFileSync(other, 'utf8')).toBe(GOOD);
  });

  test('removes a file that the patch created, while it still is what was written', async () => {
    const fresh = join(rig.host.dir, 'app', 'fresh.conf');
    rmSync(fresh, { force: true });
    const made = await patched({
      file_path: 'fresh.conf',
      diff: '--- /dev/null\n+++ b/fresh.conf\n@@ -0,0 +1,1 @@\n+a=1\n',
    });
    writeFileSync(fresh, 'a=2\n');
    expect(await press(made)).toMatchObject({ ok: false, code: 'GONE' });
    writeFileSync(fresh, 'a=1\n');
    await press(made);
    await turn(made);
    expect(existsSync(fresh)).toBe(false);
  });

  test('is no success that autonomy could be earned by, nor is the patch, whatever its row says [F7]', async () => {
    const action = await patched();
    expect(action.autonomyKey).toBeNull();
    await rig.core
      .sql`UPDATE action SET runbook_id = 'tune-worker', autonomy_key = 'mine' WHERE id = ${action.id}`;
    await rig.core.sql`
      INSERT INTO event (incident_id, type, body) VALUES (${action.incidentId}, 'verification.concluded', ${rig.core.sql.json({ round: 1, verdict: 'fixed', reason: '' })})`;
    const subject = {
      ...action,
      planId: asActionId('act_new'),
      runbookId: 'tune-worker',
      autonomyKey: 'mine',
    };
    const autonomy = { after: 1, atMost: { actions: 9, minutes: 60 }, vetoMinutes: 1 };
    const { sql: tx, seal } = rig.core;
    expect(await mayRunUnasked({ tx, seal }, subject, autonomy)).toBe(false);
    await press(action);
    await turn(action);
    expect(await mayRunUnasked({ tx, seal }, subject, autonomy)).toBe(false);
  });
});

describe('somebody’s No to touching the file', () => {
  /** Said of another change of it, in another incident. */
  async function denied(by: string): Promise<void> {
    const other = await rig.propose('apply_patch', {
      file_path: 'worker.conf',
      diff: diff.replace('workers=4', 'workers=8').replace('workers=8\n level', 'workers=16\n level'),
    });
    const { id: actionId, planHash } = other;
    const no = { decision: 'deny', reason: 'the release runs', anotherWay: false } as const;
    const reach = { scope: 'object', minutes: null } as const;
    expect(await rig.core.approvals.decide({ actionId, planHash, by, ...no, reach })).toMatchObject({
      ok: true,
    });
  }
  const approve = ({ id: actionId, planHash }: Action, by: string) =>
    rig.core.approvals.decide({ actionId, planHash, by, decision: 'approve', reason: '', anotherWay: false });
  const undoOfIt = async (action: Action): Promise<Action> => {
    const [undo] = await undosOf(action);
    const found = await rig.core.records.action(asActionId(undo?.id ?? ''));
    if (!found) throw new Error('no undo');
    return found;
  };

  test('stands on the card of an undo, which needs the word that it is done although', async () => {
    const action = await patched();
    await denied('USECOND');
    expect(await press(action)).toMatchObject({ ok: true, text: expect.stringContaining('said no') });
    const undo = await undoOfIt(action);
    expect(undo).toMatchObject({ state: 'proposed', denialsAcknowledged: [expect.any(String)] });
    await turn(action);
    expect(text()).toBe(PATCHED);
    expect(await approve(undo, 'UONCALL')).toMatchObject({ ok: true });
    await turn(action);
    expect(text()).toBe(GOOD);
  });

  test('said while the undo waits makes it void', async () => {
    const action = await patched();
    expect(await press(action)).toMatchObject({ ok: true });
    await denied('USECOND');
    await turn(action);
    expect(await undosOf(action)).toMatchObject([{ state: 'void' }]);
    expect(text()).toBe(PATCHED);
  });

  test('does not keep the one who said it from taking it back', async () => {
    const action = await patched();
    await denied('UONCALL');
    expect(await press(action)).toEqual({ ok: true, text: null });
    await turn(action);
    expect(text()).toBe(GOOD);
  });
});

test('an undo whose turn fails again and again ends on its card, and what it was to take back goes to people', async () => {
  const action = await patched();
  await rig.core.sql`UPDATE incident SET resolved_by = 'confirmed' WHERE id = ${action.incidentId}`;
  expect(await press(action)).toMatchObject({ ok: true });
  const broken = createTurn({
    ...rig.core,
    gate: { ...rig.core.gate, execute: () => Promise.reject(new Error('it cannot be begun')) },
  });
  const once = () => broken(action.incidentId, BESIDE_TURN, (_, work) => work());
  for (let failed = 1; failed < 6; failed += 1) await expect(once()).rejects.toThrow('cannot be begun');
  await once();
  expect(await undosOf(action)).toMatchObject([
    { state: 'void', outcome: expect.stringContaining('failed 6 times (it cannot be begun)') },
  ]);
  expect(text()).toBe(PATCHED);
  expect(await rig.core.records.incident(action.incidentId)).toMatchObject({
    state: 'escalated',
    resolvedBy: null,
  });
});
