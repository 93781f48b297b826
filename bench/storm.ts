import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { REOPEN_MINUTES, severities } from '../src/core/alert.ts';
import type { Sql } from '../src/core/sql.ts';
import { openDatabase } from '../src/infra/db/client.ts';
import { startEmbeddedPostgres } from '../src/infra/db/embedded/start-embedded-postgres.ts';
import { createLog } from '../src/infra/log/log.ts';
import { outboundStore } from '../src/slack/outbound/store.ts';
import { deliver, openBareClient } from './bare-client.ts';
import { pairwise } from './pairwise.ts';
import { quantile, type RunningProduct, runProduct } from './running-product.ts';
import { problemIn, SENDERS, type StormRequest, severityOf, stormOf } from './storm-alerts.ts';

/** Times in seconds, but where they are said to be ms. */
export interface StormResult {
  readonly bench: 'storm';
  readonly alerts: number;
  readonly problems: number;
  /** Of this machine, the average of a minute: with more than its cores, others work beside it. */
  readonly load: { readonly before: number; readonly most: number; readonly cores: number };
  /** From the first request until the last was answered. */
  readonly sentSeconds: number;
  readonly accepted: {
    readonly p50Ms: number;
    readonly p99Ms: number;
    /** Answers by their status. What was answered 503 is sent again, and counted each time. */
    readonly byStatus: Readonly<Record<string, number>>;
    /** Alerts that were never answered 202, however often they were sent. */
    readonly refused: number;
    /** Alerts that were answered 202 and are not on record; must be 0. */
    readonly lost: number;
    /** Messages of Alertmanager in the channel, and those of them that are not on record; must be 0. */
    readonly messages: number;
    readonly lostMessages: number;
  };
  readonly incidents: number;
  readonly precision: number;
  readonly recall: number;
  /** Incidents that were looked into with at least one tool. */
  readonly investigated: number;
  /** From a problem's first alert until the first message about it stands in Slack. */
  readonly firstMessages: readonly FirstMessages[];
  readonly order: {
    /** First messages that came before one of a worse problem which had been accepted two seconds before them. */
    readonly outOfSeverity: number;
    /** Other new messages than first ones and the digest, from the first alert to the last first message. */
    readonly othersBefore: number;
  };
  /** From the first alert until a digest of them stands; null: there is none. */
  readonly digestAfter: number | null;
  readonly slack: {
    readonly posts: number;
    readonly edits: number;
    /** Calls that Slack refused for their number. */
    readonly refused429: number;
    /** Incidents with more than one message of their own in the channel; must be 0. */
    readonly withTwoRoots: number;
    readonly doubled: number;
    /** The first words of what stands twice in one thread, word for word, for two reasons. */
    readonly saidAgain: readonly string[];
  };
  /** From the first alert until Slack showed all that is on record; null: not within the time given. */
  readonly drawnAfter: number | null;
  /** Each bound beside what was seen. */
  readonly bounds: readonly string[];
  readonly met: boolean;
}

interface FirstMessages {
  readonly severity: string;
  readonly problems: number;
  readonly missing: number;
  readonly p50: number;
  readonly max: number;
}

export interface StormSize {
  readonly alerts: number;
  readonly problems: number;
  /** Over so many seconds, evenly; 0: as fast as they are taken. */
  readonly seconds: number;
  /** How long is waited for all of it to stand in Slack, seconds. */
  readonly wait: number;
}

/** Of each sender. */
const CONNECTIONS = 8;
/** Its servers have started, and what it says first is said. */
const SETTLE_MS = 15_000;

interface SlackMessage {
  readonly ts: string;
  readonly thread_ts?: string;
  readonly bot_id?: string;
  readonly metadata?: { readonly event_payload: { readonly incident?: string; readonly slot?: string } };
}

