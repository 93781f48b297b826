import { setTimeout as sleep } from 'node:timers/promises';
import { blocksOf, type MessagesRequest, type ScriptedReply } from '../playground/claude/scenario.ts';
import { createScriptedClaude, type RecordedRequest } from '../playground/claude/scripted-claude.ts';
import { createClaude } from '../src/agents/claude/create-claude.ts';
import type { Investigation, Investigator } from '../src/agents/ports.ts';
import { asIncidentId, type IncidentId } from '../src/core/ids.ts';
import type { IncidentRecord } from '../src/core/incident-record.ts';
import { openDatabase } from '../src/infra/db/client.ts';
import { createAnthropicBackend } from '../src/llm/anthropic.ts';
import { createModelGateway } from '../src/llm/gateway.ts';
import { allTools } from '../src/targets/all-tools.ts';
import { cachedShare, covered, offers, untilReported } from './agent.ts';
import {
  type AgentCore,
  benchAlert,
  benchTool,
  createAgentCore,
  offeredWith,
  type ToolSpan,
} from './agent-core.ts';
import { leading, type RecordedMessage, specialists, triage, weighing } from './recorded-latencies.ts';
import { quantile } from './running-product.ts';

/** Recorded latencies are played so many times as fast: what is ours weighs so many times as much. */
const SPEED = 10;
const REPEATS = 3;
const TOOL_MS = 100;
const OUTPUT_BYTES = 700;
/** Of each test; the product's three minutes, as fast as the rest. */
const TEST_MS = 180_000 / SPEED;

/** `one`: as it was before several looked at once, and still is where less than full effort was asked for. */
type Way = 'at once' | 'in turn' | 'one';

interface Bound {
  readonly bound: string;
  readonly seen: readonly number[];
  readonly met: boolean;
}

export interface FanOutResult {
  readonly bench: 'fan-out';
  readonly settings: {
    readonly speed: number;
    readonly toolMs: number;
    readonly outputBytes: number;
    readonly specialists: number;
  };
  /** A row a repeat; ms from the first request of a specialist to the end of the last answer to one. */
  readonly testing: readonly {
    readonly atOnceMs: number;
    readonly inTurnMs: number;
    readonly ratio: number;
  }[];
  /** A row a repeat; ms from the alert to the first read of the live system on record. */
  readonly firstFinding: readonly { readonly severalMs: number; readonly oneMs: number }[];
  /** A row a context of the four at once, in all repeats. A lead has one turn. */
  readonly cached: readonly Cached[];
  /**
   * A row a repeat of the four at once: the time from the alert to the report in which neither a model was asked nor a tool ran, and its
   * share at the recorded speed.
   */
  readonly harness: readonly { readonly ms: number; readonly share: number }[];
  /** One specialist never answers. */
  readonly hanging: {
    readonly limitMs: number;
    readonly testingMs: number;
    readonly gaps: readonly string[];
  };
  readonly bounds: readonly Bound[];
  readonly met: boolean;
  /** Requests the server refused; must be 0. */
  readonly refused: number;
}

/** What the server found in its cache, after a context's first turn. */
interface Cached {
  readonly context: string;
  readonly turns: number;
  /** Of all input tokens. What is new is among them: the fewer turns, the less can be found. */
  readonly share: number;
  /** Of those that the turn before had sent. */
  readonly foundAgain: number;
}

/** What one incident came to. */
interface Run {
  readonly requests: readonly RecordedRequest[];
  readonly spans: readonly ToolSpan[];
  readonly record: IncidentRecord;
  readonly acceptedAt: number;
}

/**
 * One incident at full effort: a lead, four specialists and who weighs what they found, with recorded latencies, through the real SDK,
 * loop, gate, audit log, engine and record. The same with the four in turn, and by one detective alone, three times each; and once with one
 * that hangs. Slack and memory are not part of it.
 */
