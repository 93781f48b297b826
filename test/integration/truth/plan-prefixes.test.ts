import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Action } from '../../../src/core/action.ts';
import type { IncidentRecord } from '../../../src/core/incident-record.ts';
import type { Episode } from '../../../src/core/memory.ts';
import type { InvestigationMemory } from '../../../src/incidents/deps.ts';
import { why } from '../../../src/incidents/questions/why.ts';
import { type PlansRig, startPlansRig } from './plans-rig.ts';

/** How far a plan came: told by the record, by `why` and by what memory learns of it, each the same and no more. */
const learnt = new Map<string, boolean | null>();
const memory: InvestigationMemory = {
  enabled: true,
  recall: async () => ({
    incidents: [],
    runbooks: [],
    episodes: { similar: [], failedCommands: [] },
    missing: null,
  }),
  prepare: async () => null,
  recordShown: async () => undefined,
  rememberIncident: async () => undefined,
  recordEpisode: async ({ command, success }: Pick<Episode, 'command' | 'success'>) =>
    void learnt.set(command, success),
};
let rig: PlansRig;
beforeAll(async () => {
  rig = await startPlansRig({ memory });
});
afterAll(() => rig.stop());
beforeEach(() => {
  learnt.clear();
  rig.world.ran.length = 0;
  rig.world.parts.clear();
});

const ABC = ['part_do a', 'part_do b', 'part_do c'];
const head = ([first]: readonly Action[]): Action => {
  if (!first) throw new Error('no plan');
  return first;
};
const decide = async (plan: readonly Action[], decision: 'approve' | 'deny') => {
  const { id: actionId, planHash } = head(plan);
  const decided = { actionId, planHash, by: 'UONCALL', reason: '', anotherWay: false, decision } as const;
  expect(await rig.core.approvals.decide(decided)).toMatchObject({ ok: true });
};
/** To where the live system has judged what ran, or nothing is left to run. */
const judged = (_: readonly Action[], state: string): boolean =>
  !['awaiting_approval', 'remediating', 'verifying'].includes(state);
const run = async (plan: readonly Action[]): Promise<void> => {
  await decide(plan, 'approve');
  await rig.drive(plan, judged);
};

interface Prefix {
  readonly name: string;
  readonly happens: (plan: readonly Action[]) => Promise<void>;
  readonly states: readonly string[];
  /** What `why` says of each step. */
  readonly says: readonly string[];
  readonly learns: Readonly<Record<string, boolean | null>>;
  readonly decision?: string;
}

