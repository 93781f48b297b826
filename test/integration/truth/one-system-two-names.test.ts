import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Target } from '../../../src/core/target.ts';
import {
  createKillSwitchCommands,
  type KillSwitchCommands,
} from '../../../src/incidents/kill-switch/kill-switch-commands.ts';
import {
  createKillSwitchService,
  type KillSwitchService,
} from '../../../src/incidents/kill-switch/kill-switch-service.ts';
import { switchScopes } from '../../../src/safety/kill-switch/kill-switch.ts';
import { aliasesOf } from '../../../src/safety/kill-switch/parse-kill-switch.ts';
import { boxTarget } from '../../support/core.ts';
import { approved, createRig, execute, type Rig } from '../actions/rig.ts';

/** One system behind two names: a stop of either is a stop of both. */
const targets: readonly Target[] = [
  { ...boxTarget, aliases: ['the-box:5432', 'shared', 'postgres'] },
  { ...boxTarget, name: 'box-again', domain: 'docker', aliases: ['old-box', 'shared'] },
];
const byName = new Map(targets.map((target) => [target.name, target]));
const domains = ['docker', 'postgres'];
let rig: Rig;
let board: KillSwitchService;
let orders: KillSwitchCommands;
/** Whether the system behind a name answers. */
let answers: boolean;

beforeAll(async () => {
  rig = await createRig({ gate: { targets: byName } });
  board = createKillSwitchService({
    ...rig.core,
    killSwitch: rig.core.gateDeps.killSwitch,
    targets: byName,
    systemOf: async (target) => (answers ? rig.core.gate.systemOf(target) : null),
  });
  orders = createKillSwitchCommands({
    board,
    steering: rig.core.steering,
    isAdmin: async () => true,
    admins: [],
    domains,
    targets: [...byName.keys()],
    aliases: () => aliasesOf(targets),
  });
});
beforeEach(async () => {
  answers = true;
  Object.assign(rig.machine, { broken: true, generation: 1, effects: 0, helps: true });
});
afterEach(async () => {
  await rig.core
    .sql`UPDATE action SET state = 'failed', held_by = NULL WHERE state IN ('started', 'unknown', 'approved', 'proposed')`;
  await rig.core.sql`UPDATE switch SET stopped = false, until = NULL`;
  await rig.core.sql`DELETE FROM target_identity`;
});
afterAll(async () => rig.stop());

const stop = (scope: string) => board.stop({ scope, by: 'UADMIN', reason: 'a migration', forMs: null });

test.each(['target:box-again', 'domain:docker'])(
  '%s holds up what was approved by the other name',
  async (scope) => {
    const action = await approved(rig);
    // As the bot does when it starts.
    for (const { name } of targets) await rig.core.gate.systemOf(name);
    await stop(scope);
    expect(await execute(rig, action.id)).toMatchObject({ kind: 'not_run', code: 'STOPPED' });
    expect(rig.machine.effects).toBe(0);
  },
);

test('a stop learns itself which system its name stands for', async () => {
  const action = await approved(rig);
  await stop('target:box-again');
  expect(await execute(rig, action.id)).toMatchObject({ kind: 'not_run', code: 'STOPPED' });
});

test('the claim’s own transaction sees it', async () => {
  for (const { name } of targets) await rig.core.gate.systemOf(name);
  await stop('target:box-again');
  const { killSwitch } = rig.core.gateDeps;
  const scopes = switchScopes('box', 'postgres');
  expect(await rig.core.sql.begin((tx) => killSwitch.lockRows(tx, scopes))).toMatchObject({
    code: 'STOPPED',
  });
});

test('another system is not held up', async () => {
  const action = await approved(rig);
  await rig.core.gate.systemOf('box');
  await rig.core
    .sql`INSERT INTO target_identity (target, identity, domain) VALUES ('box-again', 'another', 'docker')`;
  answers = false;
  await stop('target:box-again');
  expect(await execute(rig, action.id)).toMatchObject({ kind: 'ran' });
});

test('the answer names what is stopped with it, and says when that is not known', async () => {
  await rig.core.gate.systemOf('box');
  expect(await orders.stop('box-again', 'UADMIN')).toMatchObject({
    text: expect.stringContaining('also called box: that is stopped with it'),
  });
  await rig.core.sql`DELETE FROM target_identity`;
  answers = false;
  expect(await orders.stop('box', 'UADMIN')).toMatchObject({
    text: expect.stringContaining('under another name it is not stopped'),
  });
});

test.each([
  ['The-Box:5432', 'target box'],
  ['old-box because of a migration', 'target box-again'],
  // What names a domain stops all of it, whatever else it names.
  ['postgres', 'domain postgres'],
])('a name as people type it is understood: %s', async (text, means) => {
  expect(await orders.stop(text, 'UADMIN')).toMatchObject({
    ok: true,
    text: expect.stringContaining(`Stopped: ${means}.`),
  });
});

test('a name that stands for two targets is asked back', async () => {
  expect(await orders.stop('shared', 'UADMIN')).toMatchObject({ ok: false, code: 'UNKNOWN_SCOPE' });
});
