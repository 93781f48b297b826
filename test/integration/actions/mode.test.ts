import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { stoppedForNow } from '../../../src/incidents/kill-switch/kill-switch-commands.ts';
import { createKillSwitch, type Mode } from '../../../src/safety/kill-switch/kill-switch.ts';
import { createModeNotice } from '../../../src/safety/kill-switch/mode-notice.ts';
import { quiet } from '../../support/quiet.ts';
import { actionOf, approved, auditBodies, createRig, execute, noHooks, propose, type Rig } from './rig.ts';

let rig: Rig;
let file: string;
beforeAll(async () => {
  rig = await createRig();
  file = join(rig.dataDir, 'SENTRY_MODE');
});
beforeEach(() => {
  rmSync(file, { recursive: true, force: true });
  rig.machine.effects = 0;
});
afterAll(() => rig.stop());

const switchOf = (mode: Mode = 'ACTIVE') => createKillSwitch(rig.core.sql, { mode, dataDir: rig.dataDir });

describe('the file SENTRY_MODE', () => {
  test.each([
    ['AUDIT\n', 'AUDIT', /says AUDIT/],
    ['ACTIVE\n', 'ACTIVE', null],
    ['', 'AUDIT', /neither/],
    ['AUDTI', 'AUDIT', /neither/],
    ['active', 'AUDIT', /neither/],
    [`ACTIVE${' '.repeat(100)}`, 'AUDIT', /neither/],
  ] as const)(
    'that says %j makes an ACTIVE Sentry %s at once, and a configured AUDIT stays AUDIT',
    (said, mode, why) => {
      const [active, audit] = [switchOf('ACTIVE'), switchOf('AUDIT')];
      expect(active.local()).toBeUndefined();
      writeFileSync(file, said);
      expect(active.mode().mode).toBe(mode);
      if (why)
        expect(active.local()).toMatchObject({ code: 'AUDIT_MODE', reason: expect.stringMatching(why) });
      else expect(active.local()).toBeUndefined();
      expect(audit.mode()).toEqual({ mode: 'AUDIT', byFile: null });
      expect(audit.local()).toMatchObject({ code: 'AUDIT_MODE' });
      rmSync(file);
      expect(active.mode()).toEqual({ mode: 'ACTIVE', byFile: null });
    },
  );

  test('that is a folder, a link or no file that can be read is AUDIT', () => {
    for (const lay of [() => mkdirSync(file), () => symlinkSync('/nonexistent/anywhere', file)]) {
      lay();
      expect(switchOf().mode().mode).toBe('AUDIT');
      rmSync(file, { recursive: true });
    }
  });

  test('runs nothing that was approved before it, also when it comes between the claim and the run', async () => {
    const before = await approved(rig);
    writeFileSync(file, 'AUDIT');
    expect(await execute(rig, before.id, rig.core.gate, noHooks)).toMatchObject({
      kind: 'not_run',
      code: 'AUDIT_MODE',
    });
    rmSync(file);
    const during = await approved(rig);
    const claimed = async (): Promise<undefined> => writeFileSync(file, 'AUDIT') as undefined;
    expect(await execute(rig, during.id, rig.core.gate, { ...noHooks, claimed })).toMatchObject({
      kind: 'ran',
      outcome: { kind: 'failed' },
    });
    expect((await actionOf(rig, during.id)).outcome).toContain('SENTRY_MODE');
    expect(rig.machine.effects).toBe(0);
  });

  test('makes proposals for show only, in the audit log in full, and a waiting card is not approved meanwhile', async () => {
    const waiting = await propose(rig);
    writeFileSync(file, 'AUDIT');
    expect((await propose(rig)).auditOnly).toBe(true);
    expect((await auditBodies(rig)).some((body) => body['kind'] === 'gate.would_propose')).toBe(true);
    expect(await stoppedForNow(switchOf(), waiting, () => 'postgres')).toMatchObject({ code: 'AUDIT_MODE' });
    rmSync(file);
    expect(await stoppedForNow(switchOf(), waiting, () => 'postgres')).toBeUndefined();
    expect((await propose(rig)).auditOnly).toBe(false);
  });
});

test('a change of mode is audited and said once by two processes, and again when nobody could hear it', async () => {
  const notice = () =>
    createModeNotice({ sql: rig.core.sql, audit: rig.core.audit, killSwitch: switchOf(), log: quiet });
  const [one, other] = [notice(), notice()];
  const said: string[] = [];
  const tell = async (text: string): Promise<void> => void said.push(text);
  const both = () => Promise.all([one.look(tell), other.look(tell)]);
  const audited = async () =>
    (await auditBodies(rig)).filter((body) => body['kind'] === 'mode.changed').map((body) => body['details']);
  await both();
  // The first start is no change.
  expect(said).toEqual([]);
  writeFileSync(file, 'AUDIT');
  const deaf = () => Promise.reject(new Error('Slack is away'));
  await Promise.allSettled([one.look(deaf), other.look(deaf)]);
  await both();
  await both();
  expect(said).toEqual([expect.stringMatching(/^Mode AUDIT\. .*says AUDIT/)]);
  rmSync(file);
  await both();
  await both();
  expect(said.slice(1)).toEqual([expect.stringMatching(/^Mode ACTIVE again/)]);
  expect(await audited()).toMatchObject([{ mode: 'ACTIVE' }, { mode: 'AUDIT' }, { mode: 'ACTIVE' }]);
  // A process that starts now has nothing new to say.
  await notice().look(tell);
  expect(said).toHaveLength(2);
});
