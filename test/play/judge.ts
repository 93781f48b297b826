/** How an incident stands by its message in the channel. `open`: it has not ended, or there is none yet. */
export type End = 'open' | 'confirmed' | 'over' | 'handed_over';

/** The thread and the system at one moment. */
export interface Sight {
  /** Monotonic, ms. */
  readonly at: number;
  /** What the faults server says of the system itself. */
  readonly isIll: boolean;
  /** Somebody has been alerted on it, and not been told yet that it is over. */
  readonly fires: boolean;
  readonly end: End;
}

/** One fault that was played to its end. */
export interface Played {
  readonly fault: string;
  /** Only people can end it. */
  readonly needsPeople: boolean;
  /** Why it could not be caused; null when it was. */
  readonly refused: string | null;
  /** `INC-7`; null when no incident came of it. */
  readonly incident: string | null;
  /** The incident's message in the channel at the end. */
  readonly root: string;
  readonly sights: readonly Sight[];
  /** Every text that stood in the thread, edited away or not, in the order in which it appeared. */
  readonly said: readonly string[];
  /** What the thread says at the end, in its order. */
  readonly thread: readonly string[];
  /** Cards that still ask for a decision at the end. */
  readonly openCards: number;
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
 * - `not_caused`, `not_heard`: there was nothing to judge, or an alert of which no incident came
 * - `contradicted`: the thread ends otherwise than its root says
 * - `card_left`: what is over still asks for a decision
 */
export interface Finding {
  readonly kind:
    | 'false_fixed'
    | 'green_with_cross'
    | 'not_said'
    | 'not_ended'
    | 'not_fixed'
    | 'not_caused'
    | 'not_heard'
    | 'contradicted'
    | 'card_left';
  readonly says: string;
}

/** The faults server calls nothing over, and no source resolves, before it has looked a few times. */
export const LAG_MS = 10_000;

/** What was untrue, stuck or left ill; nothing when all is well. */
export function judge(played: Played): readonly Finding[] {
  if (played.refused !== null) return [{ kind: 'not_caused', says: played.refused }];
  const last = played.sights.at(-1);
  return [
    ...falseFixed(played.sights),
    ...played.said.filter(isGreenWithCross).map((says): Finding => ({ kind: 'green_with_cross', says })),
    ...notHeard(played),
    ...contradicted(played),
    ...(played.isOutOfTime
      ? [
          {
            kind: 'not_ended',
            says: `still ${last?.end ?? 'unknown'} after ${seconds(played.tookMs)}`,
          } as const,
        ]
      : []),
    ...(last?.isIll && !(played.needsPeople && last.end === 'handed_over')
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
    ...(last && last.end !== 'open' && played.openCards > 0
      ? [{ kind: 'card_left', says: `${played.openCards} cards can still be approved` } as const]
      : []),
  ];
}

/** An alert that fired for longer than it takes to deliver one. */
function notHeard({ incident, sights }: Played): readonly Finding[] {
  const fired = sights.filter(({ fires }) => fires);
  const forMs = (fired.at(-1)?.at ?? 0) - (fired[0]?.at ?? 0);
  if (incident !== null || forMs < LAG_MS) return [];
  return [{ kind: 'not_heard', says: `its alert fired for ${seconds(forMs)}, and no incident came of it` }];
}

/** The last message about the end is the one that people find at the bottom of the thread. */
function contradicted({ sights, thread }: Played): readonly Finding[] {
  const end = sights.at(-1)?.end;
  const says = thread.findLast((text) => THREAD_ENDS.some(([words]) => words.test(text)));
  const said = THREAD_ENDS.find(([words]) => words.test(says ?? ''))?.[1];
  if (end === undefined || end === 'open' || said === undefined || said === end) return [];
  return [{ kind: 'contradicted', says: `the root says ${end}, and the thread: ${says ?? ''}` }];
}

/** How a thread says how its incident ended. */
const THREAD_ENDS: readonly (readonly [RegExp, End])[] = [
  [/🟢 Fixed ·/u, 'confirmed'],
  [/⚪ Over ·/u, 'over'],
  [
    /^(?![^]*It is over since)[^]*(?:🚨 A person is needed|I cannot fix this|The fix did not work)/u,
    'handed_over',
  ],
];

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
