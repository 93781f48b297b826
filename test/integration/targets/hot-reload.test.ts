import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createTargetsReload } from '../../../src/app/targets-reload.ts';
import { readTargets } from '../../../src/config/targets.ts';
import type { Action } from '../../../src/core/action.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import { openDatabase } from '../../../src/infra/db/client.ts';
import type { TargetConfig } from '../../../src/targets/kind.ts';
import { defineKind } from '../../../src/targets/kind.ts';
import { kinds as shipped } from '../../../src/targets/kinds.ts';
import type { PostgresSystem } from '../../../src/targets/postgres/system.ts';
import { connectSystems, type Systems } from '../../../src/targets/systems.ts';
import { toolsOf } from '../../../src/tools/define.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { quiet } from '../../support/quiet.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import { noDocs } from '../../support/targets.ts';
import { waitFor } from '../../support/wait-for.ts';
import { actionOf, createRig, decide, execute, never, openIncident, type Rig } from '../actions/rig.ts';

/** A lamp, by the place where it stands: what is switched on there is counted. */
interface LampConfig extends TargetConfig {
  readonly place: string;
}
interface Lamp {
  readonly place: string;
}
const closed: string[] = [];
const switchedOn: string[] = [];
/** What happens while a tool checks, reads or runs. */
let meanwhile: { rules?: () => void; read?: () => Promise<void>; preflight?: () => void } = {};
const tool = toolsOf<Lamp>('lamp', 'postgres');
const lampRead = tool.read({
  name: 'lamp_read',
  description: 'Whether it is on.',
  kind: 'read',
  input: z.strictObject({}),
  timeoutMs: 30_000,
  rules: () => {
    meanwhile.rules?.();
    return undefined;
  },
  async run({ system }) {
    await meanwhile.read?.();
    return { text: `The lamp in ${system.place} is off.`, data: { place: system.place } };
  },
});
const lampOn = tool.active<Record<string, never>, { on: boolean }>({
  name: 'lamp_on',
  description: 'Switches it on.',
  kind: 'active',
  verbs: { does: 'Switch on', did: 'Switched on', button: 'Switch on' },
  input: z.strictObject({}),
  timeoutMs: 5_000,
  command: () => 'switch on',
  async preflight() {
    meanwhile.preflight?.();
    return { guard: { on: false }, clock: null, lines: [], blastRadius: 'Light.', undo: 'Off.', risk: 'low' };
  },
  objects: () => [{ kind: 'lamp', key: 'lamp', label: 'the lamp' }],
  async run({ system }) {
    switchedOn.push(system.place);
    return { kind: 'succeeded', text: 'On.' };
  },
  look: async () => 'not_done',
  effect: () => ({ steps: [], holdMs: 0, timeoutMs: 1_000 }),
});
const lamp = defineKind<LampConfig, Lamp>({
  name: 'lamp',
  plural: 'lamps',
  domains: [{ name: 'postgres', label: null }],
  fields: { place: z.string() },
  read: (entry: LampConfig) => entry,
  settings: ({ place }) => ({ place }),
  reader: () => null,
  connect: ({ place }) => ({
    system: { place },
    identity: async () => ({ systemIdentifier: `lamp in ${place}`, timelineId: 0 }),
    close: async () => void closed.push(place),
  }),
  doctor: async () => 'well',
  facts: async () => ({}),
  usual: null,
  watch: () => null,
  logs: () => [],
  advise: () => null,
  looks: [],
  tools: [lampRead, lampOn],
});
const lampAt = (place: string, changes: Partial<LampConfig> = {}): LampConfig => ({
  name: 'lamp-1',
  kind: 'lamp',
  domain: 'postgres',
  environment: 'test',
  aliases: [],
  place,
  ...changes,
});

