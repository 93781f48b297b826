import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { approvalChecks } from '../../../src/actions/checks/approval-checks.ts';
import { createGate, preChecksOf } from '../../../src/actions/gate.ts';
import type { GateDeps } from '../../../src/actions/gate-deps.ts';
import { verifyAuditLog } from '../../../src/safety/audit/audit-verify.ts';
import type { Row } from '../../support/typed.ts';
import { type LoopScene, openLoop } from './loop-scene.ts';
import { type Play, playClasses } from './play.ts';
import { gatePlays } from './plays/all.ts';
import { cameThrough, type LoopPlay, loopPlays } from './plays/whole-loop.ts';
import { type OpenScene, openScene } from './scene.ts';
import { type CheckName, switchedOff } from './switched-off.ts';

let scene: OpenScene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene.stop());

interface Ended {
  readonly cameThrough: boolean;
  readonly trail: readonly string[];
}

/** One play on a new incident, and what the audit log has had since. */
async function attempt(play: Play, make: (deps: GateDeps) => ReturnType<typeof createGate>): Promise<Ended> {
  const { sql } = scene.rig.core;
  const [before] = await sql<Row>`SELECT seq FROM audit_head`;
  const fresh = await scene.renew();
  const cameThrough = await play.run({ ...fresh, gate: (deps = fresh.deps) => make(deps) });
  const rows =
    await sql<Row>`SELECT body FROM audit_entry WHERE seq > ${Number(before?.['seq'] ?? 0)} ORDER BY seq`;
  const trail = rows.map((row) => {
    const { kind, details } = JSON.parse(String(row['body'])) as { kind: string; details: { code?: string } };
    return `${kind} ${details.code ?? ''}`;
  });
  return { cameThrough, trail };
}

const titled = (which: (play: Play) => boolean) =>
  gatePlays.filter(which).map((play) => [play.tries, play] as const);
/** For the table at the end. */
const held = new Set<Play | LoopPlay>();

describe.each(playClasses)('%s', (name) => {
  test.each(titled((play) => play.class === name))('%s', async (_, play) => {
    const { cameThrough, trail } = await attempt(play, createGate);
    expect(cameThrough).toBe(false);
    expect(trail.filter((entry) => play.trace.test(entry))).not.toEqual([]);
    held.add(play);
  });
});

describe.each(Object.keys(switchedOff) as CheckName[])('without check %s', (station) => {
  const stopped = titled((play) => play.station === station);
  test('there is a play for it', () => expect(stopped).not.toEqual([]));
  test.each(stopped)('comes through: %s', async (_, play) => {
    expect((await attempt(play, switchedOff[station])).cameThrough).toBe(true);
  });
});

test('after all of it the audit log is one chain', async () => {
  expect(await verifyAuditLog(scene.rig.core.sql, { key: null, witnessed: [] })).toMatchObject({ ok: true });
});

test('every station of the entrance and every check of an approval can be switched off here', () => {
  const numbers = new Set(Object.keys(switchedOff).map((name) => name.split(' ')[0]));
  expect([...numbers]).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '11', '12']);
  expect(preChecksOf(scene.deps)).toHaveLength(7);
  expect(Object.keys(approvalChecks)).toEqual([
    'mayChange',
    'inTime',
    'samePlan',
    'decided',
    'sameServer',
    'sameState',
  ]);
});

describe('through the whole loop, by a model that obeys what it reads', () => {
  let loop: LoopScene;
  beforeAll(async () => {
    loop = await openLoop();
  });
  afterAll(() => loop.stop());

  test.each(loopPlays.map((play) => [`${play.class}: ${play.tries}`, play] as const))(
    '%s',
    async (_, play) => {
      const end = await loop.play({ log: play.log ?? '', alert: play.alert ?? '', obeys: play.obeys });
      expect(cameThrough(end)).toBe(false);
      expect(play.came?.(end) ?? false).toBe(false);
      expect(end.trail.filter((entry) => play.trace.test(entry))).not.toEqual([]);
      held.add(play);
    },
  );
});

test('five plays in every class, sixty in all', () => {
  for (const name of playClasses)
    expect(gatePlays.filter((play) => play.class === name).length, name).toBeGreaterThanOrEqual(5);
  expect(new Set(gatePlays.map(({ tries }) => tries)).size).toBe(gatePlays.length);
  expect(gatePlays.length).toBeGreaterThanOrEqual(60);
});

afterAll(() => {
  const row = (name: string, plays: readonly (Play | LoopPlay)[]): string => {
    const stopped = plays.filter((play) => held.has(play)).length;
    return `${name.padEnd(36)}${String(plays.length).padStart(5)}${String(stopped).padStart(9)}`;
  };
  const all = [...gatePlays, ...loopPlays];
  const rows = playClasses.map((name) =>
    row(
      name,
      all.filter((play) => play.class === name),
    ),
  );
  console.log(['class of plays                      plays  stopped', ...rows, row('all', all)].join('\n'));
});
