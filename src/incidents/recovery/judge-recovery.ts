import type { VerifyPlan } from '../../core/tool-call.ts';

/** One look after the action ran. */
export interface WatchReading {
  /** Whether every step held; null: cannot tell. */
  readonly holds: boolean | null;
  /** By step. */
  readonly values: readonly (number | null)[];
  /** Ms since the epoch, the database's clock. */
  readonly at: number;
}

export interface Watch {
  readonly plan: Pick<VerifyPlan, 'holdMs' | 'timeoutMs'>;
  /** Oldest first, the last is of now. */
  readonly readings: readonly WatchReading[];
  /** When the action ended, ms since the epoch. */
  readonly ranAt: number;
  /** Steps whose number must stay as it is while the rest holds: another one is a restart. */
  readonly steady: readonly number[];
  /** The longest it was seen to stay away by itself before the action, where it comes and goes by nature; else 0. */
  readonly wentAwayMs: number;
  /** Nothing ran, so nothing needs time to show an effect. */
  readonly neverRan: boolean;
  /** The source says that its alert has ended. */
  readonly isSourceOver: boolean;
  /** How long to wait for a source that still fires once our own check holds; 0: it sends no ends, or nobody waits for it. */
  readonly sourceWaitMs: number;
}

export type Judgement =
  | { readonly kind: 'wait'; readonly inMs: number; readonly forSource: boolean }
  /** Red before, green since `heldMs`, and nobody says otherwise. */
  | { readonly kind: 'recovered'; readonly heldMs: number }
  /** Our own check holds, and the source has not said that it is over. */
  | { readonly kind: 'source_fires'; readonly heldMs: number }
  | { readonly kind: 'still_red' }
  /** It holds at each look, and was started again in between so often that it never held for long. */
  | { readonly kind: 'restarted'; readonly times: number }
  | { readonly kind: 'unread' };

const MIN_SAMPLES = 3;
const SOURCE_LOOK_MS = 15_000;
/** Longer than any pace between two looks, with room for a busy machine. */
const BLIND_MS = 120_000;

/**
 * Whether the problem is over, by what was read since the action. Held means: for the plan's time, over three looks at
 * least, and twice as long as the longest time it was green before it turned red again, before the action as well where it
 * comes and goes by nature.
 */
export function judgeRecovery(watch: Watch): Judgement {
  const { plan, readings, ranAt, isSourceOver, sourceWaitMs } = watch;
  const now = readings.at(-1);
  if (now === undefined) return { kind: 'wait', inMs: 0, forSource: false };
  const runs = greenRuns(watch);
  const needMs = Math.max(plan.holdMs, 2 * watch.wentAwayMs, 2 * longestOf(runs.broken));
  const current = runs.current;
  const isOut = now.at - ranAt >= plan.timeoutMs;
  if (runs.hasJustRestarted && isOut) return { kind: 'restarted', times: runs.restarts };
  if (current !== null) {
    const heldMs = now.at - current.from;
    if (heldMs >= needMs && current.samples >= MIN_SAMPLES) {
      if (isSourceOver || sourceWaitMs === 0) return { kind: 'recovered', heldMs };
      return heldMs - needMs >= sourceWaitMs
        ? { kind: 'source_fires', heldMs }
        : { kind: 'wait', inMs: Math.min(SOURCE_LOOK_MS, Math.max(100, sourceWaitMs / 4)), forSource: true };
    }
    // It ends by itself: it holds, or it breaks.
    return { kind: 'wait', inMs: pace(watch, now.at), forSource: false };
  }
  if (now.holds === false && (isOut || watch.neverRan)) return { kind: 'still_red' };
  if (isOut) return { kind: 'unread' };
  return { kind: 'wait', inMs: pace(watch, now.at), forSource: false };
}

/** Often at first, when most things end, and less often later. */
function pace({ plan, ranAt }: Watch, now: number): number {
  const since = now - ranAt;
  const every = since < 15_000 ? 1_000 : since < 60_000 ? 2_000 : since < 300_000 ? 5_000 : 30_000;
  return Math.min(every, Math.max(100, plan.holdMs));
}

interface GreenRun {
  readonly from: number;
  readonly to: number;
  readonly samples: number;
}

interface GreenRuns {
  /** The one that lasts. */
  readonly current: GreenRun | null;
  /** Those that a red reading or a restart ended. */
  readonly broken: readonly GreenRun[];
  /** How often it was started again while everything else held. */
  readonly restarts: number;
  readonly hasJustRestarted: boolean;
}

/** Times without a break in which everything held. */
function greenRuns({ readings, steady }: Pick<Watch, 'readings' | 'steady'>): GreenRuns {
  const broken: GreenRun[] = [];
  let current: GreenRun | null = null;
  let before: WatchReading | undefined;
  let restarts = 0;
  let hasJustRestarted = false;
  for (const reading of readings) {
    hasJustRestarted = current !== null && before !== undefined && hasRestarted(before, reading, steady);
    if (hasJustRestarted) restarts += 1;
    // Nobody looked for a while (a stop, a restart of ours): what was in between is not known.
    const blind = before !== undefined && reading.at - before.at > BLIND_MS;
    if (current !== null && (reading.holds === false || hasJustRestarted))
      broken.push({ ...current, to: blind ? current.to : reading.at });
    if (reading.holds !== true) current = null;
    else if (current === null || hasJustRestarted || blind)
      current = { from: reading.at, to: reading.at, samples: 1 };
    else current = { from: current.from, to: reading.at, samples: current.samples + 1 };
    before = reading;
  }
  return { current, broken, restarts, hasJustRestarted };
}

/** Whether what has to stay as it is has changed between two looks. */
export function hasRestarted(
  before: Pick<WatchReading, 'values'>,
  now: Pick<WatchReading, 'values'>,
  steady: readonly number[],
): boolean {
  return steady.some((at) => {
    const [was, is] = [before.values[at] ?? null, now.values[at] ?? null];
    return was !== null && is !== null && is !== was;
  });
}

/** The longest time that readings show it healthy before it was unhealthy again; 0: it never was. */
export function longestGreenGap(
  readings: readonly { readonly holds: boolean | null; readonly at: number }[],
): number {
  return longestOf(
    greenRuns({ readings: readings.map((one) => ({ ...one, values: [] })), steady: [] }).broken,
  );
}

function longestOf(runs: readonly GreenRun[]): number {
  return Math.max(0, ...runs.map(({ from, to }) => to - from));
}