/** Many problems within seconds, by the product as it is started and the playground's Slack with its limits: what people see of it, and when. */
export async function benchStorm(dataDir: string, size: StormSize): Promise<StormResult> {
  // In the playground each fault is an incident of its own; for a user one that fires again goes on.
  const product = await runProduct(dataDir, { SENTRY_REOPEN_MINUTES: String(REOPEN_MINUTES) });
  const postgres = await startEmbeddedPostgres({
    dataDir: join(dataDir, 'postgres'),
    name: 'sentry',
    log: createLog('error'),
  });
  const { sql, close } = openDatabase(postgres.url, { max: 2, name: 'bench' });
  try {
    await sleep(SETTLE_MS);
    const before = await callsOf(product);
    const sent = await fire(product, size);
    const drawnAt = await untilDrawn(sql, sent.begun, size);
    const rows = await recorded(sql, sent);
    const idOf = problemsTold(rows);
    const { messages } = await control<{ messages: readonly SlackMessage[] }>(product, 'messages');
    const { counters } = await control<SlackCounters>(product, 'counters');
    const calls = await callsOf(product);
    const result = {
      bench: 'storm',
      alerts: size.alerts,
      problems: size.problems,
      load: { before: round(sent.load.before), most: round(sent.load.most), cores: cpus().length },
      sentSeconds: inSeconds(sent.ended - sent.begun),
      accepted: {
        p50Ms: quantile(sent.latencies, 0.5),
        p99Ms: quantile(sent.latencies, 0.99),
        byStatus: Object.fromEntries(sent.byStatus),
        refused: size.alerts - sent.acceptedAlerts,
        lost: sent.acceptedAlerts - rows.filter(({ isMessage }) => !isMessage).length,
        messages: sent.problemOfMessage.size,
        lostMessages: sent.problemOfMessage.size - rows.filter(({ isMessage }) => isMessage).length,
      },
      incidents: idOf.size,
      ...pairwise(rows),
      investigated: await investigated(sql, [...idOf.keys()]),
      ...shown(messages, idOf, sent),
      slack: {
        posts: calls.posts - before.posts,
        edits: calls.edits - before.edits,
        refused429: calls.refused429 - before.refused429,
        withTwoRoots: withTwoRoots(messages, idOf),
        doubled: doubled(messages),
        saidAgain: counters.duplicates.map(({ message: { text } }) => text.slice(0, 120)).slice(0, 5),
      },
      drawnAfter: drawnAt === null ? null : inSeconds(drawnAt - sent.begun),
    } as const;
    return { ...result, ...judge(result) };
  } finally {
    await close();
    await product.stop();
    await postgres.stop();
  }
}

/** The bounds of a storm, each beside what was seen. */
export function judge(seen: Omit<StormResult, 'bounds' | 'met'>): Pick<StormResult, 'bounds' | 'met'> {
  const lastFirst = Math.max(...seen.firstMessages.map(({ max }) => max));
  const missing = seen.firstMessages.reduce((sum, each) => sum + each.missing, 0);
  const refused = Object.entries(seen.accepted.byStatus).reduce(
    (n, [is, k]) => (is === '202' ? n : n + k),
    0,
  );
  // Slack takes about a message a second in a channel.
  const most = seen.problems <= 50 ? 60 : Math.round(seen.problems * 1.1);
  const list: readonly (readonly [what: string, saw: number, bound: string, isMet: boolean])[] = [
    ['answered, p99 ms', seen.accepted.p99Ms, '< 250', seen.accepted.p99Ms < 250],
    ['not answered 202', refused, '0', refused === 0],
    [
      'alerts lost',
      seen.accepted.lost + seen.accepted.lostMessages + seen.accepted.refused,
      '0',
      seen.accepted.lost === 0 && seen.accepted.lostMessages === 0 && seen.accepted.refused === 0,
    ],
    ['problems without a line', missing, '0', missing === 0],
    ['pairwise precision', seen.precision, '>= 0.98', seen.precision >= 0.98],
    ['pairwise recall', seen.recall, '>= 0.9', seen.recall >= 0.9],
    ['incidents with two roots', seen.slack.withTwoRoots, '0', seen.slack.withTwoRoots === 0],
    ['messages doubled', seen.slack.doubled, '0', seen.slack.doubled === 0],
    ['refused by Slack (429)', seen.slack.refused429, '0', seen.slack.refused429 === 0],
    ['before a worse one', seen.order.outOfSeverity, '0', seen.order.outOfSeverity === 0],
    ['last first message, s', lastFirst, `< ${String(most)}`, lastFirst < most],
  ];
  return {
    bounds: list.map(
      ([what, saw, bound, isMet]) => `${isMet ? 'met' : 'MISSED'}: ${what} ${String(saw)} (${bound})`,
    ),
    met: list.every(([, , , isMet]) => isMet),
  };
}

