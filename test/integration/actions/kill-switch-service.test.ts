import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  createKillSwitchCommands,
  stoppedForNow,
} from '../../../src/incidents/kill-switch/kill-switch-commands.ts';
import {
  createKillSwitchService,
  type KillSwitchService,
} from '../../../src/incidents/kill-switch/kill-switch-service.ts';
import { createTurn } from '../../../src/incidents/turn.ts';
import { drawRoot } from '../../../src/slack/views/blocks/root.ts';
import { boxTarget } from '../../support/core.ts';
import { waitFor } from '../../support/wait-for.ts';
import { actionOf, approved, auditBodies, createRig, execute, type Rig } from './rig.ts';

let rig: Rig;
let board: KillSwitchService;

beforeAll(async () => {
  rig = await createRig();
  board = boardOf(rig);
});
beforeEach(() => {
  Object.assign(rig.machine, { broken: true, generation: 1, effects: 0, helps: true });
});
afterEach(async () => {
  await rig.core
    .sql`UPDATE action SET state = 'failed', held_by = NULL WHERE state IN ('started', 'unknown', 'approved', 'proposed')`;
  await rig.core.sql`UPDATE switch SET stopped = false, until = NULL`;
});
afterAll(async () => rig.stop());

function boardOf({ core, dataDir }: Rig): KillSwitchService {
  const { killSwitch } = core.gateDeps;
  const folder = { id: 'here', dataDir, executorId: 'this process' };
  return createKillSwitchService({ ...core, killSwitch, targets: new Map([['box', boxTarget]]), folder });
}

const order = { scope: 'target:box', by: 'UADMIN', reason: 'a migration runs' };

/** An incident worked on until somebody has to decide or nothing more can be done, without the engine. */
async function worked(incidentId?: string): Promise<string> {
  const { core } = rig;
  const id =
    incidentId ?? (await core.accept({ ...(await import('../../support/core.ts')).boxAlert() })).incidentId;
  const turn = createTurn(core);
  for (let n = 0; n < 6; n += 1) await turn(String(id) as never, 'test', (_, fn) => fn());
  return String(id);
}

const recordOf = async (id: string) => {
  const record = await rig.core.records.load(id as never);
  if (!record) throw new Error(`no ${id}`);
  return record;
};

