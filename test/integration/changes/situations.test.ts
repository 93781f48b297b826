import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadSituations } from '../../../evals/changes/load-situations.ts';
import type { Played } from '../../../evals/changes/play-situation.ts';
import {
  faultsOfClaude,
  faultsOfFinding,
  faultsOfPlaybook,
  faultsOfRash,
} from '../../../evals/changes/score-situation.ts';
import { mustBeNamed, type Situation } from '../../../evals/changes/situation.ts';
import { patience } from '../../support/patience.ts';
import { openSituations, type SituationsRig } from './situations-rig.ts';

const PLAYING_MS = 60_000 * patience;

const develop = await loadSituations('develop');
const heldOut = await loadSituations('heldOut');
const all = [...develop, ...heldOut];
/** `SITUATIONS=all` plays every one; else the first of its kind, and those of which more than one thing is said. */
const isAll = process.env['SITUATIONS'] === 'all';
const played = isAll
  ? all
  : all.filter(
      ({ about, claude }, n) =>
        claude.length > 1 || all.findIndex((situation) => situation.about === about) === n,
    );
const named = played.map((situation) => [situation.id, situation] as const);

let rig: SituationsRig;
beforeAll(async () => {
  rig = await openSituations();
}, PLAYING_MS);
afterAll(() => rig?.close());

/** The same incident while nobody tells of a change, once for all that share it. */
const quietly = new Map<string, Promise<Played>>();
function withoutChange(situation: Situation): Promise<Played> {
  const known = quietly.get(situation.recorded) ?? rig.playbook({ ...situation, told: [], broken: false });
  quietly.set(situation.recorded, known);
  return known;
}

describe('the situations', () => {
  test('are as many as they have to be, half of them held out, and each is there once', () => {
    const must = all.filter(mustBeNamed);
    const several = must.filter(({ told }) => told.some(({ commits }) => commits.length > 1));
    expect(must.length).toBeGreaterThanOrEqual(30);
    expect(all.length - must.length).toBeGreaterThanOrEqual(25);
    expect(several.length).toBeGreaterThanOrEqual(10);
    expect(heldOut.length).toBeGreaterThanOrEqual(27);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    expect(new Set(must.map(({ about }) => about)).size).toBeGreaterThanOrEqual(10);
  });

  test('have a Claude that quotes what stands in what it has read', () => {
    expect(
      all.flatMap((situation) => rig.misquoted(situation).map((line) => `${situation.id}: ${line}`)),
    ).toEqual([]);
  });
});

describe('by its runbooks, without a model', () => {
  test.each(named)(
    '%s',
    async (_, situation) => {
      const played = await rig.playbook(situation);
      // Only a change that is none of the causes must not make it surer.
      const isBlamed = played.diagnosis.changes?.some(({ part }) => part === 'cause') ?? false;
      const faults = [
        ...faultsOfFinding(situation, played),
        ...faultsOfPlaybook(situation, played, isBlamed ? played : await withoutChange(situation)),
      ];
      expect(faults).toEqual([]);
    },
    PLAYING_MS,
  );
});

describe('by a Claude that reads the system and blames a change', () => {
  const scripts = named.flatMap(([id, situation]) =>
    situation.claude.map((script, n) => [`${id} ${n + 1}`, situation, script] as const),
  );
  test.each(scripts)(
    '%s',
    async (_, situation, script) => {
      const played = await rig.claude(situation, script);
      expect([...faultsOfFinding(situation, played), ...faultsOfClaude(situation, played, script)]).toEqual(
        [],
      );
    },
    PLAYING_MS,
  );
});

describe('by a Claude that has read nothing but what was changed', () => {
  // Where the change is the cause time tempts the most.
  const tempting = named.filter(([, situation]) => isAll || mustBeNamed(situation));
  const scripts = tempting.flatMap(([id, situation]) =>
    situation.claude.slice(0, 1).map((script) => [id, situation, script] as const),
  );
  test.each(scripts)(
    '%s',
    async (_, situation, script) => {
      expect(faultsOfRash(situation, await rig.claude(situation, script, true))).toEqual([]);
    },
    PLAYING_MS,
  );
});

describe('the first finding', () => {
  const [[, situation] = [], script] = [named[0], named[0]?.[1].claude[0]];
  if (situation === undefined || script === undefined) throw new Error('there is no situation');
  /** As they were before anybody asked what was changed. */
  const triage = (who: string) => [
    'read',
    'begin',
    'open on the same system',
    'recall start',
    `context ${who} triage`,
  ];
  const detective = (who: string) => ['conclude', 'read', 'recall triaged', `context ${who} detective`];

  test(
    'waits for no step of a turn, and for no read, that it did not wait for before',
    async () => {
      const played = await rig.playbook(situation);
      expect(played.before).toEqual([
        ...triage('playbook'),
        ...detective('playbook'),
        'playbook detective playbook:diagnose:r1:container-died:age',
        'playbook detective playbook:diagnose:r1:container-died:containers',
      ]);
      const reads = ({ record }: Played) => record.toolCalls.filter(({ target }) => target !== null).length;
      expect(reads(played)).toBe(reads(await withoutChange(situation)));
      expect(played.record.toolCalls.filter(({ tool }) => tool === 'what_changed')).toHaveLength(1);
    },
    PLAYING_MS,
  );

  test(
    'nor does a model, which is told what was changed with the alert',
    async () => {
      const { before } = await rig.claude(situation, script);
      expect(
        before.slice(
          0,
          before.findIndex((name) => name.includes(' tool ')),
        ),
      ).toEqual([
        ...triage('claude'),
        'claude triage r1 memory 1',
        'claude triage claude:triage:r1:prompt',
        'claude triage claude:triage:r1:turn 1 message',
        ...detective('claude'),
        'claude detective r1 memory 1',
        'claude detective claude:detective:r1:prompt',
        'claude detective claude:detective:r1:turn 1 message',
      ]);
    },
    PLAYING_MS,
  );
});