export async function benchFanOut({ databaseUrl }: { readonly databaseUrl: string }): Promise<FanOutResult> {
  const { tool, spans } = benchTool(TOOL_MS, OUTPUT_BYTES);
  let way: Way = 'at once';
  let hangs = false;
  const claude = await createScriptedClaude({ scenario: (request) => investigate(request, hangs) });
  const database = openDatabase(databaseUrl, { name: 'bench fan-out' });
  const llm = createModelGateway({
    backend: createAnthropicBackend({ apiKey: 'bench', baseUrl: claude.url }),
  });
  const core = await createAgentCore({
    database,
    url: databaseUrl,
    tools: [...allTools, tool],
    effort: 'full',
    looks: [{ tool: tool.name, why: 'What the sessions do' }],
    claude: (records) =>
      inWay(
        createClaude({
          llm,
          ...offeredWith(tool),
          testMs: TEST_MS,
          toolCalls: async (id: IncidentId) => (await records.load(id))?.toolCalls ?? [],
        }),
        () => way,
      ),
  });
  await core.start();
  // The engine looks at its queue for the first time a second after its start; a bot that runs has done so.
  await sleep(1_500);
  const runs: Record<Way, Run[]> = { 'at once': [], 'in turn': [], one: [] };
  try {
    for (let repeat = 0; repeat < REPEATS; repeat += 1)
      for (const each of Object.keys(runs) as Way[]) {
        way = each;
        runs[each].push(
          haveAllTested(each, await run(core, `BenchFanOut${repeat}${each}`, claude.requests, spans)),
        );
      }
    [way, hangs] = ['at once', true];
    const hung = haveAllTested(way, await run(core, 'BenchFanOutHangs', claude.requests, spans));
    return resultOf(runs, hung, claude.requests);
  } finally {
    await core.stop();
    await database.close();
    await claude.close();
  }
}

async function run(
  core: AgentCore,
  name: string,
  requests: readonly RecordedRequest[],
  spans: readonly ToolSpan[],
): Promise<Run> {
  const before = { requests: requests.length, spans: spans.length };
  const acceptedAt = Date.now();
  const { incidentId } = await core.accept(benchAlert(name));
  const id = asIncidentId(incidentId ?? '');
  const asked = () => requests.slice(before.requests);
  const weighed = () =>
    asked().filter(({ body, doneAt }) => doneAt !== undefined && offers(body, 'report_diagnosis')).length;
  await untilReported(core, id, { mayBe: () => weighed() >= weighing.length, withinMs: 180_000 });
  const record = await core.records.load(id);
  if (!record) throw new Error(`${name} is not on record`);
  return { requests: asked(), spans: spans.slice(before.spans), record, acceptedAt };
}

/** Without all of them, or with any where one looks alone, it is not what the bench is about that was measured. */
function haveAllTested(way: Way, run: Run): Run {
  const tests = run.requests.filter(({ body }) => offers(body, 'report_test'));
  const seen = new Set(tests.map(({ body }) => testOf(body))).size;
  const wanted = way === 'one' ? 0 : specialists.length;
  if (seen !== wanted) throw new Error(`${seen} specialists of ${wanted} were asked (${way})`);
  return run;
}

function inWay(claude: Investigator, way: () => Way): Investigator {
  return {
    ...claude,
    diagnose: (work, found) => {
      switch (way()) {
        case 'at once':
          return claude.diagnose(work, found);
        case 'in turn':
          return claude.diagnose({ ...work, durably: inTurn(work.durably) }, found);
        case 'one':
          return claude.diagnose({ ...work, sideBySide: false }, found);
      }
    },
  };
}

/** Each specialist's step begins when the one before it has ended; nothing else of it is different. */
function inTurn(durably: Investigation['durably']): Investigation['durably'] {
  let before: Promise<unknown> = Promise.resolve();
  return (name, fn) => {
    if (!name.startsWith('claude:specialist:')) return durably(name, fn);
    const mine = before.then(() => durably(name, fn));
    before = mine.catch(() => undefined);
    return mine;
  };
}

