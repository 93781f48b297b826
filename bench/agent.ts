import { setTimeout as sleep } from 'node:timers/promises';
import { countTokens } from '../playground/claude/prompt-cache.ts';
import { blocksOf, type MessagesRequest, type ScriptedReply } from '../playground/claude/scenario.ts';
import { createScriptedClaude, type RecordedRequest } from '../playground/claude/scripted-claude.ts';
import { createClaude } from '../src/agents/claude/create-claude.ts';
import { asIncidentId, type IncidentId } from '../src/core/ids.ts';
import { openDatabase } from '../src/infra/db/client.ts';
import { createAnthropicBackend } from '../src/llm/anthropic.ts';
import { createModelGateway } from '../src/llm/gateway.ts';
import { allTools } from '../src/targets/all-tools.ts';
import {
  type AgentCore,
  benchAlert,
  benchTarget,
  benchTool,
  createAgentCore,
  offeredWith,
  type ToolSpan,
} from './agent-core.ts';
import { quantile } from './running-product.ts';

const TURNS = 12;
const CALLS_A_TURN = 4;
const MODEL_MS = 2_000;
const TOOL_MS = 200;
const OUTPUT_BYTES = 700;

export interface AgentResult {
  readonly bench: 'agent';
  readonly settings: {
    readonly modelMs: number;
    readonly toolMs: number;
    readonly callsATurn: number;
    readonly outputBytes: number;
  };
  /** Model messages of the detective; triage's one comes before. */
  readonly turns: number;
  readonly toolCalls: number;
  /** Of all input tokens after a role's first turn, what the server found in its cache (bytes of identical prefix). */
  readonly cachedShare: number;
  /** System text and tools of the role that has most of them, report tool included, as the server counts. Goal: 6,000. */
  readonly fixedTokens: number;
  /** Most tool calls at once. */
  readonly parallel: number;
  /** From the alert to the report in the record. */
  readonly wallMs: number;
  readonly modelMs: number;
  readonly toolMs: number;
  /** wallMs − modelMs − toolMs. */
  readonly harnessMs: number;
  /** harnessMs / wallMs. Goal: 0.03. */
  readonly harnessShare: number;
  /** Of harnessMs, a turn's median: from the end of a message to its first read, from the last read to the next request. */
  readonly beforeToolsMs: number;
  readonly afterToolsMs: number;
  /** The rest of it: accepting the alert, the way between phases, and writing the end down. */
  readonly aroundMs: number;
  /** Requests the server refused; must be 0. */
  readonly refused: number;
}

/**
 * One scripted incident of twelve detective turns, each of 2 s with four parallel reads of 200 ms, through the real SDK, loop,
 * gate, audit log, engine and record. Slack and memory are not part of it.
 */
export async function benchAgent({ databaseUrl }: { readonly databaseUrl: string }): Promise<AgentResult> {
  const { tool, spans } = benchTool(TOOL_MS, OUTPUT_BYTES);
  const claude = await createScriptedClaude({ scenario: investigate });
  const database = openDatabase(databaseUrl, { name: 'bench agent' });
  const gateway = createModelGateway({
    backend: createAnthropicBackend({ apiKey: 'bench', baseUrl: claude.url }),
  });
  const core = await createAgentCore({
    database,
    url: databaseUrl,
    tools: [...allTools, tool],
    claude: (records) =>
      createClaude({
        llm: gateway,
        ...offeredWith(tool),
        toolCalls: async (id: IncidentId) => (await records.load(id))?.toolCalls ?? [],
      }),
  });
  await core.start();
  // The engine looks at its queue for the first time a second after its start; a bot that runs has done so.
  await sleep(1_500);
  try {
    const began = performance.now();
    const { incidentId } = await core.accept(benchAlert('BenchAgent'));
    await untilReported(core, asIncidentId(incidentId ?? ''), {
      mayBe: () => claude.requests.filter(({ doneAt }) => doneAt !== undefined).length > TURNS,
      withinMs: 2 * (TURNS + 1) * (MODEL_MS + TOOL_MS),
    });
    return resultOf(performance.now() - began, claude.requests, spans);
  } finally {
    await core.stop();
    await database.close();
    await claude.close();
  }
}

function resultOf(
  wallMs: number,
  requests: readonly RecordedRequest[],
  spans: readonly ToolSpan[],
): AgentResult {
  const detective = requests.filter(({ body }) => offers(body, 'report_diagnosis'));
  const modelMs = requests.reduce((sum, { at, doneAt = at }) => sum + doneAt - at, 0);
  const toolMs = covered(spans);
  const harnessMs = wallMs - modelMs - toolMs;
  const [first] = detective;
  return {
    bench: 'agent',
    settings: { modelMs: MODEL_MS, toolMs: TOOL_MS, callsATurn: CALLS_A_TURN, outputBytes: OUTPUT_BYTES },
    turns: detective.length,
    toolCalls: spans.length,
    cachedShare: cachedShare(detective.slice(1)),
    fixedTokens: first === undefined ? 0 : countTokens({ ...first.body, messages: [] }),
    parallel: mostAtOnce(spans),
    wallMs: Math.round(wallMs),
    modelMs: Math.round(modelMs),
    toolMs: Math.round(toolMs),
    harnessMs: Math.round(harnessMs),
    harnessShare: Math.round((harnessMs / wallMs) * 10_000) / 10_000,
    ...between(detective, spans, harnessMs),
    refused: requests.filter(({ problem }) => problem !== undefined).length,
  };
}

