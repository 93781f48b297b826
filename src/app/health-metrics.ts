import { Counter, Gauge, type Registry } from 'prom-client';
import { packageVersion } from '../config/package-root.ts';
import { cacheAnswers } from '../core/cache-answers.ts';
import { within } from '../core/within.ts';
import type { LoopDelay } from '../infra/process/watch-event-loop.ts';
import type { TargetSystem } from '../memory/systems/systems.ts';
import type { Workload } from '../record/workload.ts';
import { type Probes, readHealth } from './health.ts';

/** Scrapes that come sooner, or together, share an answer. */
const FRESH_MS = 5_000;
/** Prometheus gives a scrape ten seconds. */
const ANSWER_MS = 2_000;

export interface HealthSources {
  readonly probes: Probes;
  readonly workload: () => Promise<Workload>;
  /** Begins anew with each ask, so nobody else asks. */
  readonly loop: () => LoopDelay;
  /** Those that are configured now, by name. */
  readonly targets: ReadonlyMap<string, unknown>;
  /** When each target was last read. */
  readonly systems: () => Promise<readonly Pick<TargetSystem, 'target' | 'seenAt'>[]>;
  /** Rejects when it does not answer; null: memory is off. */
  readonly chroma: (() => Promise<unknown>) | null;
  readonly answerMs?: number;
  readonly freshMs?: number;
}

type Facts = Awaited<ReturnType<typeof readFacts>>;
type Sample = readonly [value: number, labels?: Readonly<Record<string, string>>];

/**
 * How Sentry itself is, in the metrics. What cannot be read has no sample, instead of a zero that would say that all is well:
 * `sentry_part_up` says why.
 */
export function registerHealth(metrics: Registry, sources: HealthSources): void {
  const answers = cacheAnswers(() => readFacts(sources), sources.freshMs ?? FRESH_MS);
  const facts = () => answers('');
  const registers = [metrics];
  for (const { name, help, labelNames = [], of } of GAUGES)
    new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      registers,
      async collect() {
        show(this, of(await facts()));
      },
    });
  for (const { name, help, of } of COUNTERS)
    new Counter({
      name,
      help,
      registers,
      async collect() {
        const total = of(await facts());
        this.reset();
        this.inc(total);
      },
    });
}

function show(gauge: Gauge, samples: readonly Sample[]): void {
  gauge.reset();
  // A gauge without labels has a zero from its beginning.
  gauge.remove({});
  for (const [value, labels = {}] of samples) gauge.set(labels, value);
}

interface Family {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  readonly of: (facts: Facts) => readonly Sample[];
}

