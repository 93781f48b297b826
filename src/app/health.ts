import { messageOf } from '../core/errors.ts';
import { within } from '../core/within.ts';
import type { TurnQueue } from '../infra/dbos/turn-queue.ts';
import type { SlackHealth } from '../slack/slack.ts';

export interface PartHealth {
  readonly name: 'record' | 'engine' | 'slack' | 'outbox';
  /** In one word: `ok`, or what it is instead. */
  readonly state: 'ok' | 'away' | 'stalled' | 'silent' | 'behind';
  /** Null: well. */
  readonly reason: string | null;
  /** Without it no alert can be taken and worked on. Slack is not: what is to be said waits, in order. */
  readonly isVital: boolean;
}

/** Where the state of each part is read. */
export interface Probes {
  /** Rejects when the record cannot be read. */
  readonly record: () => Promise<unknown>;
  readonly turnQueue: () => Promise<TurnQueue>;
  readonly slack: () => SlackHealth;
}

/** A part that does not answer within this time is away. */
const ANSWER_MS = 2_000;
/** A turn begins within a second where the engine is well. */
const STALLED_MS = 30_000;
/** It beats each second; others take its turns over after six. */
const SILENT_MS = 10_000;
/** What Slack's pace holds back in an ordinary storm of alerts comes earlier. */
const BEHIND_MS = 120_000;

/** How each part is now. Never rejects. */
export async function readHealth(probes: Probes, answerMs = ANSWER_MS): Promise<readonly PartHealth[]> {
  const [record, engine] = await Promise.all([
    ask(answerMs, probes.record, () => null),
    ask(answerMs, probes.turnQueue, engineProblem),
  ]);
  const slack = probes.slack();
  return [
    { name: 'record', isVital: true, ...record },
    { name: 'engine', isVital: true, ...engine },
    { name: 'slack', isVital: false, ...(slack.ok ? WELL : { state: 'away', reason: slack.problem }) },
    { name: 'outbox', isVital: false, ...(outboxProblem(slack) ?? WELL) },
  ];
}

type Found = Pick<PartHealth, 'state' | 'reason'>;

const WELL: Found = { state: 'ok', reason: null };

async function ask<T>(
  ms: number,
  probe: () => Promise<T>,
  problemIn: (answer: T) => Found | null,
): Promise<Found> {
  try {
    return problemIn(await within(ms, probe())) ?? WELL;
  } catch (error) {
    return { state: 'away', reason: messageOf(error) };
  }
}

function engineProblem({ beatMs, stalledMs, waiting }: TurnQueue): Found | null {
  if (beatMs === null) return { state: 'silent', reason: 'this process has no heartbeat yet' };
  if (beatMs > SILENT_MS)
    return { state: 'silent', reason: `the last heartbeat of this process was ${seconds(beatMs)} ago` };
  if (stalledMs > STALLED_MS)
    return { state: 'stalled', reason: `no turn has begun for ${seconds(stalledMs)}; waiting: ${waiting}` };
  return null;
}

function outboxProblem({ oldestWaitMs }: SlackHealth): Found | null {
  return oldestWaitMs > BEHIND_MS
    ? {
        state: 'behind',
        reason: `the oldest change has waited ${seconds(oldestWaitMs)} to be shown in Slack`,
      }
    : null;
}

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;
