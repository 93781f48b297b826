import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Action } from '../../../src/core/action.ts';
import { allTools } from '../../../src/targets/all-tools.ts';
import type { AnyTool } from '../../../src/tools/define.ts';
import type { Row } from '../../support/typed.ts';
import { kinds, session, sessions, settings } from './denials-kinds.ts';
import { type DenialsRig, startDenialsRig } from './denials-rig.ts';

/** The No that somebody says without choosing how far: the same act comes back in no incident without it. */
let rig: DenialsRig;
beforeAll(async () => {
  rig = await startDenialsRig();
}, 180_000);
afterAll(() => rig.stop());
beforeEach(async () => {
  await rig.core.sql`DELETE FROM denial`;
  await rig.core.sql`UPDATE action SET state = 'void' WHERE state IN ('proposed', 'approved')`;
  await rig.core.sql`UPDATE action SET state = 'skipped' WHERE state = 'queued'`;
});

const no = (action: Action, by?: string) => rig.deny(action, undefined, by === undefined ? {} : { by });
const acknowledged = ({ denialsAcknowledged }: Action) => denialsAcknowledged;
const head = ([first]: readonly Action[]): Action => {
  if (!first) throw new Error('no plan');
  return first;
};

/** The same tools, one of them called or worded otherwise, as another version of Sentry may have it. */
const withTool = (name: string, change: (tool: AnyTool) => AnyTool): readonly AnyTool[] =>
  allTools.map((tool) => (tool.name === name ? change(tool) : tool));

describe.each(kinds)('the usual No to an act on a $kind', (kind) => {
  test('stands on the card of every other incident, before it runs, and in every process', async () => {
    const [call] = await kind.calls(rig);
    const id = await no(await rig.propose(call));
    const second = await rig.another();
    const next = await rig.propose(call, second);
    expect(acknowledged(next)).toEqual([id]);
    const record = await second.records.load(next.incidentId);
    expect(record?.denials).toMatchObject([{ id, scope: 'act', reason: 'I am working there' }]);
    const [row] = await rig.core.sql<Row>`
      SELECT until IS NULL AS for_good, until > clock_timestamp() + interval '1 day' AS for_days FROM denial`;
    expect(row).toEqual(
      kind.kind === 'session' ? { for_good: true, for_days: null } : { for_good: false, for_days: true },
    );
  });

  test('stands on a plan of which it is any step, and a No to a plan on each of its steps', async () => {
    const [call] = await kind.calls(rig);
    const id = await no(await rig.propose(call));
    const plan = await rig.plan([kind.beside(rig), call]);
    expect(plan.map(acknowledged)).toEqual([[id], [id]]);
    const both = await no(head(plan));
    expect(acknowledged(await rig.propose(call))).toEqual([id, both]);
  });

  test('voids what another incident has open or approved, which then asks with it', async () => {
    const [call] = await kind.calls(rig);
    const [denied, open, approved] = [
      await rig.propose(call),
      await rig.propose(call),
      await rig.propose(call),
    ];
    await rig.approve(approved);
    const id = await no(denied);
    expect(await rig.now(open)).toMatchObject({ state: 'void' });
    expect(await rig.now(approved)).toMatchObject({ state: 'void' });
    expect(await rig.execute(approved)).toMatchObject({ kind: 'not_run', code: 'VOID' });
    expect(acknowledged(await rig.propose(call))).toEqual([id]);
  });

  test('is told to nobody once it is taken back', async () => {
    const [call] = await kind.calls(rig);
    const id = await no(await rig.propose(call));
    await rig.core
      .sql`UPDATE denial SET taken_back_at = clock_timestamp(), taken_back_by = said_by WHERE id = ${id}`;
    expect(acknowledged(await rig.propose(call))).toEqual([]);
  });
});

describe('the same act under another name', () => {
  test('of its tool, or with another word for it, has the No on its card', async () => {
    const [end] = await sessions.calls(rig);
    const id = await no(await rig.propose(end));
    const renamed = await rig.another(
      withTool(end.tool, (tool) => ({ ...tool, name: 'postgres_end_session' }) as AnyTool),
    );
    expect(acknowledged(await rig.propose({ ...end, tool: 'postgres_end_session' }, renamed))).toEqual([id]);
    const reworded = await rig.another(
      withTool(
        end.tool,
        (tool) => ({ ...tool, verbs: { does: 'Stop', did: 'Stopped', button: 'Stop it' } }) as AnyTool,
      ),
    );
    expect(acknowledged(await rig.propose(end, reworded))).toEqual([id]);
  });

  test('of its target, and with other arguments, has it as well', async () => {
    const [set, otherValue, otherName] = await settings.calls(rig);
    const id = await no(await rig.propose(set));
    for (const call of [otherValue, otherName!]) expect(acknowledged(await rig.propose(call))).toEqual([id]);
  });

  test('is refused at its claim where its row of before such keys was approved meanwhile', async () => {
    const [end] = await sessions.calls(rig);
    const [denied, old] = [await rig.propose(end), await rig.propose(end)];
    await rig.core.sql`UPDATE action SET object_keys = '{}' WHERE id = ${old.id}`;
    await rig.approve(old);
    await no(denied);
    expect(await rig.now(old)).toMatchObject({ state: 'approved' });
    expect(await rig.execute(old)).toMatchObject({ kind: 'not_run', why: 'void', code: 'DENIED' });
  });
});

describe('it is not about', () => {
  test('something else done to the thing, nor the same done to another', async () => {
    const [end, cancel] = await sessions.calls(rig);
    const [other] = await sessions.calls(rig);
    await no(await rig.propose(end));
    for (const call of [cancel, other]) expect(acknowledged(await rig.propose(call))).toEqual([]);
  });

  test('a thing whose name only looks like it', async () => {
    const key = await rig.busySession('confused');
    await no(await rig.propose(session('postgres_terminate_backend', 'shop-db', key)));
    // What a No is kept under is made of nothing that somebody could put into a name.
    const [row] = await rig.core.sql<{ keys: readonly string[] }>`SELECT keys FROM denial`;
    const ofAct = /^(act\/[0-9a-f]{64}|incident\/INC-\d+\/action\/[0-9a-f]{64})$/;
    expect(row?.keys.length).toBeGreaterThanOrEqual(3);
    for (const each of row?.keys ?? []) expect(each).toMatch(ofAct);
  });

  test('another way in its round: the same act with other arguments is asked for, with the No on its card', async () => {
    const [set, otherValue] = await settings.calls(rig);
    const denied = await rig.propose(set);
    const id = await no(denied);
    expect(await rig.call(denied.incidentId, set)).toMatchObject({
      kind: 'refused',
      code: 'DENIED',
      reason: expect.stringContaining('I am working there'),
    });
    const other = await rig.call(denied.incidentId, otherValue);
    expect(other).toMatchObject({ kind: 'proposed' });
    const record = await rig.core.records.load(denied.incidentId);
    expect(record?.actions.at(-1)?.denialsAcknowledged).toEqual([id]);
  });
});
