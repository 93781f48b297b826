import { type Action, stepsOf } from '../../core/action.ts';
import { clipLine } from '../../core/clip.ts';
import { count } from '../../core/count.ts';
import type { Incident } from '../../core/incident.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { isSlackUser } from '../../core/is-slack-user.ts';

/** A piece of an answer; whoever shows it knows how people and times are told there. */
export type Piece =
  | string
  | { readonly person: string }
  | { readonly at: string }
  | { readonly code: string };
export type Line = readonly Piece[];

/** What an answer may need that the incident's own record does not hold. */
export interface Around {
  /** Who may approve what waits, in words; null: nothing waits. */
  readonly approvers: string | null;
  /** Open incidents that everybody who reads the answer may see. */
  readonly open: readonly Pick<
    Incident,
    | 'id'
    | 'title'
    | 'members'
    | 'state'
    | 'asksAgainAt'
    | 'flappingUntil'
    | 'mutedBy'
    | 'mergedInto'
    | 'effort'
  >[];
  readonly now: Date;
  /** How people who decided here are called, by their Slack user id. */
  readonly names?: ReadonlyMap<string, string>;
  /** Whether Sentry can take it back. */
  readonly mayUndo: (action: Action) => boolean;
  /** Somebody else can be asked: “nothing is known” is then no answer. */
  readonly elsewhere: boolean;
}

/** Characters of a command, and of a sentence, in an answer. */
export const COMMAND = 120;
export const SENTENCE = 280;

/** What waits for people first, then what they decided, the newest first. */
export const newestFirst = ({ actions }: IncidentRecord): readonly Action[] =>
  actions
    .filter(({ step }) => step === 1)
    .toSorted(
      (a, b) =>
        Number(b.state === 'proposed') - Number(a.state === 'proposed') ||
        b.proposedAt.localeCompare(a.proposedAt),
    );

/** What it is, exactly: its command, or those of all steps of its plan. */
export function commandsOf({ actions }: IncidentRecord, action: Action): Line {
  const steps = stepsOf(actions, action);
  if (steps.length < 2) return [{ code: clipLine(action.command, COMMAND) }, ` on ${action.target}`];
  return [
    `${count(steps.length, 'step')} on ${action.target}: `,
    ...steps.flatMap(
      (step): Line => [
        `${step.step > 1 ? ', ' : ''}${step.step} `,
        { code: clipLine(step.command, COMMAND / 2) },
      ],
    ),
  ];
}

/** `policy` is a rule, nobody's name. */
export function people(ids: readonly (string | null)[]): Line {
  return ids.flatMap(
    (id, n): Line => [
      ...(n > 0 ? [n === ids.length - 1 ? ' and ' : ', '] : []),
      id === null
        ? 'nobody'
        : id === 'policy'
          ? 'a rule of the policy'
          : isSlackUser(id)
            ? { person: id }
            : id,
    ],
  );
}

export function lasted(from: string, to: string): string {
  const seconds = Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

export const ended = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);