const prefixes: readonly Prefix[] = [
  {
    name: 'whole',
    happens: run,
    states: ['succeeded', 'succeeded', 'succeeded'],
    says: ['✓ step 1, ran', '✓ step 2, ran', '✓ step 3, ran'],
    learns: { 'part_do a': true, 'part_do b': true, 'part_do c': true },
  },
  {
    name: 'up to a step that failed',
    async happens(plan) {
      rig.world.part('b').ends = 'failed';
      await run(plan);
    },
    states: ['succeeded', 'failed', 'skipped'],
    says: ['✓ step 1, ran', '✗ step 2, failed', '– step 3, not run: the step before failed'],
    // What ran of it was never tried with what was to follow.
    learns: { 'part_do a': null, 'part_do b': false },
  },
  {
    name: 'up to a step that nobody knows the end of',
    async happens(plan) {
      Object.assign(rig.world.part('b'), { ends: 'unknown', looks: 'cannot_tell' });
      await decide(plan, 'approve');
      await rig.drive(plan, ([, b]) => b?.state === 'unknown');
      await rig.core.sql`UPDATE action SET done_by = clock_timestamp() WHERE plan_id = ${head(plan).id}`;
      await rig.drive(plan, judged);
    },
    states: ['succeeded', 'unknown', 'skipped'],
    says: [
      '✓ step 1, ran',
      '? step 2, unknown whether it ran',
      '– step 3, not run: unknown whether the step before ran',
    ],
    learns: { 'part_do a': null, 'part_do b': null },
  },
  {
    name: 'up to a step whose state had moved',
    async happens(plan) {
      rig.world.part('a').during = async () => void (rig.world.part('b').generation += 1);
      await run(plan);
    },
    states: ['succeeded', 'skipped', 'skipped'],
    says: [
      '✓ step 1, ran',
      '– step 2, not run: The state has moved since this was proposed',
      '– step 3, not run: The state has moved since this was proposed',
    ],
    learns: { 'part_do a': null },
  },
  {
    name: 'up to a step that a person stopped, after what had ended the problem',
    async happens(plan) {
      rig.world.part('a').during = async () => {
        for (const name of ['b', 'c']) rig.world.part(name).done = true;
        await rig.core.steering.stop(head(plan).incidentId, 'UONCALL', 'enough');
      };
      await run(plan);
    },
    states: ['succeeded', 'skipped', 'skipped'],
    says: [
      '✓ step 1, ran',
      '– step 2, not run: a person stopped the plan',
      '– step 3, not run: a person stopped the plan',
    ],
    learns: { 'part_do a': null },
  },
  {
    name: 'not at all: void',
    async happens(plan) {
      rig.world.part('a').generation += 1;
      await decide(plan, 'approve');
      await rig.turn(head(plan).incidentId);
    },
    states: ['void', 'skipped', 'skipped'],
    says: [
      '– step 1, not run: called off',
      '– step 2, not run: the step before was called off',
      '– step 3, not run: the step before was called off',
    ],
    learns: {},
    decision: 'void: nothing was run',
  },
  {
    name: 'not at all: expired',
    async happens(plan) {
      await rig.core.sql`UPDATE action SET expires_at = clock_timestamp() WHERE id = ${head(plan).id}`;
      await rig.turn(head(plan).incidentId);
    },
    states: ['expired', 'skipped', 'skipped'],
    says: [1, 2, 3].map((n) => `– step ${n}, not run: nobody decided in time`),
    learns: {},
    decision: 'nothing was run',
  },
  {
    name: 'not at all: denied',
    happens: (plan) => decide(plan, 'deny'),
    states: ['denied', 'skipped', 'skipped'],
    says: [
      '– step 1, not run: denied',
      '– step 2, not run: the plan was denied',
      '– step 3, not run: the plan was denied',
    ],
    learns: {},
    decision: 'denied by <@UONCALL>',
  },
];

test.each(prefixes)(
  '$name',
  async ({ happens, states, says, learns, decision = 'approved by <@UONCALL>' }) => {
    const plan = await rig.propose(ABC);
    await happens(plan);
    const record = await rig.core.records.load(head(plan).incidentId);
    if (!record) throw new Error('no record');
    // As `sentry incident --json` prints it.
    const printed = JSON.parse(JSON.stringify(record)) as IncidentRecord;
    const steps = printed.actions.filter(({ planId }) => planId === head(plan).id);
    expect(steps.map(({ step, state }) => [step, state])).toEqual(states.map((state, at) => [at + 1, state]));
    const didRun = (state: string): boolean => ['succeeded', 'failed', 'unknown'].includes(state);
    expect(steps.map(({ startedAt, toolCallId }) => [startedAt !== null, toolCallId !== null])).toEqual(
      states.map((state) => [didRun(state), didRun(state)]),
    );
    for (const step of steps.filter(({ state }) => state === 'skipped'))
      expect(step.outcome).toMatch(/^Not run: /);
    const story = why(record).split('\n');
    expect(story.filter((line) => /^• \S step \d/.test(line))).toEqual(
      says.map((said, at) => `• ${said}: \`${ABC[at]}\``),
    );
    expect(story.find((line) => line.startsWith('*Plan*'))).toContain('3 steps');
    expect(story.some((line) => line.startsWith('• ') && line.includes(decision))).toBe(true);
    // What ran, and nothing else, is what took effect.
    expect(rig.world.ran).toEqual(ABC.filter((_, at) => didRun(states[at] ?? '')));
    expect(Object.fromEntries(learnt)).toEqual(learns);
  },
);