describe('targets that change while Sentry runs', () => {
  let systems: Systems;
  let rig: Rig;
  let id: IncidentId;
  beforeAll(async () => {
    systems = connectSystems([lamp], [], { ownPorts: [] });
    const gate = {
      targets: systems.targets,
      ports: { ...systems, docs: noDocs },
      identity: systems.identity,
    };
    rig = await createRig({ tools: [lampRead, lampOn], gate });
    id = await openIncident(rig);
  });
  afterAll(() => rig.stop());
  beforeEach(() => {
    meanwhile = {};
    systems.change([]);
    systems.change([lampAt('hall')]);
    for (const list of [closed, switchedOn]) list.length = 0;
  });

  const call = (tool: string, target = 'lamp-1', role: 'detective' | 'surgeon' = 'detective') =>
    rig.core.gate.call(
      rig.core.vault.mint({ role, incidentId: id, targets: [target] }),
      { tool, target, input: {} },
      { signal: never },
    );
  const read = (target?: string) => call('lamp_read', target);

  test('a new one can be read, a removed one refuses and is closed, one that stays keeps its connection', async () => {
    const attic = lampAt('attic', { name: 'lamp-2' });
    const before = systems.system('lamp-1');
    systems.change([lampAt('hall'), attic]);
    expect(await read('lamp-2')).toMatchObject({ kind: 'ok', data: { place: 'attic' } });
    expect(systems.system('lamp-1')).toBe(before);
    expect(systems.change([attic])).toBe(true);
    expect(await read('lamp-1')).toMatchObject({ kind: 'refused', code: 'UNKNOWN_TARGET' });
    expect(closed).toEqual(['hall']);
    expect(systems.change([attic])).toBe(false);
  });

  test('a call that runs ends on the connection it began with, which is closed after it', async () => {
    let go = (): void => undefined;
    const begun = new Promise<void>((inRun) => {
      meanwhile.read = () => {
        inRun();
        return new Promise((resolve) => {
          go = resolve;
        });
      };
    });
    const running = read();
    await begun;
    systems.change([lampAt('cellar')]);
    meanwhile = {};
    expect(await read()).toMatchObject({ kind: 'ok', data: { place: 'cellar' } });
    expect(closed).toEqual([]);
    go();
    expect(await running).toMatchObject({ kind: 'ok', data: { place: 'hall' } });
    expect(closed).toEqual(['hall']);
  });

  test('a call whose target changes after its checks reaches neither', async () => {
    meanwhile.rules = () => void systems.change([lampAt('cellar')]);
    expect(await read()).toMatchObject({ kind: 'failed', code: 'TARGET_CHANGED' });
    expect(closed).toEqual(['hall']);
  });

  test('a criterion of the system that had the name is read on no other', async () => {
    const place = { tool: 'lamp_read', input: {}, holds: 'true', says: 'it is there' };
    const plan = await rig.core.gate.bindSystems('lamp-1', { steps: [place], holdMs: 1, timeoutMs: 1 });
    const reading = () =>
      rig.core.gate.readCriterion({ incidentId: id, target: 'lamp-1', plan, purpose: 'x', signal: never });
    expect(await reading()).toMatchObject({ holds: true });
    // Changed while it is read: what came back is of the old one, and what has the name now is another.
    meanwhile.read = async () => void systems.change([lampAt('cellar')]);
    expect(await reading()).toMatchObject({ holds: null });
    meanwhile = {};
    expect(await reading()).toMatchObject({
      holds: null,
      lines: [expect.stringContaining('lamp-1 is now another server')],
    });
    systems.change([lampAt('hall')]);
    expect(await reading()).toMatchObject({ holds: true });
    systems.change([lampAt('attic', { name: 'lamp-2' })]);
    expect(await reading()).toMatchObject({ holds: null });
  });

  describe('an approved action', () => {
    let action: Action;
    beforeEach(async () => {
      id = await openIncident(rig);
      const called = await call('lamp_on', 'lamp-1', 'surgeon');
      if (called.kind !== 'proposed') throw new Error(JSON.stringify(called));
      action = await actionOf(rig, called.actionId);
      expect(await decide(rig, action)).toMatchObject({ ok: true });
    });
    const stateNow = async () => (await actionOf(rig, action.id)).state;

    test('runs where only the alias is another', async () => {
      systems.change([lampAt('hall', { aliases: ['light'] })]);
      expect(await execute(rig, action.id)).toMatchObject({ outcome: { kind: 'succeeded' } });
      expect(switchedOn).toEqual(['hall']);
    });

    test('is void when its name stands for another system', async () => {
      systems.change([lampAt('cellar')]);
      expect(await execute(rig, action.id)).toMatchObject({
        why: 'void',
        reason: expect.stringContaining('not the server it was'),
      });
      expect(switchedOn).toEqual([]);
    });

    test('does not run when its target is gone', async () => {
      systems.change([lampAt('attic', { name: 'lamp-2' })]);
      expect(await execute(rig, action.id)).toMatchObject({
        why: 'refused',
        reason: expect.stringContaining('not configured any more'),
      });
      expect(switchedOn).toEqual([]);
    });

    test('does not run when its target changes after it was checked, to whatever', async () => {
      meanwhile.preflight = () => void systems.change([lampAt('cellar')]);
      expect(await execute(rig, action.id)).toMatchObject({ outcome: { kind: 'failed' } });
      expect([await stateNow(), switchedOn]).toEqual(['failed', []]);
    });
  });

  test('what is proposed while its target changes is not asked for', async () => {
    id = await openIncident(rig);
    meanwhile.preflight = () => void systems.change([lampAt('cellar')]);
    expect(await call('lamp_on', 'lamp-1', 'surgeon')).toMatchObject({
      kind: 'failed',
      code: 'TARGET_CHANGED',
    });
  });
});