const GAUGES: readonly Family[] = [
  {
    name: 'sentry_build_info',
    help: 'Always 1; the version that runs.',
    labelNames: ['version'],
    of: ({ version }) => [[1, { version }]],
  },
  {
    name: 'sentry_part_up',
    help: 'Whether each part works (1) or not (0): record, engine, slack, outbox, and chroma while memory is on.',
    labelNames: ['part'],
    of: ({ parts }) => parts.map(({ name, isUp }) => [isUp ? 1 : 0, { part: name }]),
  },
  {
    name: 'sentry_slack_connections',
    help: 'Open Socket Mode connections; 0 over HTTP.',
    of: ({ slack }) => [[slack.connections]],
  },
  {
    name: 'sentry_slack_last_event_age_seconds',
    help: 'Since anything came from Slack; no sample before the first.',
    of: ({ slack }) => seconds(slack.lastEventMs),
  },
  {
    name: 'sentry_slack_outbox_age_seconds',
    help: 'For how long the oldest change has waited to be shown in Slack; 0: none waits.',
    of: ({ slack }) => seconds(slack.oldestWaitMs),
  },
  {
    name: 'sentry_incidents_open',
    help: 'Incidents that are neither resolved nor ignored, by state, counted up to 10,000 each.',
    labelNames: ['state'],
    of: ({ work }) => work?.incidents.map(({ state, count }) => [count, { state }]) ?? [],
  },
  {
    name: 'sentry_turns',
    help: 'Turns of incidents that are due and wait, that run, and incidents whose turn failed and is tried again.',
    labelNames: ['state'],
    of: ({ queue, work }) => [
      ...labelled('state', 'waiting', queue?.waiting),
      ...labelled('state', 'running', queue?.running),
      ...labelled('state', 'failing', work?.failing),
    ],
  },
  {
    name: 'sentry_turn_oldest_wait_seconds',
    help: 'For how long the oldest turn that is due has waited to begin; 0: none waits.',
    of: ({ queue }) => seconds(queue?.oldestWaitMs),
  },
  {
    name: 'sentry_actions_unknown',
    help: 'Actions of which nobody knows whether they ran, and that nobody has settled.',
    of: ({ work }) => (work ? [[work.unknownActions]] : []),
  },
  {
    name: 'sentry_approvals_waiting',
    help: 'Proposals that wait for somebody to approve or deny them.',
    of: ({ work }) => (work ? [[work.approvals]] : []),
  },
  {
    name: 'sentry_approval_oldest_wait_seconds',
    help: 'For how long the oldest of them has waited; 0: none waits.',
    of: ({ work }) => seconds(work?.approvalWaitMs),
  },
  {
    name: 'sentry_target_last_read_age_seconds',
    help: 'Since each configured target last told what it runs, asked at the start and every hour; +Inf: never.',
    labelNames: ['target'],
    of: ({ targets }) => targets?.map(({ name, ageMs }) => [ageMs / 1000, { target: name }]) ?? [],
  },
  {
    name: 'sentry_event_loop_p99_seconds',
    help: 'How late the event loop was, 99th percentile since the scrape before.',
    of: ({ loop }) => seconds(loop.p99Ms),
  },
  {
    name: 'sentry_event_loop_longest_stall_seconds',
    help: 'The longest that the event loop was held since the start.',
    of: ({ loop }) => seconds(loop.longestMs),
  },
];

const COUNTERS = [
  {
    name: 'sentry_event_loop_stalls_total',
    help: 'How often the event loop was held for more than a second.',
    of: ({ loop }: Facts): number => loop.stalls,
  },
  {
    name: 'sentry_slack_events_given_up_total',
    help: 'Events from Slack that were taken in and could not be processed, however often it was tried.',
    of: ({ slack }: Facts): number => slack.givenUp,
  },
] as const;

async function readFacts({ probes, answerMs = ANSWER_MS, ...sources }: HealthSources) {
  const asking = within(answerMs, probes.turnQueue());
  const [parts, queue, work, systems, chroma] = await Promise.all([
    readHealth({ ...probes, turnQueue: () => asking }, answerMs),
    orNull(asking),
    orNull(within(answerMs, sources.workload())),
    orNull(within(answerMs, sources.systems())),
    sources.chroma &&
      orNull(
        within(
          answerMs,
          sources.chroma().then(() => true),
        ),
      ),
  ]);
  return {
    version: packageVersion(),
    parts: [
      ...parts.map(({ name, state }) => ({ name, isUp: state === 'ok' })),
      ...(sources.chroma ? [{ name: 'chroma', isUp: chroma === true }] : []),
    ],
    slack: probes.slack(),
    queue,
    work,
    targets: systems && agesOf([...sources.targets.keys()], systems),
    loop: sources.loop(),
  };
}

function agesOf(names: readonly string[], systems: Awaited<ReturnType<HealthSources['systems']>>) {
  const seen = new Map(systems.map(({ target, seenAt }) => [target, Date.parse(seenAt)]));
  return names.map((name) => ({
    name,
    ageMs: Math.max(0, Date.now() - (seen.get(name) ?? Number.NEGATIVE_INFINITY)),
  }));
}

/** Why not is in the parts. */
const orNull = <T>(asking: Promise<T>): Promise<T | null> => asking.catch(() => null);

const seconds = (ms: number | null | undefined): readonly Sample[] => (ms == null ? [] : [[ms / 1000]]);

const labelled = (label: string, value: string, count: number | undefined): readonly Sample[] =>
  count === undefined ? [] : [[count, { [label]: value }]];