function resultOf(
  runs: Readonly<Record<Way, readonly Run[]>>,
  hung: Run,
  requests: readonly RecordedRequest[],
): FanOutResult {
  const testing = runs['at once'].map((atOnce, repeat) => {
    const [atOnceMs, inTurnMs] = [testingMs(atOnce), testingMs(runs['in turn'][repeat] ?? atOnce)];
    return { atOnceMs, inTurnMs, ratio: Math.round((atOnceMs / inTurnMs) * 1_000) / 1_000 };
  });
  const firstFinding = runs['at once'].map((atOnce, repeat) => ({
    severalMs: firstFindingMs(atOnce),
    oneMs: firstFindingMs(runs.one[repeat] ?? atOnce),
  }));
  const cached = runs['at once'].flatMap((atOnce) => contextsOf(atOnce).map(cachedOf));
  const hanging = { limitMs: TEST_MS, testingMs: testingMs(hung), gaps: gapsIn(hung) };
  const bounds: Bound[] = [
    bound(
      'at once, at most 0.5 of in turn',
      testing.map(({ ratio }) => ratio),
      (ratio) => ratio <= 0.5,
    ),
    bound(
      'first finding, ms later than with one detective: at most 0',
      [
        quantile(
          firstFinding.map(({ severalMs }) => severalMs),
          0.5,
        ) -
          quantile(
            firstFinding.map(({ oneMs }) => oneMs),
            0.5,
          ),
      ],
      (later) => later <= 0,
    ),
    bound(
      'cached after the first turn, specialists and detective: at least 0.9 of all input',
      sharesByKind(runs['at once']),
      (share) => share >= 0.9,
    ),
    bound(
      'what a context had sent before, each: at least 0.9 found again',
      cached.map(({ foundAgain }) => foundAgain),
      (found) => found >= 0.9,
    ),
    bound(
      'who hangs, times of its limit: at most 1.2, and one gap',
      [Math.round((hanging.testingMs / TEST_MS) * 100) / 100],
      (times) => times <= 1.2 && hanging.gaps.length === 1,
    ),
  ];
  const refused = requests.filter(({ problem }) => problem !== undefined).length;
  return {
    bench: 'fan-out',
    settings: { speed: SPEED, toolMs: TOOL_MS, outputBytes: OUTPUT_BYTES, specialists: specialists.length },
    testing,
    firstFinding,
    cached,
    harness: runs['at once'].map(harnessOf),
    hanging,
    bounds,
    met: refused === 0 && bounds.every(({ met }) => met),
    refused,
  };
}

const bound = (name: string, seen: readonly number[], holds: (value: number) => boolean): Bound => ({
  bound: name,
  seen,
  met: seen.length > 0 && seen.every(holds),
});

function testingMs({ requests }: Run): number {
  const theirs = requests.filter(({ body }) => offers(body, 'report_test'));
  const ends = theirs.map(({ doneAt, goneAt, at }) => doneAt ?? goneAt ?? at);
  return Math.round(Math.max(...ends) - Math.min(...theirs.map(({ at }) => at)));
}

/** By the record alone: when a person could have seen it. */
function firstFindingMs({ record, acceptedAt }: Run): number {
  const reads = record.toolCalls.filter(({ state, target }) => state === 'ok' && target !== null);
  return Math.min(...reads.map(({ finishedAt }) => Date.parse(finishedAt))) - acceptedAt;
}

function harnessOf({ requests, spans, record, acceptedAt }: Run): FanOutResult['harness'][number] {
  const reported = record.events.find((event) => event.type === 'state.changed' && event.to === 'reported');
  const wallMs = Date.parse(reported?.at ?? '') - acceptedAt;
  const asked = requests.map(({ at, doneAt = at }) => ({ from: at, to: doneAt }));
  const ms = wallMs - covered([...asked, ...spans]);
  const share = ms / (ms + (wallMs - ms) * SPEED);
  return { ms: Math.round(ms), share: Math.round(share * 10_000) / 10_000 };
}

interface Context {
  readonly context: string;
  readonly asked: readonly RecordedRequest[];
}

function contextsOf({ requests }: Run): readonly Context[] {
  const tests = requests.filter(({ body }) => offers(body, 'report_test'));
  return [
    ...specialists.map((_, nth) => ({
      context: `specialist ${nth}`,
      asked: tests.filter(({ body }) => testOf(body) === nth),
    })),
    { context: 'detective', asked: requests.filter(({ body }) => offers(body, 'report_diagnosis')) },
  ];
}