describe('sentry.yaml, read again', () => {
  let database: ScratchDatabase;
  let record: ReturnType<typeof openDatabase>;
  beforeAll(async () => {
    database = await scratchDatabase({ migrate: true });
    record = openDatabase(database.url);
  });
  afterAll(async () => {
    await record.close();
    await database.drop();
  });

  async function running() {
    const [first, second] = await Promise.all([scratchDatabase(), scratchDatabase()]);
    const path = join(scratchDir(), 'sentry.yaml');
    const file = { path, isNamed: false, env: { FIRST: first.url, SECOND: second.url } };
    const entry = (name: string, variable: string) =>
      `  - { name: ${name}, kind: postgres, read_url_env: ${variable} }\n`;
    const a = entry('a', 'FIRST');
    const b = entry('b', 'SECOND');
    writeFileSync(path, `targets:\n${a}`);
    const systems = connectSystems(shipped, readTargets(file), { ownPorts: [] });
    const told: string[] = [];
    const audited: string[] = [];
    const reload = createTargetsReload({
      file,
      kinds: shipped,
      apiTokens: [],
      systems,
      audit: async (targets) => void audited.push(targets.map(({ name }) => name).join(' ')),
      maintain: () => undefined,
      changed: () => undefined,
      tell: async (text) => void told.push(text),
      log: quiet,
    });
    const looks = async () => {
      await reload.look();
      await reload.look();
    };
    await looks();
    audited.length = 0;
    return {
      path,
      systems,
      reload,
      told,
      audited,
      looks,
      a,
      b,
      names: () => [...systems.targets.keys()].join(' '),
      write: (text: string) => writeFileSync(path, text),
      databaseOf: async (name: string) => {
        const options = { timeoutMs: 20_000, signal: never };
        const system = systems.system(name) as PostgresSystem;
        return system.read(
          async (session) => (await session.query('SELECT current_database() AS it'))[0],
          options,
        );
      },
      sessionsOf: async (url: string) =>
        (await record.sql`SELECT 1 FROM pg_stat_activity WHERE datname = ${new URL(url).pathname.slice(1)}`)
          .length,
      first,
      second,
      async end() {
        await systems.close();
        await Promise.all([first.drop(), second.drop()]);
      },
    };
  }

  test('new targets are connected, removed ones are closed, and the change is audited first', async () => {
    const { write, looks, names, audited, databaseOf, sessionsOf, first, second, b, end } = await running();
    expect(await databaseOf('a')).toEqual({ it: new URL(first.url).pathname.slice(1) });
    expect(await sessionsOf(first.url)).toBeGreaterThan(0);
    write(`targets:\n${b}`);
    await looks();
    expect([names(), audited]).toEqual(['b', ['b']]);
    expect(await databaseOf('b')).toEqual({ it: new URL(second.url).pathname.slice(1) });
    await waitFor('its sessions have ended', async () => (await sessionsOf(first.url)) === 0);
    await end();
  });

  test('a changed address is another connection, also when an editor replaces the file', async () => {
    const { path, looks, databaseOf, second, a, end } = await running();
    writeFileSync(`${path}.new`, `targets:\n${a.replace('FIRST', 'SECOND')}`);
    renameSync(`${path}.new`, path);
    await looks();
    expect(await databaseOf('a')).toEqual({ it: new URL(second.url).pathname.slice(1) });
    await end();
  });

  test('a file that is still being written is not taken for the whole', async () => {
    const { write, reload, looks, names, audited, a, b, end } = await running();
    write('targets:\n');
    await reload.look();
    write(`targets:\n${b}`);
    await reload.look();
    write(`targets:\n${a}${b}`);
    await reload.look();
    expect([names(), audited]).toEqual(['a', []]);
    await looks();
    expect([names(), audited]).toEqual(['a b', ['a b']]);
    await end();
  });

  test.each([
    ['no YAML', 'targets:\n  - {', /sentry\.yaml:2: not valid YAML/],
    [
      'a wrong field',
      'targets:\n  - { name: a, kind: postgres }\n',
      /sentry\.yaml:2: target "a": read_url_env: name the variable/,
    ],
    [
      'a variable that is not set',
      'targets:\n  - { name: a, kind: postgres, read_url_env: NONE }\n',
      /sentry\.yaml:2: target "a": NONE is not set/,
    ],
    ['no target', 'targets: []\n', /names no target/],
    ['no file', null, /sentry\.yaml does not exist/],
  ])('%s changes nothing, is told once, and is over when it is corrected', async (_, text, said) => {
    const { path, write, looks, reload, names, told, audited, a, b, end } = await running();
    if (text === null) rmSync(path);
    else write(text);
    await looks();
    await looks();
    expect([names(), audited]).toEqual(['a', []]);
    expect(told).toEqual([expect.stringMatching(said)]);
    expect(reload.lines()).toEqual(told);
    write(`targets:\n${a}${b}`);
    await looks();
    expect([names(), audited, reload.lines()]).toEqual(['a b', ['a b'], []]);
    expect(told[1]).toContain('2 targets');
    await end();
  });

  test('a source of changes that nobody is called changes nothing, and is told with its line', async () => {
    const { write, looks, names, reload, a, b, end } = await running();
    write(`targets:\n${a}${b.replace(' }', ', changes_from: [argocd] }')}`);
    await looks();
    expect([names(), reload.lines()]).toEqual([
      'a',
      [expect.stringMatching(/sentry\.yaml:3: target "b": .*"argo-cd"/)],
    ]);
    await end();
  });

  test('a change that cannot be audited is not gone by, and tried again', async () => {
    const { path, write, names, a, b, end, systems } = await running();
    let isAway = true;
    const reload = createTargetsReload({
      file: { path, isNamed: false, env: { FIRST: database.url, SECOND: database.url } },
      kinds: shipped,
      apiTokens: [],
      systems,
      audit: async () => {
        if (isAway) throw new Error('the database is away');
      },
      maintain: () => undefined,
      changed: () => undefined,
      tell: async () => undefined,
      log: quiet,
    });
    write(`targets:\n${a}${b}`);
    await reload.look();
    await expect(reload.look()).rejects.toThrow('away');
    expect(names()).toBe('a');
    isAway = false;
    await reload.look();
    expect(names()).toBe('a b');
    await end();
  });
});
