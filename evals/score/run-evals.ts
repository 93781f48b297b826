import type { Json } from '../../src/core/tool-call.ts';
import type { AnyTool } from '../../src/tools/define.ts';
import { shownBy, withMapped } from '../mapping/mapping.ts';
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
  /** What stood when code had held it against the record; it is what is scored. */
  readonly answer: Answer;
  /** What was said before that. */
  readonly said: Answer;
  /** Which time of `repeat` it is, from 1. */
  readonly repeat: number;
  readonly toolCalls: number;
  /** The recorded tools that showed it something. */
  readonly read: readonly string[];
  /** How often it asked for more. */
  readonly rounds: number;
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
  /** How often each is investigated; default once. */
  readonly repeat?: number;
  readonly signal: AbortSignal;
  readonly onResult?: (result: EvalResult) => void;
}

/** Investigates each scenario, one after the other, with nothing but its recorded outputs, and scores what is said. */
export async function runEvals(options: EvalOptions): Promise<EvalRun> {
  const results: EvalResult[] = [];
  for (let repeat = 1; repeat <= (options.repeat ?? 1); repeat++)
    for (const scenario of options.scenarios) {
      options.signal.throwIfAborted();
      const result = await runOne(scenario, repeat, options);
      options.onResult?.(result);
      results.push(result);
    }
  return { summary: summarise(results), incidents: results };
}

async function runOne(scenario: Scenario, repeat: number, options: EvalOptions): Promise<EvalResult> {
  const outputs = options.mapped ? withMapped(scenario.tool_outputs) : scenario.tool_outputs;
  const session = createRecordedSession({
    incident: incidentOf(scenario, Date.now()),
    recordings: createRecordings(outputs, normalInput(options.tools)),
    signal: options.signal,
  });
  const found = await investigate(session, options.make(scenario, session));
  const answer = answerOf(scenario.id, found.diagnosis);
  const { toolCalls } = session.record();
  const recorded = scenario.tool_outputs.map(({ tool }) => tool);
  const shown = toolCalls
    .filter(({ state }) => state === 'ok')
    .flatMap(({ tool }) => shownBy(tool, recorded));
  return {
    id: scenario.id,
    title: scenario.title,
    runbook: scenario.runbook ?? null,
    ...scoreAnswer(scenario.expected, answer),
    answer,
    said: answerOf(scenario.id, found.said),
    repeat,
    toolCalls: toolCalls.length,
    read: [...new Set(shown)],
    rounds: session.rounds,
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
