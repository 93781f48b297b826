import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { alertChecks } from '../../../src/agents/playbook/alert-checks.ts';
import type { Alert } from '../../../src/core/alert.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import { parseRunbook } from '../../../src/runbooks/parse-runbook.ts';
import type { Runbook } from '../../../src/runbooks/runbook.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import {
  approve,
  at,
  coreOf,
  learnt,
  open,
  proposed,
  reasons,
  resetWorld,
  script,
  until,
  verdicts,
  world,
} from './recovery-rig.ts';

/** The runbooks as they are now: what an admin promotes later counts from then on. */
const shelf: { runbooks: readonly Runbook[] } = { runbooks: [] };

let database: ScratchDatabase;
beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  at.core = await coreOf(database.url, {
    gate: { runbookChecks: (incident) => alertChecks(shelf.runbooks, incident) },
  });
  await at.core.start();
});
afterAll(async () => {
  await at.core.stop();
  await database.drop();
});
beforeEach(() => {
  resetWorld();
  // What the diagnosis blames is really red, and mended by what it proposes.
  world.acts = () => {
    world.waiting = 0;
  };
  shelf.runbooks = [standing];
});

const runbook = (id: string, alerts: string, requires: string, call = 'queue_blips'): Runbook => {
  const front = `id: ${id}\ntitle: Standing queues\ndomain: postgres\nversion: 1\ntype: standing_queue`;
  const outcome = parseRunbook(
    `${id}.md`,
    `---\n${front}\nmatches: { alerts: [${alerts}] }\nrequires: { step: look, ${requires} }\n---\n# Standing queues\n\n` +
      `## 1. Look\n\n\`\`\`yaml step\nid: look\ncall: ${call}\nchecks:\n  - when: result.stands == 0\n    healthy: None stands.\n\`\`\`\n`,
  );
  if (!outcome.ok) throw new Error(outcome.problems.map(({ message }) => message).join('; '));
  return outcome.parsed.runbook;
};

const standing = runbook(
  'standing-queues',
  '"*StandingQueues*"',
  'when: result.stands > 0, bad: present, measure: stands',
);
/** A chat message, which no word of an end follows; each about a machine of its own. */
function openAlert(more: Partial<Alert> = {}): Promise<IncidentId> {
  const name = more.name ?? 'StandingQueues';
  const labels = { alertname: name, instance: randomUUID() };
  return open(at.core, { source: 'slack', name, title: 'Standing queues on box', labels, ...more });
}

describe('an alert about one thing, whose diagnosis blames another that is red as well,', () => {
  test('is never called fixed by mending that', async () => {
    const id = await openAlert();
    const action = await approve(id);
    expect(action.verify.steps.map(({ says }) => says)).toContainEqual(
      expect.stringMatching(/queues that stand still.*which the alert is about/),
    );
    const { incident, events } = await until(id, 'reported', 2);
    expect(world.acted).toBe(1);
    expect(incident.resolvedBy).toBeNull();
    expect(verdicts(events)).toEqual(['not_fixed']);
    expect(reasons(events)).toContain('✗ queues that stand still: 1 queues');
    expect(learnt(id)).toEqual([false]);
  });

  test('is fixed where mending that ends what the alert is about', async () => {
    world.acts = () => {
      world.waiting = 0;
      world.blips = [0];
    };
    const id = await openAlert();
    await approve(id);
    const { incident, events } = await until(id, 'resolved');
    expect(incident.resolvedBy).toBe('confirmed');
    expect(reasons(events)).toContain('✓ queues that stand still: 0 queues');
  });

  test('is not told to be fixed while nobody can read what the alert is about', async () => {
    world.blips = [1, 1, -1];
    const id = await openAlert();
    await approve(id);
    const { incident, events } = await until(id, 'escalated');
    expect(incident.resolvedBy).toBeNull();
    expect(verdicts(events)).toEqual(['cannot_tell']);
    expect(reasons(events)).toContain('nobody says which queues stand still');
  });

  test('is not told to be fixed where that could not be read from the beginning', async () => {
    world.blips = [-1];
    const id = await openAlert();
    await approve(id);
    const { events } = await until(id, 'escalated');
    expect(world.acted).toBe(1);
    expect(verdicts(events)).toEqual(['cannot_tell']);
  });

  test('is not fixed by what goes away and comes back while it is watched', async () => {
    world.blips = [1, 1, 0, 1, 0, 0, 1];
    const id = await openAlert();
    await approve(id);
    const { incident, events } = await until(id, 'reported', 2);
    expect(incident.resolvedBy).toBeNull();
    expect(verdicts(events)).toEqual(['not_fixed']);
  });

  test('opens again where what the alert is about comes back, however well the rest is', async () => {
    world.acts = () => {
      world.waiting = 0;
      world.blips = [0];
    };
    const id = await openAlert();
    await approve(id);
    await until(id, 'resolved');
    world.blips = [1];
    await at.core.engine.enqueueTurn(id, 'does it last');
    const { events } = await until(id, 'reported', 2);
    expect(verdicts(events)).toEqual(['fixed', 'not_fixed']);
    expect(learnt(id)).toEqual([true, false]);
  });
});

