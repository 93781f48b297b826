import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { type HealthSources, registerHealth } from '../../../src/app/health-metrics.ts';

const well: HealthSources = {
  probes: {
    record: async () => undefined,
    turnQueue: async () => ({ oldestWaitMs: 4_000, stalledMs: 0, waiting: 2, running: 3, beatMs: 900 }),
    slack: () => ({
      ok: true,
      mode: 'socket',
      connections: 2,
      problem: null,
      oldestWaitMs: 1_500,
      lastEventMs: 7_000,
      givenUp: 4,
    }),
  },
  workload: async () => ({
    incidents: [{ state: 'escalated', count: 5 }],
    failing: 1,
    unknownActions: 6,
    approvals: 8,
    approvalWaitMs: 90_000,
  }),
  loop: () => ({ p99Ms: 12, longestMs: 2_500, stalls: 3 }),
  targets: new Map([
    ['orders-db', null],
    ['new-db', null],
  ]),
  systems: async () => [
    { target: 'orders-db', seenAt: new Date().toISOString() },
    { target: 'gone-db', seenAt: new Date(0).toISOString() },
  ],
  chroma: async () => undefined,
  answerMs: 20,
  freshMs: 0,
};
const never = (): Promise<never> => new Promise(() => undefined);

async function scrape(sources: Partial<HealthSources> = {}): Promise<readonly string[]> {
  const metrics = new Registry();
  registerHealth(metrics, { ...well, ...sources });
  await metrics.metrics();
  return samplesOf(await metrics.metrics());
}
const samplesOf = (text: string): readonly string[] =>
  text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

it('tells how each part of Sentry is, what is under way and what waits [M7]', async () => {
  const samples = await scrape();
  expect(samples.filter((line) => !/build_info|target_last_read/.test(line))).toEqual([
    'sentry_part_up{part="record"} 1',
    'sentry_part_up{part="engine"} 1',
    'sentry_part_up{part="slack"} 1',
    'sentry_part_up{part="outbox"} 1',
    'sentry_part_up{part="chroma"} 1',
    'sentry_slack_connections 2',
    'sentry_slack_last_event_age_seconds 7',
    'sentry_slack_outbox_age_seconds 1.5',
    'sentry_incidents_open{state="escalated"} 5',
    'sentry_turns{state="waiting"} 2',
    'sentry_turns{state="running"} 3',
    'sentry_turns{state="failing"} 1',
    'sentry_turn_oldest_wait_seconds 4',
    'sentry_actions_unknown 6',
    'sentry_approvals_waiting 8',
    'sentry_approval_oldest_wait_seconds 90',
    'sentry_event_loop_p99_seconds 0.012',
    'sentry_event_loop_longest_stall_seconds 2.5',
    'sentry_event_loop_stalls_total 3',
    'sentry_slack_events_given_up_total 4',
  ]);
  expect(samples[0]).toMatch(/^sentry_build_info\{version="\d+\.\d+\.\d+.*"\} 1$/);
});

it('of targets it tells those that are configured, and which was never read [M7]', async () => {
  const targets = (await scrape()).filter((line) => line.includes('target'));
  expect(targets).toEqual([
    expect.stringMatching(/^sentry_target_last_read_age_seconds\{target="orders-db"\} [\d.e-]+$/),
    'sentry_target_last_read_age_seconds{target="new-db"} +Inf',
  ]);
});

it.each([
  ['refuses', () => Promise.reject(new Error('refused'))],
  ['does not answer', never],
])('a record that %s is said, and nothing of it is told as a zero [M7]', async (_, away) => {
  const samples = await scrape({
    probes: { ...well.probes, record: away, turnQueue: away },
    workload: away,
    systems: away,
    chroma: away,
  });
  for (const part of ['record', 'engine', 'chroma'])
    expect(samples).toContain(`sentry_part_up{part="${part}"} 0`);
  expect(samples).toContain('sentry_part_up{part="slack"} 1');
  const names = samples.map((line) => line.replace(/[ {].*/, ''));
  expect(names.filter((name) => /turn|action|approval|incidents|target/.test(name))).toEqual([]);
});

it('before the first event of Slack there is no age of it, and without memory no Chroma [M7]', async () => {
  const slack = (): ReturnType<typeof well.probes.slack> => ({ ...well.probes.slack(), lastEventMs: null });
  const samples = await scrape({ probes: { ...well.probes, slack }, chroma: null });
  expect(samples.filter((line) => /last_event|chroma/.test(line))).toEqual([]);
});

it('scrapes one after the other share an answer [M7]', async () => {
  let asked = 0;
  const metrics = new Registry();
  const workload = () => {
    asked += 1;
    return well.workload();
  };
  registerHealth(metrics, { ...well, workload, freshMs: 600_000 });
  const both = await Promise.all([metrics.metrics(), metrics.metrics()]);
  expect(await metrics.metrics()).toBe(both[0]);
  expect(asked).toBe(1);
});
