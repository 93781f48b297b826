import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../src/core/sql.ts';
import { openDatabase } from '../src/infra/db/client.ts';
import { startEmbeddedPostgres } from '../src/infra/db/embedded/start-embedded-postgres.ts';
import { createLog } from '../src/infra/log/log.ts';
import { outboundStore } from '../src/slack/outbound/store.ts';
import { openBareClient } from './bare-client.ts';
import { quantile, type RunningProduct, runProduct } from './running-product.ts';

/** Times in seconds, but where they are said to be ms. */
export interface StormResult {
  readonly bench: 'storm';
  readonly alerts: number;
  readonly problems: number;
  /** From the first request until the last was answered. */
  readonly sentSeconds: number;
  readonly accepted: {
    readonly p50Ms: number;
    readonly p99Ms: number;
    /** Answers by their status. */
    readonly byStatus: Readonly<Record<string, number>>;
    /** Alerts that were answered 202 and are not on record; must be 0. */
    readonly lost: number;
  };
  readonly incidents: number;
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
  };
  /** From the first alert until Slack showed all that is on record; null: not within the time given. */
  readonly drawnAfter: number | null;
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

const CONNECTIONS = 32;
/** One address may send 6,000 requests a minute: with more alerts each request carries several. */
const REQUESTS_A_MINUTE = 4_000;
/** Its servers have started, and what it says first is said. */
const SETTLE_MS = 15_000;
const SEVERITIES = ['critical', 'warning', 'info'] as const;
/** One in ten is critical and two in ten are worth a look, spread evenly, so that what is sent first is not the worst. */
const severityOf = (problem: number): string =>
  problem % 10 === 7 ? 'critical' : problem % 10 === 2 || problem % 10 === 5 ? 'warning' : 'info';
const SYSTEMS = ['shop-db', 'shop-host', 'shop-cluster'] as const;
const nameOf = (problem: number): string => `BenchStorm${String(problem).padStart(5, '0')}`;

interface SlackMessage {
  readonly ts: string;
  readonly thread_ts?: string;
  readonly bot_id?: string;
  readonly metadata?: { readonly event_payload: { readonly incident?: string; readonly slot?: string } };
}

/** Many problems within seconds, by the product as it is started and the playground's Slack with its limits: what people see of it, and when. */
export async function benchStorm(dataDir: string, size: StormSize): Promise<StormResult> {
  const product = await runProduct(dataDir);
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
    const { drawnAt, idOf } = await untilDrawn(sql, sent.begun, size);
    const { messages } = await control<{ messages: readonly SlackMessage[] }>(product, 'messages');
    const { counters } = await control<SlackCounters>(product, 'counters');
    const calls = await callsOf(product);
    return {
      bench: 'storm',
      alerts: size.alerts,
      problems: size.problems,
      sentSeconds: inSeconds(sent.ended - sent.begun),
      accepted: {
        p50Ms: quantile(sent.latencies, 0.5),
        p99Ms: quantile(sent.latencies, 0.99),
        byStatus: Object.fromEntries(sent.byStatus),
        lost: sent.acceptedAlerts - (await onRecord(sql)),
      },
      incidents: idOf.size,
      ...shown(messages, idOf, sent),
      slack: {
        posts: calls.posts - before.posts,
        edits: calls.edits - before.edits,
        refused429: calls.refused429 - before.refused429,
        withTwoRoots: withTwoRoots(messages, idOf),
        doubled: counters.duplicates.length,
      },
      drawnAfter: drawnAt === null ? null : inSeconds(drawnAt - sent.begun),
    };
  } finally {
    await close();
    await product.stop();
    await postgres.stop();
  }
}

