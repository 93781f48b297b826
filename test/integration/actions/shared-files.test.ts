import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createGate } from '../../../src/actions/gate.ts';
import { createKillSwitchCommands } from '../../../src/incidents/kill-switch/kill-switch-commands.ts';
import {
  createKillSwitchService,
  type KillSwitchService,
} from '../../../src/incidents/kill-switch/kill-switch-service.ts';
import { createKillSwitch, type KillSwitch, type Mode } from '../../../src/safety/kill-switch/kill-switch.ts';
import { createModeNotice } from '../../../src/safety/kill-switch/mode-notice.ts';
import { boxTarget } from '../../support/core.ts';
import { quiet } from '../../support/quiet.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import { approved, auditBodies, createRig, execute, type Rig } from './rig.ts';

/** Two processes of Sentry on one record, each with a data folder of its own. */
interface Bot {
  readonly dataDir: string;
  readonly killSwitch: KillSwitch;
  readonly board: KillSwitchService;
}

let rig: Rig;
let web1: Bot;
let web2: Bot;
beforeAll(async () => {
  rig = await createRig();
});
beforeEach(() => {
  [web1, web2] = [bot('web-1'), bot('web-2')];
  rig.machine.effects = 0;
});
afterEach(async () => {
  await rig.core.sql`DELETE FROM switch WHERE scope <> '*'`;
  await rig.core.sql`DELETE FROM process`;
});
afterAll(() => rig.stop());

function bot(executorId: string, mode: Mode = 'ACTIVE', dataDir = scratchDir()): Bot {
  const folder = `key ${dataDir}`;
  const killSwitch = createKillSwitch(rig.core.sql, { mode, dataDir, folder });
  const board = createKillSwitchService({
    ...rig.core,
    killSwitch,
    targets: new Map([['box', boxTarget]]),
    folder: { id: folder, dataDir, executorId },
  });
  return { dataDir, killSwitch, board };
}

const beats = (name: string, secondsAgo = 0) => rig.core.sql`
  INSERT INTO process (executor_id, pid, host, beat_at)
  VALUES (${name}, 1, 'elsewhere', clock_timestamp() - ${secondsAgo} * interval '1 second')
  ON CONFLICT (executor_id) DO UPDATE SET beat_at = excluded.beat_at`;
const stopIn = ({ dataDir }: Bot): string => join(dataDir, 'STOP_SENTRY');
const stopped = ({ killSwitch }: Bot) => killSwitch.stopped(['*']);

test('a stop file in the folder of one process stops the others, which say where it is, until just it is removed [C10]', async () => {
  writeFileSync(stopIn(web1), '');
  await web1.board.look();
  const reason = expect.stringContaining(`STOP_SENTRY (everything): it is in ${web1.dataDir} on `);
  expect(await stopped(web2)).toMatchObject({ code: 'STOPPED', reason });
  // Each other in the same words.
  expect((await stopped(web2))?.reason).toBe(web1.killSwitch.local()?.reason);

  writeFileSync(stopIn(web2), '');
  await web2.board.look();
  rmSync(stopIn(web1));
  await web1.board.look();
  expect(await stopped(web1)).toMatchObject({ reason: expect.stringContaining(web2.dataDir) });
  rmSync(stopIn(web2));
  await web2.board.look();
  expect(await stopped(web1)).toBeUndefined();
  expect(await stopped(web2)).toBeUndefined();
});

test('the claim of another process reads it: nothing approved before it runs there [C10]', async () => {
  const action = await approved(rig);
  writeFileSync(stopIn(web1), '');
  await web1.board.look();
  const gate = createGate({ ...rig.core.gateDeps, killSwitch: web2.killSwitch });
  expect(await execute(rig, action.id, gate)).toMatchObject({ kind: 'not_run', code: 'STOPPED' });
  expect(rig.machine.effects).toBe(0);
});

test.each([
  ['a folder', (file: string) => mkdirSync(file)],
  ['a link that leads nowhere', (file: string) => symlinkSync('/nonexistent/anywhere', file)],
])('%s of that name stops all, too', async (_, lay) => {
  lay(stopIn(web1));
  await web1.board.look();
  expect(await stopped(web2)).toMatchObject({ code: 'STOPPED' });
});

test('where it cannot be seen whether the file is there, all are stopped [C10]', async () => {
  // A link that leads to itself cannot be looked into, by root neither.
  rmSync(web1.dataDir, { recursive: true });
  symlinkSync(web1.dataDir, web1.dataDir);
  await web1.board.look();
  rmSync(web1.dataDir);
  expect(await stopped(web2)).toMatchObject({ reason: expect.stringContaining('cannot be seen') });
});