describe('before it runs, a repair of something else', () => {
  test('is not proposed where what the alert is about is over', async () => {
    world.blips = [0];
    const id = await openAlert();
    const { incident, actions } = await until(id, 'reported');
    expect(actions).toEqual([]);
    expect(incident.nextStep).toContain('over by itself');
  });

  test('does not run where that has ended since', async () => {
    world.blips = [1, 0];
    const id = await openAlert();
    await approve(id);
    const { incident } = await until(id, 'reported');
    expect(world.acted).toBe(0);
    expect(incident.nextStep).toContain('over by itself');
  });

  test('does not run where only what the alert is about is left', async () => {
    const id = await openAlert();
    await proposed(id);
    world.waiting = 0;
    await approve(id);
    // What is blamed for it now is looked for; this says the same again, and finds no ground.
    await until(id, 'reported', 2);
    expect(world.acted).toBe(0);
  });
});

describe('what the alert is about', () => {
  test.each([
    ['no runbook lists it', { name: 'JobsWait', title: 'Jobs wait on box' }],
    [
      'it is the opposite of what the runbook that lists it is about',
      { name: 'StandingQueuesTooFew', title: 'Too few standing queues' },
    ],
  ])('is not known where %s: the criterion alone is said', async (_what, other) => {
    if (other.name === 'StandingQueuesTooFew')
      shelf.runbooks = [
        runbook('standing-queues', '"*StandingQueues*"', 'when: result.stands > 0, bad: high'),
      ];
    const id = await openAlert(other);
    const action = await approve(id);
    expect(action.verify.steps.some(({ ofAlert }) => ofAlert)).toBe(false);
    const { events } = await until(id, 'resolved');
    expect(reasons(events)).toMatch(/^✓ waiting jobs: 0 jobs[^;]*(; ✓ starts: 0)? \(held/);
  });

  test('is what the one of two runbooks that shows on the live system says', async () => {
    shelf.runbooks = [
      runbook('a-other', 'StandingQueues', 'when: result.waiting > 1000, bad: present', 'queue_state'),
      runbook('standing-queues', '"*StandingQueues*"', 'when: result.stands > 0, bad: present'),
    ];
    const id = await openAlert();
    await approve(id);
    const { events } = await until(id, 'reported', 2);
    expect(verdicts(events)).toEqual(['not_fixed']);
    expect(reasons(events)).toContain('✗ Not yet: “Standing queues”, which the alert is about');
  });

  test('is known from a runbook that was promoted a moment ago', async () => {
    shelf.runbooks = [];
    const first = await openAlert();
    shelf.runbooks = [standing];
    const { verify } = await proposed(first);
    expect(verify.steps.map(({ tool }) => tool)).toContain('queue_blips');
  });

  test('is what the rule compares that the alert carries', async () => {
    shelf.runbooks = [];
    const id = await openAlert({ annotations: { expr: 'queues_standing > 0' } });
    await approve(id);
    const { events } = await until(id, 'reported', 2);
    expect(verdicts(events)).toEqual(['not_fixed']);
    expect(reasons(events)).toContain('✗ queues that stand still: 1 queues');
  });

  test('is as its runbook says in a plan of that runbook, and is asked for only once', async () => {
    const verify = {
      steps: [
        { tool: 'queue_state', input: {}, measure: { name: 'waiting', bound: 2 }, says: 'No job waits.' },
      ],
      holdMs: 100,
      timeoutMs: 600,
    };
    script.notes = { runbookId: 'standing-queues', verify };
    const id = await openAlert();
    expect((await approve(id)).verify.steps.map(({ tool }) => tool)).not.toContain('queue_blips');
    await until(id, 'resolved');
  });

  test('is not told by a runbook that only says so of itself', async () => {
    script.notes = { runbookId: 'standing-queues', verify: null };
    const id = await openAlert();
    expect((await proposed(id)).verify.steps.map(({ tool }) => tool)).toContain('queue_blips');
  });

  test('is read once where the diagnosis blames just that', async () => {
    script.reads = ['queue_blips'];
    world.acts = () => {
      world.blips = [0];
    };
    const id = await openAlert();
    const { verify } = await approve(id);
    expect(verify.steps.map(({ tool, ofAlert }) => [tool, ofAlert])).toEqual([['queue_blips', true]]);
    await until(id, 'resolved');
  });
});
