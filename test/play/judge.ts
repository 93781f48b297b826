/** How an incident stands by its message in the channel. `open`: it has not ended, or there is none yet. */
export type End = 'open' | 'confirmed' | 'over' | 'handed_over';

/** The thread and the system at one moment. */
export interface Sight {
  /** Monotonic, ms. */
  readonly at: number;
  /** What the faults server says of the system itself. */
  readonly isIll: boolean;
  readonly end: End;
}

/** One fault that was played to its end. */
export interface Played {
  readonly fault: string;
  /** `INC-7`; null when no incident came of it. */
  readonly incident: string | null;
  /** The incident's message in the channel at the end. */
  readonly root: string;
  readonly sights: readonly Sight[];
  /** Every text that stood in the thread, edited away or not, in the order in which it appeared. */
  readonly said: readonly string[];
  readonly approvals: number;
  /** Its time was up before it had ended. */
  readonly isOutOfTime: boolean;
  readonly tookMs: number;
}

/**
 * - `false_fixed`: green while the system was ill
 * - `green_with_cross`: one message says that it is well, and that something is not
 * - `not_said`: the system is well, and the incident says otherwise
 * - `not_ended`, `not_fixed`: its time was up, or it ended while the system was still ill
 */
export interface Finding {
  readonly kind: 'false_fixed' | 'green_with_cross' | 'not_said' | 'not_ended' | 'not_fixed';
  readonly says: string;
}

/** The faults server calls nothing over, and no source resolves, before it has looked a few times. */
const LAG_MS = 10_000;

/** What was untrue, stuck or left ill; nothing when all is well. */
export function judge(played: Played): readonly Finding[] {
  const last = played.sights.at(-1);
  return [
    ...falseFixed(played.sights),
    ...played.said.filter(isGreenWithCross).map((says): Finding => ({ kind: 'green_with_cross', says })),
    ...(played.isOutOfTime
      ? [
          {
            kind: 'not_ended',
            says: `still ${last?.end ?? 'unknown'} after ${seconds(played.tookMs)}`,
          } as const,
        ]
      : []),
    ...(last?.isIll
      ? [{ kind: 'not_fixed', says: `the system is still ill, and the incident is ${last.end}` } as const]
      : []),
    ...(last && !last.isIll && last.end === 'handed_over'
      ? [
          {
            kind: 'not_said',
            says: 'the system is well, and the incident is still handed over to people',
          } as const,
        ]
      : []),
  ];
}

function falseFixed(sights: readonly Sight[]): readonly Finding[] {
  let since: number | null = null;
  for (const { at, isIll, end } of sights) {
    since = isIll && end === 'confirmed' ? (since ?? at) : null;
    if (since !== null && at - since >= LAG_MS)
      return [{ kind: 'false_fixed', says: `green for ${seconds(at - since)} while the system was ill` }];
  }
  return [];
}

const isGreenWithCross = (text: string): boolean => /✅|🟢/u.test(text) && /✗|❌/u.test(text);

const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`;