interface Sent {
  /** Slack's time of each message posted, and the problem it tells of. */
  readonly problemOfMessage: ReadonlyMap<string, number>;
  readonly load: { readonly before: number; readonly most: number };
  /** Of the first request, and of the last answer; ms since 1970, as Slack's times are. */
  readonly begun: number;
  readonly ended: number;
  /** When the first alert of each problem was answered. */
  readonly acceptedAt: ReadonlyMap<number, number>;
  /** When the first alert of each problem was sent. */
  readonly sentAt: ReadonlyMap<number, number>;
  readonly latencies: readonly number[];
  readonly byStatus: ReadonlyMap<string, number>;
  readonly acceptedAlerts: number;
}

async function fire(product: RunningProduct, size: StormSize): Promise<Sent> {
  const port = Number(new URL(product.httpUrl).port);
  const clients = await Promise.all(
    SENDERS.flatMap((sender, n) =>
      Array.from({ length: CONNECTIONS }, async () => ({
        sender,
        client: await openBareClient({
          port,
          path: `/webhooks/${sender}`,
          bearer: 'bench',
          from: `127.0.0.${String(n + 2)}`,
        }),
      })),
    ),
  );
  const acceptedAt = new Map<number, number>();
  const sentAt = new Map<number, number>();
  const latencies: number[] = [];
  const byStatus = new Map<string, number>();
  const messages: Promise<readonly [string, number]>[] = [];
  const begun = Date.now();
  const requests = stormOf(size, begun);
  const left = new Map(
    SENDERS.map((sender) => [sender, requests.filter((each) => each.sender === sender).values()]),
  );
  const load = { before: loadavg()[0] ?? 0, most: 0 };
  let acceptedAlerts = 0;
  try {
    await Promise.all(
      clients.map(async ({ sender, client }) => {
        for (const { problem, alerts, atMs, payload, message } of left.get(sender) ?? []) {
          await sleep(Math.max(0, begun + atMs - Date.now()));
          if (!sentAt.has(problem)) sentAt.set(problem, Date.now());
          // The message comes first of one, the webhook of another.
          if (message && problem % 2 === 0) messages.push(say(product, message, problem));
          const status = await deliver(client, JSON.stringify(payload), (answer, ms) => {
            latencies.push(ms);
            byStatus.set(String(answer), (byStatus.get(String(answer)) ?? 0) + 1);
          });
          if (message && problem % 2 === 1) messages.push(say(product, message, problem));
          load.most = Math.max(load.most, loadavg()[0] ?? 0);
          if (status !== 202) continue;
          acceptedAlerts += alerts;
          if (!acceptedAt.has(problem)) acceptedAt.set(problem, Date.now());
        }
      }),
    );
  } finally {
    for (const { client } of clients) client.close();
  }
  const problemOfMessage = new Map(await Promise.all(messages));
  return {
    begun,
    ended: Date.now(),
    acceptedAt,
    sentAt,
    latencies,
    byStatus,
    acceptedAlerts,
    problemOfMessage,
    load,
  };
}