function cachedOf({ context, asked }: Context): Cached {
  const later = asked.slice(1);
  const sentBefore = asked.slice(0, -1).reduce((sum, { usage }) => sum + inputOf(usage), 0);
  const found = later.reduce((sum, { usage }) => sum + Number(usage?.['cache_read_input_tokens'] ?? 0), 0);
  return {
    context,
    turns: asked.length,
    share: cachedShare(later),
    foundAgain: Math.round((found / sentBefore) * 10_000) / 10_000,
  };
}

const inputOf = (usage: RecordedRequest['usage']): number =>
  ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'].reduce(
    (sum, field) => sum + Number(usage?.[field] ?? 0),
    0,
  );

/** All specialists are one kind of context, since some of them have two turns alone. */
function sharesByKind(runs: readonly Run[]): readonly number[] {
  const contexts = runs.flatMap(contextsOf);
  const laterOf = (isKind: (context: string) => boolean) =>
    contexts.flatMap(({ context, asked }) => (isKind(context) ? asked.slice(1) : []));
  return [laterOf((name) => name !== 'detective'), laterOf((name) => name === 'detective')].map(cachedShare);
}

function gapsIn({ record }: Run): readonly string[] {
  const concluded = record.events.find((event) => event.type === 'diagnosis.concluded');
  return (concluded?.diagnosis.unknown ?? []).filter((line) => line.startsWith('Not tested'));
}

const CAUSE = 'Explanation';

/** Which of the explanations this request tests. */
const testOf = ({ messages }: MessagesRequest): number =>
  Number(
    new RegExp(`\\\\"explanation\\\\": \\\\"${CAUSE} (\\d)`).exec(JSON.stringify(messages[0]))?.[1] ?? -1,
  );

function investigate(request: MessagesRequest, hangs: boolean): ScriptedReply {
  if (offers(request, 'report_triage'))
    return said(triage, 'report_triage', { severity: 'critical', reason: 'Sessions wait.' });
  if (offers(request, 'report_explanations'))
    return said(leading, 'report_explanations', {
      explanations: specialists.map((_, nth) => ({
        cause: `${CAUSE} ${nth}: what part ${nth} does holds the sessions up.`,
        disprovedBy: `Part ${nth} shows no session that is idle in a transaction.`,
      })),
    });
  const tests = offers(request, 'report_test');
  const nth = testOf(request);
  const messages = tests ? (specialists[nth] ?? []) : weighing;
  const turn = request.messages.filter(({ role }) => role === 'assistant').length;
  const message = messages[turn] ?? { ms: 0, reads: 0 };
  if (message.reads > 0) return reading(message, 100 * (tests ? nth : specialists.length) + 10 * turn);
  const evidence = [
    { claim: 'It is idle.', toolCallIds: [lastRead(request)], quote: 'session 4711 idle in transaction' },
  ];
  if (!tests)
    return said(message, 'report_diagnosis', {
      verdict: 'cause_found',
      rootCause: 'Session 4711 is idle in a transaction.',
      confidence: 0.8,
      evidence,
    });
  const test = { end: nth === 0 ? 'stands' : 'disproved', says: 'Session 4711 is idle in it.', evidence };
  const reply = said(message, 'report_test', test);
  return hangs && nth === specialists.length - 1
    ? { ...reply, fault: { kind: 'stall', afterBytes: 0 } }
    : reply;
}

const said = ({ ms }: RecordedMessage, tool: string, input: object): ScriptedReply => ({
  delayMs: ms / SPEED,
  blocks: [{ thinking: 'That is what it comes to.' }, { tool, input }],
});

const reading = ({ ms, reads }: RecordedMessage, first: number): ScriptedReply => ({
  delayMs: ms / SPEED,
  blocks: [
    { thinking: 'Then the next parts.' },
    { text: `Reading part ${first} and following.` },
    ...Array.from({ length: reads }, (_, n) => ({
      tool: 'bench_read',
      input: { part: first + n, why: 'look' },
    })),
  ],
});

/** The id of the last read that stands in its history. */
function lastRead({ messages }: MessagesRequest): string {
  const results = messages
    .flatMap((message) => blocksOf(message))
    .filter(({ type }) => type === 'tool_result');
  return /"tool_call_id":"([^"]+)"/.exec(String(results.at(-1)?.['content']))?.[1] ?? '';
}