function between(
  requests: readonly RecordedRequest[],
  spans: readonly ToolSpan[],
  harnessMs: number,
): Pick<AgentResult, 'beforeToolsMs' | 'afterToolsMs' | 'aroundMs'> {
  const before: number[] = [];
  const after: number[] = [];
  for (const [index, { doneAt = 0 }] of requests.entries()) {
    const next = requests[index + 1];
    const mine = spans.filter((span) => next !== undefined && span.from >= doneAt && span.to <= next.at);
    if (next === undefined || mine.length === 0) continue;
    before.push(Math.min(...mine.map((span) => span.from)) - doneAt);
    after.push(next.at - Math.max(...mine.map((span) => span.to)));
  }
  const sum = [...before, ...after].reduce((total, ms) => total + ms, 0);
  return {
    beforeToolsMs: quantile(before, 0.5),
    afterToolsMs: quantile(after, 0.5),
    aroundMs: Math.round(harnessMs - sum),
  };
}

/** Of all input tokens of these requests, what the server found in its cache. */
export function cachedShare(requests: readonly RecordedRequest[]): number {
  const sum = (field: string) =>
    requests.reduce((total, { usage }) => total + Number(usage?.[field] ?? 0), 0);
  const read = sum('cache_read_input_tokens');
  const all = read + sum('input_tokens') + sum('cache_creation_input_tokens');
  return Math.round((read / all) * 10_000) / 10_000;
}

/** Time in which at least one of them ran, ms. */
export function covered(spans: readonly ToolSpan[]): number {
  let end = Number.NEGATIVE_INFINITY;
  let total = 0;
  for (const { from, to } of [...spans].sort((a, b) => a.from - b.from)) {
    total += Math.max(0, to - Math.max(from, end));
    end = Math.max(end, to);
  }
  return total;
}

function mostAtOnce(spans: readonly ToolSpan[]): number {
  return Math.max(
    0,
    ...spans.map(({ from }) => spans.filter((other) => other.from <= from && other.to > from).length),
  );
}

/** Whether the request is one of the role that ends with this tool. */
export const offers = (body: MessagesRequest, name: string): boolean =>
  (body.tools ?? []).some((tool) => tool.name === name);

function investigate(request: MessagesRequest): ScriptedReply {
  if (offers(request, 'report_triage'))
    return {
      delayMs: MODEL_MS,
      blocks: [{ tool: 'report_triage', input: { severity: 'critical', reason: 'Sessions wait.' } }],
    };
  const turn = request.messages.filter(({ role }) => role === 'assistant').length + 1;
  if (turn < TURNS)
    return {
      delayMs: MODEL_MS,
      blocks: [
        { thinking: 'Then the next four parts.' },
        { text: `Reading parts ${turn * CALLS_A_TURN} and following.` },
        ...Array.from({ length: CALLS_A_TURN }, (_, n) => ({
          tool: 'bench_read',
          input: { target: benchTarget.name, part: turn * CALLS_A_TURN + n, why: 'look' },
        })),
      ],
    };
  const results = request.messages.flatMap((message) => blocksOf(message));
  const id = /"tool_call_id":"([^"]+)"/.exec(
    String(results.findLast((block) => block.type === 'tool_result')?.['content']),
  )?.[1];
  return {
    delayMs: MODEL_MS,
    blocks: [
      {
        tool: 'report_diagnosis',
        input: {
          verdict: 'cause_found',
          rootCause: 'Session 4711 is idle in a transaction.',
          confidence: 0.8,
          evidence: [{ claim: 'It is idle.', toolCallIds: [id], quote: 'session 4711 idle in transaction' }],
        },
      },
    ],
  };
}

/** The record is asked only when it may have come to an end: asking is work as well. */
export async function untilReported(
  core: AgentCore,
  id: IncidentId,
  { mayBe, withinMs }: { readonly mayBe: () => boolean; readonly withinMs: number },
): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    if (mayBe() && (await core.records.incident(id))?.state === 'reported') return;
    if (performance.now() > deadline) {
      const last = (await core.records.load(id))?.toolCalls.at(-1);
      throw new Error(`the investigation did not come to its end; the last call: ${last?.output ?? 'none'}`);
    }
    await sleep(5);
  }
}