describe('Stop', () => {
  test('answers when what had begun has ended, naming it, and only then', async () => {
    const action = await approved(rig);
    const slow = { ...action, tool: 'box_mend' };
    let release = (): void => undefined;
    const held = new Promise<void>((done) => {
      release = done;
    });
    const mend = rig.core.gateDeps.registry.get('box_mend') as unknown as { run: () => Promise<unknown> };
    const { run } = mend;
    mend.run = async () => {
      await held;
      return run();
    };
    try {
      const running = execute(rig, slow.id);
      await expect.poll(async () => (await actionOf(rig, action.id)).state).toBe('started');
      let answered = false;
      const seen: string[] = [];
      const stopping = board
        .stop({ ...order, forMs: null }, (claimed) => seen.push(...claimed.map((each) => each.state)))
        .then((named) => {
          answered = true;
          return named;
        });
      await expect.poll(() => seen).toEqual(['started']);
      await sleep(200);
      expect(answered).toBe(false);
      release();
      expect(await stopping).toMatchObject([{ actionId: action.id, target: 'box', state: 'succeeded' }]);
      await running;
    } finally {
      mend.run = run;
    }
    expect(rig.machine.effects).toBe(1);
  });

  test('tells a bounded number of what is at work, nobody whose incident has waited for long, and its end those it told [C3]', async () => {
    const { sql } = rig.core;
    await sql`
      INSERT INTO incident (state, title, severity, domain, target, source, fingerprint, labels, annotations, opened_at, updated_at)
      SELECT CASE WHEN n <= 1200 THEN 'diagnosing' ELSE 'reported' END, 't', 'info', 'postgres', 'many', 'test', 'many ' || n, '{}', '{}',
             clock_timestamp() - n * interval '1 hour', clock_timestamp() - n * interval '1 hour' FROM generate_series(1, 1300) AS n`;
    try {
      await board.stop({ ...order, scope: 'target:many', forMs: null });
      const told = (type: string) => sql<{ id: string; state: string; newest: boolean }>`
        SELECT i.id, i.state, i.opened_at > clock_timestamp() - interval '1000.5 hours' AS newest
          FROM event e JOIN incident i ON i.id = e.incident_id WHERE e.type = ${type} AND i.target = 'many' ORDER BY i.id`;
      const of = await told('switch.set');
      expect(of).toHaveLength(1_000);
      expect(of.every(({ state, newest }) => state === 'diagnosing' && newest)).toBe(true);
      // Where it waits by now, its thread must not say for ever that nothing may be changed.
      await sql`UPDATE incident SET state = 'reported' WHERE target = 'many' AND updated_at < clock_timestamp() - interval '30 days'`;
      await board.resume({ ...order, scope: 'target:many' });
      expect((await told('switch.cleared')).map(({ id }) => id)).toEqual(of.map(({ id }) => id));
      await board.stop({ ...order, scope: 'target:many', forMs: null });
      await sql`UPDATE incident SET state = 'resolved' WHERE target = 'many'`;
      await board.resume({ ...order, scope: 'target:many' });
      expect(await told('switch.cleared')).toHaveLength(of.length);
    } finally {
      await sql`DELETE FROM incident WHERE target = 'many'`;
    }
  });

  test('does not wait behind claims that follow one another without a gap', async () => {
    const { sql, gateDeps } = rig.core;
    let going = true;
    let rounds = 400;
    const claims = Array.from({ length: 4 }, async () => {
      for (; going && rounds > 0; rounds -= 1)
        await sql.begin(async (tx) => {
          await gateDeps.killSwitch.lockRows(tx, ['*', 'target:elsewhere']);
          await sleep(15);
        });
    });
    await waitFor('all of them to be under way', async () => rounds <= 392);
    await board.stop({ ...order, scope: 'target:quiet', forMs: null });
    const left = rounds;
    going = false;
    await Promise.all(claims);
    await sql`DELETE FROM switch WHERE scope = 'target:quiet'`;
    // Behind them it would have waited for the last one.
    expect(left).toBeGreaterThan(0);
  });

  test('holds incidents up, says by whom on their root, and Resume goes on with them', async () => {
    await board.stop({ ...order, forMs: null });
    const id = await worked();
    await board.look();
    await board.look();
    const held = await recordOf(id);
    expect(held.events.filter((event) => event.type === 'switch.set')).toHaveLength(1);
    expect(held.incident.state).toBe('reported');
    expect(held.actions.at(-1)).toMatchObject({ auditOnly: true });
    expect(held.actions.at(-1)?.heldBy).toContain('a migration runs');
    expect(JSON.stringify(drawRoot(held).blocks)).toContain('Nothing is changed');
    expect(JSON.stringify(drawRoot(held).blocks)).toContain('UADMIN');

    expect(await board.resume(order)).toBe(true);
    expect((await recordOf(id)).incident).toMatchObject({ state: 'diagnosing', round: 2 });
    await worked(id);
    const now = await recordOf(id);
    expect(now.incident.state).toBe('awaiting_approval');
    expect(now.actions.at(-1)).toMatchObject({ state: 'proposed', auditOnly: false, heldBy: null });
    expect(JSON.stringify(drawRoot(now).blocks)).not.toContain('Nothing is changed');
  });

  test('refuses what was approved before it, and that incident goes on too', async () => {
    const id = await worked();
    const card = (await recordOf(id)).actions.at(-1);
    if (!card) throw new Error('no card');
    await rig.core.approvals.decide({
      actionId: card.id,
      planHash: card.planHash,
      by: 'UONCALL',
      decision: 'approve',
      reason: '',
      anotherWay: false,
    });
    await board.stop({ ...order, scope: 'domain:postgres', forMs: null });
    await worked(id);
    const stopped = await recordOf(id);
    expect(stopped.incident.state).toBe('reported');
    expect(rig.machine.effects).toBe(0);
    expect(JSON.stringify(drawRoot(stopped).blocks)).toContain('UADMIN');
    await board.resume({ ...order, scope: 'domain:postgres' });
    await worked(id);
    expect((await recordOf(id)).incident.state).toBe('awaiting_approval');
  });

  test('with an end is over by the database’s clock, without anybody’s doing, and incidents go on', async () => {
    await board.stop({ ...order, forMs: 60_000 });
    const id = await worked();
    expect((await recordOf(id)).incident.state).toBe('reported');
    await board.look();
    expect((await recordOf(id)).incident.state).toBe('reported');
    await rig.core.sql`UPDATE switch SET until = clock_timestamp() WHERE scope = 'target:box'`;
    const action = await approved(rig);
    expect(action.auditOnly).toBe(false);
    await board.look();
    expect((await recordOf(id)).incident.state).toBe('diagnosing');
    expect(await board.set()).toEqual([]);
  });

  test('a stop of another target, or of one that is not over, keeps what it holds', async () => {
    await board.stop({ ...order, forMs: null });
    const id = await worked();
    await board.stop({ ...order, scope: '*', forMs: null });
    await board.resume({ ...order, scope: '*' });
    expect((await recordOf(id)).incident.state).toBe('reported');
  });

  test('by the file holds incidents up in the same way', async () => {
    const file = join(rig.dataDir, 'STOP_SENTRY');
    writeFileSync(file, '');
    const id = await worked();
    await board.look();
    expect((await recordOf(id)).incident.state).toBe('reported');
    rmSync(file);
    await board.look();
    expect((await recordOf(id)).incident.state).toBe('diagnosing');
    const kinds = (await auditBodies(rig)).filter((body) => JSON.stringify(body).includes('STOP_SENTRY'));
    expect(kinds.map((body) => body['kind'])).toEqual(
      expect.arrayContaining(['switch.set', 'switch.cleared']),
    );
  });

  test('the audit log has who set it and what would have been proposed, in full', async () => {
    await board.stop({ ...order, forMs: null });
    const id = await worked();
    const would = (await auditBodies(rig)).findLast((body) => body['kind'] === 'gate.would_propose');
    const action = (await recordOf(id)).actions.at(-1);
    expect(would).toMatchObject({
      incident: id,
      details: {
        tool: 'box_mend',
        target: 'box',
        command: action?.command,
        planHash: action?.planHash,
        kept: 'STOPPED',
      },
    });
    const set = (await auditBodies(rig)).findLast((body) => body['kind'] === 'switch.set');
    expect(set).toMatchObject({
      actor: 'UADMIN',
      details: { scope: 'target:box', reason: 'a migration runs' },
    });
  });
});

