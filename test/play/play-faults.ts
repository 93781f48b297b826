import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault, FaultsAnswer } from '../../playground/slack/page-api.ts';
import { SENTRY_APP, USERS } from '../../playground/slack/seed.ts';
import type { Message } from '../../playground/slack/slack-shapes.ts';
import { LocalSlackClient, textOf } from '../support/local-slack.ts';
import { patience } from '../support/patience.ts';
import { type End, LAG_MS, type Played, type Sight } from './judge.ts';

const EVERY_MS = 500;
/** What is well for so long, and nobody was alerted on it, was ended by another fault. */
const NO_ALERT_MS = 45_000;
/** Whoever presses, in this order: a card may want two of them. */
const APPROVERS = [USERS.onCall, USERS.onCall2] as const;

/** Where it is played. */
export interface Stage {
  readonly slack: LocalSlackClient;
  readonly faultsUrl: string;
}

export interface Limits {
  /** How long an incident gets to end, ms. */
  readonly endsWithinMs: number;
  /** How long an end must have stood, ms: what was handed over to people may go on by itself. */
  readonly settledMs: number;
  /** How long a person takes to read a card before it is approved, ms. */
  readonly readsForMs?: number;
}

/** One fault under way. */
interface Scene {
  readonly fault: string;
  readonly needsPeople: boolean;
  readonly alertname: string;
  /** Why it could not be caused; null when it was. */
  readonly refused: string | null;
  readonly causedAt: number;
  /** Roots of the same alert as they looked before: an incident may open again in its old thread. */
  readonly before: ReadonlyMap<string, string>;
  readonly sights: Sight[];
  readonly said: Set<string>;
  /** When a card was seen first. */
  readonly seenAt: Map<string, number>;
  /** Card and person. */
  readonly pressed: Set<string>;
  root: Message | undefined;
  thread: readonly Message[];
}

/**
 * Causes faults one after the other as the page does, presses every *Approve*, and watches the threads beside the system until
 * each incident has ended or its time is up. What else begins meanwhile (an alert that a fix has caused, an incident of before
 * that opens again) is played with them. What is left of the faults is undone.
 */
export async function playFaults(
  stage: Stage,
  faults: readonly string[],
  limits: Limits,
): Promise<readonly Played[]> {
  const before = endsOf(await stage.slack.messages());
  const scenes: Scene[] = [];
  for (const fault of faults) scenes.push(await cause(stage, fault));
  const stands = (scene: Scene): boolean =>
    scene.refused !== null || hasEnded(scene, limits) || isOutOfTime(scene, limits);
  while (!scenes.every(stands)) {
    await look(stage, scenes);
    scenes.push(...(await bystanders(stage, scenes, before)));
    for (const scene of scenes) await approve(stage, scene, limits);
    await sleep(EVERY_MS);
  }
  const played = scenes.map((scene) => toPlayed(scene, limits));
  await undoLeft(
    stage,
    scenes.map(({ fault }) => fault),
  );
  return played;
}

/** Incidents that nobody caused here, and that are not as they were: each with the fault whose alert it is. */
async function bystanders(
  stage: Stage,
  scenes: readonly Scene[],
  before: ReadonlyMap<string, End>,
): Promise<readonly Scene[]> {
  const faults = await readFaults(stage);
  const played = new Set(scenes.map(({ alertname }) => alertname));
  return (await stage.slack.messages()).flatMap((message) => {
    const fault = faults.find(({ alertname }) => isRootOf(message, alertname));
    if (!fault || played.has(fault.alertname) || before.get(message.ts) === endOf(message)) return [];
    return [newScene(fault, new Map(), null)];
  });
}

const endsOf = (messages: readonly Message[]): ReadonlyMap<string, End> =>
  new Map(messages.map((message) => [message.ts, endOf(message)]));

/** What is over already stays untouched: to undo it again would restart a service that is well. */
async function undoLeft(stage: Stage, played: readonly string[]): Promise<void> {
  const left = (await readFaults(stage)).filter(
    ({ id, state, holds }) => played.includes(id) && (holds || state === 'active'),
  );
  for (const { id } of left) await stage.slack.act('fault.undo', { userId: USERS.onCall, id });
}

/** Where a product plays that runs over this data folder, by the ports it keeps there. */
export function stageIn(dataDir: string): Stage {
  const ports = JSON.parse(readFileSync(join(dataDir, 'ports.json'), 'utf8')) as Record<string, number>;
  const url = (name: string): string => `http://127.0.0.1:${ports[name] ?? 0}`;
  return { slack: new LocalSlackClient(url('slack')), faultsUrl: url('faults') };
}

/** What the faults server says of the system. */
export async function readFaults({ faultsUrl }: Stage): Promise<readonly Fault[]> {
  const response = await fetch(`${faultsUrl}/faults`);
  return ((await response.json()) as FaultsAnswer).faults;
}

/** Refused where the system is too ill already: without a free connection nobody can block anybody. */
async function cause(stage: Stage, fault: string): Promise<Scene> {
  const known = await readFaults(stage);
  const found = known.find(({ id }) => id === fault);
  if (!found)
    throw new Error(`There is no fault ${fault}; there are ${known.map(({ id }) => id).join(', ')}.`);
  const roots = (await stage.slack.messages()).filter((message) => isRootOf(message, found.alertname));
  const before = new Map(roots.map((root) => [root.ts, textOf(root)]));
  const answer = await stage.slack.act('fault.cause', { userId: USERS.onCall, id: fault });
  return newScene(found, before, answer.ok ? null : answer.reason);
}