/** As Alertmanager's Slack receiver tells of the same; answers the message's time, by which its alert is known. */
async function say(
  product: RunningProduct,
  { title, link }: NonNullable<StormRequest['message']>,
  problem: number,
): Promise<readonly [string, number]> {
  const { ts } = await control<{ readonly ts: string }>(product, 'post-as-app', {
    kind: 'classic',
    username: 'Alertmanager',
    attachments: [{ title, title_link: link, fallback: `${title} | ${link}`, color: 'danger' }],
  });
  return [ts, problem];
}

interface Recorded {
  readonly incident: string;
  readonly problem: number;
  readonly isMessage: boolean;
}

/** The alerts of this storm with the incident each is on record in. */
async function recorded(sql: Sql, { problemOfMessage }: Sent): Promise<readonly Recorded[]> {
  const rows = await sql<{ id: string; url: string | null; key: string }>`
    SELECT incident_id AS id, url, delivery_key AS key FROM alert
     WHERE url LIKE '%?problem=%' OR delivery_key LIKE 'slack:%'`;
  return rows.flatMap(({ id, url, key }) => {
    const ofWebhook = problemIn(url ?? '');
    const ts = [...problemOfMessage.keys()].find((each) => key.includes(each));
    const problem = ofWebhook ?? (ts === undefined ? undefined : problemOfMessage.get(ts));
    return problem === undefined ? [] : [{ incident: id, problem, isMessage: ofWebhook === null }];
  });
}

/** Which problem each incident tells of: the one that most of its alerts are of. One that leads in no incident has no line. */
function problemsTold(rows: readonly Recorded[]): ReadonlyMap<string, number> {
  const counts = new Map<string, Map<number, number>>();
  for (const { incident, problem } of rows) {
    const count = counts.get(incident) ?? new Map<number, number>();
    counts.set(incident, count.set(problem, (count.get(problem) ?? 0) + 1));
  }
  return new Map(
    [...counts].map(([incident, count]) => [
      incident,
      [...count].reduce((most, one) => (one[1] > most[1] ? one : most))[0],
    ]),
  );
}

/** When nothing of it was under way or left to be drawn; null: not within the time given. */
async function untilDrawn(sql: Sql, begun: number, { wait }: StormSize): Promise<number | null> {
  const store = outboundStore(sql, 'bench');
  for (let still = 0; Date.now() < begun + wait * 1_000; ) {
    const [row] = await sql<{ n: number }>`
      SELECT count(*)::int AS n FROM incident
       WHERE state IN ('open', 'triaging', 'diagnosing', 'planning', 'remediating')`;
    still = row?.n === 0 && (await store.undrawn()).length === 0 ? still + 1 : 0;
    // Twice in a row: between two drawings nothing is left for a moment.
    if (still === 2) return Date.now();
    await sleep(1_000);
  }
  return null;
}

/** How many incidents were looked into with at least one read of a live system or of memory. */
async function investigated(sql: Sql, ids: readonly string[]): Promise<number> {
  const [row] = await sql<{ n: number }>`
    SELECT count(DISTINCT incident_id)::int AS n FROM event
     WHERE type = 'tool.called' AND incident_id = ANY (${sql.array([...ids])}::text[])`;
  return row?.n ?? 0;
}

const atOf = ({ ts }: SlackMessage): number => Number(ts) * 1_000;
const subjectOf = ({ metadata }: SlackMessage): string => metadata?.event_payload.incident ?? '';
const isRoot = (message: SlackMessage): boolean =>
  message.metadata?.event_payload.slot === 'root' &&
  (message.thread_ts === undefined || message.thread_ts === message.ts);