interface Sent {
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

async function fire({ httpUrl }: RunningProduct, { alerts, problems, seconds }: StormSize): Promise<Sent> {
  const most = seconds > 0 ? (REQUESTS_A_MINUTE * seconds) / 60 : REQUESTS_A_MINUTE;
  const each = Math.max(1, Math.ceil(alerts / most));
  const requests = Math.ceil(alerts / each);
  const clients = await Promise.all(
    Array.from({ length: CONNECTIONS }, () =>
      openBareClient({
        port: Number(new URL(httpUrl).port),
        path: '/webhooks/alertmanager',
        bearer: 'bench',
      }),
    ),
  );
  const acceptedAt = new Map<number, number>();
  const sentAt = new Map<number, number>();
  const latencies: number[] = [];
  const byStatus = new Map<string, number>();
  const begun = Date.now();
  let next = 0;
  let acceptedAlerts = 0;
  try {
    await Promise.all(
      clients.map(async (client) => {
        for (let no = next++; no < requests; no = next++) {
          const due = begun + (no * seconds * 1_000) / requests;
          if (due > Date.now()) await sleep(due - Date.now());
          const numbers = Array.from({ length: Math.min(each, alerts - no * each) }, (_, n) => no * each + n);
          const from = performance.now();
          for (const n of numbers) if (!sentAt.has(n % problems)) sentAt.set(n % problems, Date.now());
          const status = await client.post(bodyOf(numbers, problems, begun));
          latencies.push(performance.now() - from);
          byStatus.set(String(status), (byStatus.get(String(status)) ?? 0) + 1);
          if (status !== 202) continue;
          acceptedAlerts += numbers.length;
          for (const n of numbers)
            if (!acceptedAt.has(n % problems)) acceptedAt.set(n % problems, Date.now());
        }
      }),
    );
  } finally {
    for (const client of clients) client.close();
  }
  return { begun, ended: Date.now(), acceptedAt, sentAt, latencies, byStatus, acceptedAlerts };
}

/** Each alert of a problem is an occurrence of its own: it began when no other did. */
function bodyOf(numbers: readonly number[], problems: number, begun: number): string {
  return JSON.stringify({
    version: '4',
    status: 'firing',
    receiver: 'sentry',
    externalURL: 'http://alertmanager:9093',
    groupKey: `storm ${numbers[0] ?? 0}`,
    groupLabels: {},
    commonLabels: {},
    commonAnnotations: {},
    alerts: numbers.map((n) => ({
      status: 'firing',
      labels: {
        alertname: nameOf(n % problems),
        severity: severityOf(n % problems),
        instance: SYSTEMS[n % SYSTEMS.length],
      },
      annotations: { summary: 'Measured, not real' },
      startsAt: new Date(begun + n).toISOString(),
      endsAt: '0001-01-01T00:00:00Z',
    })),
  });
}

async function onRecord(sql: Sql): Promise<number> {
  const [row] = await sql<{ n: number }>`
    SELECT count(*)::int AS n FROM alert WHERE source = 'alertmanager' AND labels->>'alertname' LIKE 'BenchStorm%'`;
  return row?.n ?? 0;
}

/** The incidents by the number of their problem, and when nothing of them was under way or left to be drawn. */
async function untilDrawn(
  sql: Sql,
  begun: number,
  { wait }: StormSize,
): Promise<{ readonly drawnAt: number | null; readonly idOf: ReadonlyMap<string, number> }> {
  const store = outboundStore(sql, 'bench');
  const incidents = async () => {
    const rows = await sql<{ id: string; name: string; moves: boolean }>`
      SELECT id, alert_name AS name, state IN ('open', 'triaging', 'diagnosing', 'planning', 'remediating') AS moves
        FROM incident WHERE alert_name LIKE 'BenchStorm%'`;
    return rows.map((row) => ({ ...row, problem: Number(row.name.slice('BenchStorm'.length)) }));
  };
  const idOf = (rows: Awaited<ReturnType<typeof incidents>>) =>
    new Map(rows.map(({ id, problem }) => [id, problem]));
  for (let still = 0; Date.now() < begun + wait * 1_000; ) {
    const rows = await incidents();
    const isStill =
      rows.length > 0 && !rows.some(({ moves }) => moves) && (await store.undrawn()).length === 0;
    still = isStill ? still + 1 : 0;
    // Twice in a row: between two drawings nothing is left for a moment.
    if (still === 2) return { drawnAt: Date.now(), idOf: idOf(rows) };
    await sleep(1_000);
  }
  return { drawnAt: null, idOf: idOf(await incidents()) };
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
    firstMessages: SEVERITIES.map((severity) => {
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
  const rank = (problem: number): number => SEVERITIES.indexOf(severityOf(problem) as never);
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

interface SlackCounters {
  readonly counters: {
    readonly calls: Readonly<Record<string, { readonly total: number; readonly rateLimited: number }>>;
    readonly duplicates: readonly object[];
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

async function control<T>({ pageUrl }: RunningProduct, name: string): Promise<T> {
  const answer = await fetch(`${pageUrl}/control/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  return (await answer.json()) as T;
}

const inSeconds = (ms: number): number => Math.round(ms / 100) / 10;