test('neither its process’s end nor the loss of its folder lifts it; the folder’s next process or a person does [C10]', async () => {
  await beats('web-1');
  writeFileSync(stopIn(web1), '');
  await web1.board.look();
  // Moved away while it runs: nobody knows what is in it.
  renameSync(web1.dataDir, `${web1.dataDir}-moved`);
  await web1.board.look();
  expect(await stopped(web2)).toMatchObject({ code: 'STOPPED' });
  renameSync(`${web1.dataDir}-moved`, web1.dataDir);

  await beats('web-1', 3_600);
  await web2.board.look();
  expect(await stopped(web2)).toMatchObject({ code: 'STOPPED' });
  expect(await web2.board.set()).toMatchObject([{ isOrphaned: true }]);

  // The next process in the folder, with the file and without it.
  const next = bot('web-1 again', 'ACTIVE', web1.dataDir);
  await beats('web-1 again');
  await next.board.look();
  expect(await next.board.set()).toMatchObject([{ isOrphaned: false }]);
  rmSync(stopIn(next));
  await next.board.look();
  expect(await stopped(web2)).toBeUndefined();
});

test('a person lifts the files of processes that have ended, and of no other [C10]', async () => {
  const orders = createKillSwitchCommands({
    board: web2.board,
    steering: rig.core.steering,
    isAdmin: async (user) => user === 'UADMIN',
    admins: [],
    domains: ['postgres'],
    targets: ['box'],
  });
  await beats('web-1');
  writeFileSync(stopIn(web1), '');
  await web1.board.look();
  expect(await orders.resume('STOP_SENTRY', 'UADMIN')).toMatchObject({
    ok: false,
    reason: expect.stringContaining(`Still: Stopped by the file STOP_SENTRY`),
  });
  expect(await orders.resume('everything', 'UADMIN')).toMatchObject({ ok: false });
  await beats('web-1', 3_600);
  expect((await orders.lines()).join()).toContain('lift this by “resume STOP_SENTRY”');
  expect(await orders.resume('STOP_SENTRY', 'UELSE')).toMatchObject({ code: 'NOT_AN_ADMIN' });
  expect(await stopped(web2)).toMatchObject({ code: 'STOPPED' });
  expect(await orders.resume('stop_sentry', 'UADMIN')).toMatchObject({ ok: true });
  expect(await stopped(web2)).toBeUndefined();
  // It was not dead after all, but paused: its file counts again.
  await beats('web-1');
  await web1.board.look();
  expect(await stopped(web2)).toMatchObject({ code: 'STOPPED' });
  const kinds = (await auditBodies(rig)).map((body) => [body['kind'], body['actor']].join(' '));
  expect(kinds).toContain('switch.cleared UADMIN');
});

test('a copy of the folder does not lift what the original holds [C10]', async () => {
  const copy = createKillSwitchService({
    ...rig.core,
    killSwitch: web2.killSwitch,
    targets: new Map([['box', boxTarget]]),
    folder: { id: `key ${web1.dataDir}`, dataDir: web2.dataDir, executorId: 'copy' },
  });
  await beats('web-1');
  writeFileSync(stopIn(web1), '');
  await web1.board.look();
  await copy.look();
  expect(await stopped(web2)).toMatchObject({ code: 'STOPPED' });
});

test('the mode by file holds for all, only ever for AUDIT, and is told once [C10]', async () => {
  const file = join(web1.dataDir, 'SENTRY_MODE');
  const said: string[] = [];
  const tell = async (text: string): Promise<void> => void said.push(text);
  const notices = [web1, web2].map(({ killSwitch }) =>
    createModeNotice({ sql: rig.core.sql, audit: rig.core.audit, killSwitch, log: quiet }),
  );
  const round = async () => {
    for (const { board } of [web1, web2]) await board.look();
    for (const notice of notices) await notice.look(tell);
  };
  await round();
  const { id } = await approved(rig);
  writeFileSync(file, 'AUDIT');
  await round();
  const gate = createGate({ ...rig.core.gateDeps, killSwitch: web2.killSwitch });
  expect(await execute(rig, id, gate)).toMatchObject({ kind: 'not_run', code: 'AUDIT_MODE' });
  expect(web2.killSwitch.mode()).toMatchObject({ mode: 'AUDIT' });
  expect(said).toEqual([expect.stringContaining(`SENTRY_MODE in ${web1.dataDir} on `)]);
  writeFileSync(file, 'ACTIVE');
  await round();
  expect(web2.killSwitch.mode()).toEqual({ mode: 'ACTIVE', byFile: null });
  expect(await stopped(web2)).toBeUndefined();
  expect(said).toHaveLength(2);
  // It takes nobody's configured AUDIT away.
  const audit = bot('web-3', 'AUDIT');
  await audit.board.look();
  expect(await stopped(audit)).toMatchObject({ code: 'AUDIT_MODE' });
});