const newScene = (
  { id, needsPeople, alertname }: Fault,
  before: ReadonlyMap<string, string>,
  refused: string | null,
): Scene => ({
  fault: id,
  needsPeople,
  alertname,
  refused,
  causedAt: performance.now(),
  before,
  sights: [],
  said: new Set(),
  seenAt: new Map(),
  pressed: new Set(),
  root: undefined,
  thread: [],
});

/** The thread is read before the system: what is green by then has to be true by then. */
async function look(stage: Stage, scenes: readonly Scene[]): Promise<void> {
  const messages = await stage.slack.messages();
  const faults = await readFaults(stage);
  for (const scene of scenes) {
    scene.root = messages.findLast((message) => isNewRootOf(message, scene));
    scene.thread = threadOf(scene, messages);
    for (const message of scene.thread) scene.said.add(textOf(message));
    scene.sights.push({
      at: performance.now(),
      isIll: faults.some(({ id, holds }) => id === scene.fault && holds),
      fires: faults.some(({ id, fires }) => id === scene.fault && fires),
      end: scene.root === undefined ? 'open' : endOf(scene.root),
    });
  }
}

const threadOf = ({ root }: Scene, messages: readonly Message[]): readonly Message[] =>
  messages.filter((each) => each.bot_id === SENTRY_APP.botId && (each.thread_ts ?? each.ts) === root?.ts);

const isRootOf = (message: Message, alertname: string): boolean =>
  message.bot_id === SENTRY_APP.botId &&
  (message.thread_ts ?? message.ts) === message.ts &&
  /^INC-\d+ /.test(message.text) &&
  message.text.includes(alertname);

/** Not one that ended before and has stood there since. */
const isNewRootOf = (message: Message, { alertname, before }: Scene): boolean =>
  isRootOf(message, alertname) && before.get(message.ts) !== textOf(message);

/** By what people read, not by what is on record. */
function endOf(root: Message): End {
  const text = textOf(root);
  if (text.includes('ask again then')) return 'open';
  if (text.includes('Resolved · ')) return 'confirmed';
  if (text.includes('Over · ')) return 'over';
  if (/over to you|a person is needed|nothing to investigate/i.test(text)) return 'handed_over';
  return 'open';
}

const isOpenCard = (message: Message): boolean =>
  JSON.stringify(message.blocks ?? []).includes('"sentry_approve"');

async function approve(stage: Stage, scene: Scene, { readsForMs = 0 }: Limits): Promise<void> {
  for (const message of threadOf(scene, await stage.slack.messages()).filter(isOpenCard)) {
    const seenAt = scene.seenAt.get(message.ts) ?? performance.now();
    scene.seenAt.set(message.ts, seenAt);
    if (performance.now() - seenAt < readsForMs) continue;
    const wanted = / more (person has|people have) to\./.test(textOf(message)) ? APPROVERS : [USERS.onCall];
    const person = wanted.find((each) => !scene.pressed.has(`${message.ts} ${each}`));
    if (person === undefined) continue;
    scene.pressed.add(`${message.ts} ${person}`);
    await stage.slack.asUser(person).press(message, { actionId: 'sentry_approve' });
  }
}

/**
 * The last end has stood long enough, beside a system that has stood the same; without an incident, that it is well. A system
 * that is still ill may only not have been looked at often enough since: no end beside it is one before that is ruled out.
 */
function hasEnded({ sights, root, causedAt }: Scene, { settledMs }: Limits): boolean {
  const last = sights.at(-1);
  if (last === undefined || (last.end === 'open' && (root !== undefined || last.isIll))) return false;
  const before = sights.findLast(({ end, isIll }) => end !== last.end || isIll !== last.isIll);
  // On a busy machine Sentry and the faults server look as rarely as everything else happens.
  const standsForMs = last.isIll ? Math.max(settledMs, (LAG_MS + EVERY_MS) * patience) : settledMs;
  return last.at - (before?.at ?? causedAt) >= (root ? standsForMs : NO_ALERT_MS);
}

const isOutOfTime = ({ causedAt }: Scene, { endsWithinMs }: Limits): boolean =>
  performance.now() - causedAt > endsWithinMs;

function toPlayed(scene: Scene, limits: Limits): Played {
  const { fault, needsPeople, refused, sights, said, thread, pressed, root, causedAt } = scene;
  const last = sights.at(-1);
  const ended = sights.findLast(({ end }) => end !== last?.end)?.at ?? causedAt;
  return {
    fault,
    needsPeople,
    refused,
    incident: root === undefined ? null : (/INC-\d+/.exec(root.text)?.[0] ?? null),
    root: root === undefined ? '' : textOf(root),
    sights,
    said: [...said],
    thread: thread.map(textOf),
    openCards: thread.filter(isOpenCard).length,
    approvals: pressed.size,
    isOutOfTime: !hasEnded(scene, limits),
    tookMs: ended - causedAt,
  };
}
