import type { Json } from '../../src/core/tool-call.ts';
import type { AnyTool } from '../../src/tools/define.ts';
import { withMapped } from '../mapping/mapping.ts';
import { incidentOf } from '../replay/incident-of.ts';
import type { MakeInvestigator } from '../replay/investigators.ts';
import { createRecordedSession } from '../replay/recorded-session.ts';
import { createRecordings } from '../replay/recordings.ts';
import { type Investigated, investigate } from '../replay/run-scenario.ts';
import type { Scenario } from '../replay/scenario.ts';
import { type Answer, answerOf } from './answer.ts';
import { type Score, scoreAnswer } from './score.ts';

export interface EvalResult extends Score {
  readonly id: string;
  readonly title: string;
  /** As the scenario says; null: there is none for it. */
  readonly runbook: string | null;
  readonly answer: Answer;
  readonly toolCalls: number;
  readonly dropped: readonly string[];
  readonly failed: string | null;
  /** What a second look made of it; null: there was none. */
  readonly sceptic: SecondLook | null;
  readonly costUsd: number;
  readonly wallMs: number;
}

export interface SecondLook {
  /** It was right before. */
  readonly wasRight: boolean;
  /** It took a claim, confidence or the cause away. */
  readonly downgraded: boolean;
  /** Why it was not made; null: it was. */
  readonly notChecked: string | null;
}

export interface EvalSummary {
  /** Mean of all, 0–1. */
  readonly score: number;
  readonly falseCauses: number;
  readonly abstained: number;
  readonly correct: number;
  readonly costUsd: number;
  readonly wallMs: number;
  readonly incidents: number;
}

export interface EvalRun {
  readonly summary: EvalSummary;
  readonly incidents: readonly EvalResult[];
}

export interface EvalOptions {
  readonly scenarios: readonly Scenario[];
  readonly make: MakeInvestigator;
  readonly tools: readonly AnyTool[];
  /** Lets what other systems' tools recorded be read as ours; for the playbook. */
  readonly mapped: boolean;
  readonly signal: AbortSignal;
  readonly onResult?: (result: EvalResult) => void;
}

/** Investigates each scenario, one after the other, with nothing but its recorded outputs, and scores what is said. */
export async function runEvals(options: EvalOptions): Promise<EvalRun> {
  const results: EvalResult[] = [];
  for (const scenario of options.scenarios) {
    options.signal.throwIfAborted();
    const result = await runOne(scenario, options);
    options.onResult?.(result);
    results.push(result);
  }
  return { summary: summarise(results), incidents: results };
}

async function runOne(scenario: Scenario, options: EvalOptions): Promise<EvalResult> {
  const outputs = options.mapped ? withMapped(scenario.tool_outputs) : scenario.tool_outputs;
  const session = createRecordedSession({
    incident: incidentOf(scenario, Date.now()),
    recordings: createRecordings(outputs, normalInput(options.tools)),
    signal: options.signal,
  });
  const found = await investigate(session, options.make(scenario, session));
  const answer = answerOf(scenario.id, found.diagnosis);
  return {
    id: scenario.id,
    title: scenario.title,
    runbook: scenario.runbook ?? null,
    ...scoreAnswer(scenario.expected, answer),
    answer,
    toolCalls: session.record().toolCalls.length,
    dropped: found.dropped,
    failed: found.failed,
    sceptic: secondLook(scenario, found),
    costUsd: found.costUsd,
    wallMs: found.wallMs,
  };
}

function secondLook({ id, expected }: Scenario, { doubted, diagnosis }: Investigated): SecondLook | null {
  if (doubted === null) return null;
  const { before, notChecked } = doubted;
  return {
    wasRight: scoreAnswer(expected, answerOf(id, before)).outcome === 'correct',
    downgraded:
      diagnosis.verdict !== before.verdict ||
      diagnosis.confidence < before.confidence ||
      diagnosis.evidence.length < before.evidence.length,
    notChecked,
  };
}

/** An input as its tool reads it, defaults filled in; as it is where no tool of ours reads it. */
export function normalInput(tools: readonly AnyTool[]): (tool: string, input: Json) => Json {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return (tool, input) => {
    const parsed = byName.get(tool)?.input.safeParse(input);
    return parsed?.success ? (JSON.parse(JSON.stringify(parsed.data)) as Json) : input;
  };
}

export function summarise(
  results: readonly (Score & { readonly costUsd: number; readonly wallMs: number })[],
): EvalSummary {
  const sum = (of: (result: (typeof results)[number]) => number): number =>
    results.reduce((total, result) => total + of(result), 0);
  const count = (outcome: Score['outcome']): number =>
    results.filter((result) => result.outcome === outcome).length;
  return {
    score:
      results.length === 0 ? 0 : Math.round((1_000 * sum(({ score }) => score)) / results.length) / 1_000,
    falseCauses: results.filter(({ falseCause }) => falseCause).length,
    abstained: count('abstained'),
    correct: count('correct'),
    costUsd: Math.round(1e6 * sum(({ costUsd }) => costUsd)) / 1e6,
    wallMs: sum(({ wallMs }) => wallMs),
    incidents: results.length,
  };
}