function shown(
  messages: readonly SlackMessage[],
  idOf: ReadonlyMap<string, number>,
  { begun, sentAt, acceptedAt }: Sent,
): Pick<StormResult, 'firstMessages' | 'order' | 'digestAfter'> {
  const firstOf = new Map<number, number>();
  for (const message of messages) {
    const problem = idOf.get(subjectOf(message));
    if (problem === undefined || !isRoot(message)) continue;
    firstOf.set(problem, Math.min(atOf(message), firstOf.get(problem) ?? Number.POSITIVE_INFINITY));
  }
  const last = Math.max(begun, ...firstOf.values());
  const ofUs = messages.filter((message) => message.bot_id !== undefined && atOf(message) >= begun);
  const digest = ofUs.filter((message) => subjectOf(message).startsWith('burst:')).map(atOf);
  const problems = [...sentAt.keys()];
  return {
    firstMessages: severities
      .filter((severity) => severity !== 'unknown')
      .map((severity) => {
        const those = problems.filter((problem) => severityOf(problem) === severity);
        const seconds = those.flatMap((problem) => {
          const first = firstOf.get(problem);
          return first === undefined ? [] : [(first - (sentAt.get(problem) ?? begun)) / 1_000];
        });
        return {
          severity,
          problems: those.length,
          missing: those.length - seconds.length,
          p50: quantile(seconds, 0.5),
          max: quantile(seconds, 1),
        };
      }),
    order: {
      outOfSeverity: outOfSeverity(firstOf, acceptedAt),
      othersBefore: ofUs.filter(
        (message) =>
          atOf(message) < last &&
          subjectOf(message) !== '' &&
          !isRoot(message) &&
          !subjectOf(message).startsWith('burst:'),
      ).length,
    },
    digestAfter: digest.length === 0 ? null : inSeconds(Math.min(...digest) - begun),
  };
}

/** Two seconds for what is on its way when the worse one comes. */
function outOfSeverity(
  firstOf: ReadonlyMap<number, number>,
  acceptedAt: ReadonlyMap<number, number>,
): number {
  const rank = (problem: number): number => severities.indexOf(severityOf(problem));
  const all = [...firstOf];
  return all.filter(([problem, at]) =>
    all.some(
      ([worse, later]) =>
        rank(worse) < rank(problem) &&
        later > at &&
        (acceptedAt.get(worse) ?? Number.POSITIVE_INFINITY) + 2_000 < at,
    ),
  ).length;
}

function withTwoRoots(messages: readonly SlackMessage[], idOf: ReadonlyMap<string, number>): number {
  const roots = new Map<string, number>();
  for (const message of messages.filter(isRoot)) {
    const id = subjectOf(message);
    if (idOf.has(id)) roots.set(id, (roots.get(id) ?? 0) + 1);
  }
  return [...roots.values()].filter((n) => n > 1).length;
}

/** Messages of one incident that stand twice for one slot. */
function doubled(messages: readonly SlackMessage[]): number {
  const slots = messages.flatMap(({ metadata }) =>
    metadata?.event_payload.slot === undefined
      ? []
      : [`${metadata.event_payload.incident ?? ''} ${metadata.event_payload.slot}`],
  );
  return slots.length - new Set(slots).size;
}

interface SlackCounters {
  readonly counters: {
    readonly calls: Readonly<Record<string, { readonly total: number; readonly rateLimited: number }>>;
    readonly duplicates: readonly { readonly message: { readonly text: string } }[];
  };
}

async function callsOf(product: RunningProduct) {
  const { counters } = await control<SlackCounters>(product, 'counters');
  const { calls } = counters;
  return {
    posts: calls['chat.postMessage']?.total ?? 0,
    edits: calls['chat.update']?.total ?? 0,
    refused429: Object.values(calls).reduce((sum, { rateLimited }) => sum + rateLimited, 0),
  };
}

async function control<T>({ pageUrl }: RunningProduct, name: string, body: object = {}): Promise<T> {
  const answer = await fetch(`${pageUrl}/control/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await answer.json()) as T;
}

const inSeconds = (ms: number): number => Math.round(ms / 100) / 10;
const round = (value: number): number => Math.round(value * 10) / 10;