describe('/sentry stop and resume', () => {
  const orders = (admin: (user: string) => Promise<boolean>) =>
    createKillSwitchCommands({
      board,
      steering: rig.core.steering,
      isAdmin: admin,
      admins: [],
      domains: ['postgres', 'docker'],
      targets: ['box'],
    });
  const isAdmin = async (user: string): Promise<boolean> => user === 'UADMIN';

  test('are for admins only, also when nobody can tell who is one', async () => {
    expect(await orders(isAdmin).stop('box', 'UONCALL')).toMatchObject({ ok: false, code: 'NOT_AN_ADMIN' });
    expect(await orders(isAdmin).resume('', 'UONCALL')).toMatchObject({ ok: false, code: 'NOT_AN_ADMIN' });
    const unknown = orders(() => Promise.reject(new Error('Slack is away')));
    expect(await unknown.stop('', 'UADMIN')).toMatchObject({ ok: false, code: 'ADMINS_UNKNOWN' });
    expect(await board.set()).toEqual([]);
  });

  test.each([
    ['boxx', 'Did you mean box?'],
    ['box-2', 'Did you mean box?'],
    ['bxo for 2h', 'Did you mean box?'],
    ['postgress', 'Did you mean postgres?'],
    ['everythin', 'Did you mean everything?'],
    ['inc7 please', 'Did you mean INC-7?'],
    ['the sky is falling', 'Targets: box; domains: postgres, docker.'],
    ['domain box', 'I know no domain called “box”.'],
    ['target:boxx', 'I know no target called “boxx”. Did you mean box?'],
    ['for ever', 'say for 30m'],
  ])('stop and resume nothing at “%s”, ask, and say what stops everything [B6]', async (text, says) => {
    const stopped = await orders(isAdmin).stop(text, 'UADMIN');
    expect(stopped).toMatchObject({ ok: false, reason: expect.stringContaining(says) });
    expect(stopped).toMatchObject({
      reason: expect.stringContaining('Nothing was changed. To stop everything: /sentry stop everything'),
    });
    await orders(isAdmin).stop('everything', 'UADMIN');
    const resumed = await orders(isAdmin).resume(text, 'UADMIN');
    expect(resumed).toMatchObject({
      ok: false,
      reason: expect.stringContaining('To resume everything: /sentry resume everything'),
    });
    expect((await board.set()).map(({ scope }) => scope)).toEqual(['*']);
    await orders(isAdmin).resume('everything', 'UADMIN');
  });

  test.each([
    ['', '*', ''],
    ['everything', '*', ''],
    ['all: the sky is falling', '*', 'the sky is falling'],
    ['because the sky is falling', '*', 'the sky is falling'],
    [': the sky is falling', '*', 'the sky is falling'],
    ['for 2h because of the release', '*', 'of the release'],
    ['everything for 2h because of the release', '*', 'of the release'],
    ['target box release day', 'target:box', 'release day'],
    ['“Box”, release day', 'target:box', 'release day'],
    ['domain:postgres', 'domain:postgres', ''],
  ])('“%s” stops %s', async (text, scope, reason) => {
    expect(await orders(isAdmin).stop(text, 'UADMIN')).toMatchObject({ ok: true });
    expect(await board.set()).toMatchObject([{ scope, reason }]);
    await board.resume({ ...order, scope });
  });

  test('take a scope, a time and a reason', async () => {
    await orders(isAdmin).stop('box for 2h release day', 'UADMIN');
    await orders(isAdmin).stop('postgres', 'UADMIN');
    await orders(isAdmin).stop('everything the sky is falling', 'UADMIN');
    const set = await board.set();
    expect(set.map(({ scope, reason }) => [scope, reason])).toEqual([
      ['*', 'the sky is falling'],
      ['domain:postgres', ''],
      ['target:box', 'release day'],
    ]);
    const lastsMs = Date.parse(set[2]?.until ?? '') - Date.parse(set[2]?.since ?? '');
    expect(Math.round(lastsMs / 60_000)).toBe(120);
    const answer = await orders(isAdmin).resume('everything', 'UADMIN');
    expect(answer).toMatchObject({ ok: true });
    expect(answer.ok && answer.text).toContain('Still: Stopped by <@UADMIN> (target box)');
  });

  test('Approve is not taken while it holds, and the card waits for Resume', async () => {
    const id = await worked();
    const card = (await recordOf(id)).actions.at(-1) ?? null;
    const { killSwitch } = rig.core.gateDeps;
    expect(await stoppedForNow(killSwitch, card, () => 'postgres')).toBeUndefined();
    await board.stop({ ...order, scope: 'domain:postgres', forMs: null });
    const no = await stoppedForNow(killSwitch, card, () => 'postgres');
    expect(no).toMatchObject({ code: 'STOPPED' });
    expect(no?.reason).toContain('press again');
    await board.resume({ ...order, scope: 'domain:postgres' });
    expect(await stoppedForNow(killSwitch, card, () => 'postgres')).toBeUndefined();
    expect((await recordOf(id)).actions.at(-1)?.state).toBe('proposed');
  });

  test('of one incident are anybody’s', async () => {
    const id = await worked();
    expect(await orders(isAdmin).stop(`${id} not now`, 'UONCALL')).toMatchObject({ ok: true });
    expect((await recordOf(id)).incident.state).toBe('stopped');
    expect(await orders(isAdmin).resume(id, 'UONCALL')).toMatchObject({ ok: true });
    expect((await recordOf(id)).incident.state).toBe('awaiting_approval');
  });
});
