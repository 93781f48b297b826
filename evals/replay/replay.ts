import type { Diagnosis } from '../../src/core/diagnosis.ts';
import type { Incident } from '../../src/core/incident.ts';
import type { IncidentRecord } from '../../src/core/incident-record.ts';
import { EMPTY_RECALL, type Recall } from '../../src/core/memory.ts';
import { alertStartedAt } from '../../src/record/alert-started-at.ts';
import { chunkRunbook } from '../../src/runbooks/chunk-runbook.ts';
import type { Runbook } from '../../src/runbooks/runbook.ts';
import type { AnyTool } from '../../src/tools/define.ts';
import { normalInput } from '../score/run-evals.ts';
import { entriesOf } from './incident-of.ts';
import type { MakeInvestigator } from './investigators.ts';
import { createRecordedSession } from './recorded-session.ts';
import { createRecordings } from './recordings.ts';
import { investigate } from './run-scenario.ts';
import type { RecordedOutput, Scenario } from './scenario.ts';

/** One way through an incident: what was concluded, by which calls, and what it cost. */
export interface Course {
  readonly investigator: string;
  readonly diagnosis: Diagnosis | null;
  /** Reads, by tool. */
  readonly tools: Readonly<Record<string, number>>;
  readonly calls: number;
  readonly costUsd: number;
  /** From the first word to the diagnosis; null where that cannot be told. */
  readonly wallMs: number | null;
}

export interface ReplayReport {
  readonly incidentId: string;
  readonly recorded: Course;
  readonly replayed: Course & { readonly failed: string | null; readonly dropped: readonly string[] };
  readonly compared: {
    readonly sameVerdict: boolean;
    readonly sameCategory: boolean;
    /** Words that the causes share, of all their words, 0–1. */
    readonly causeLikeness: number;
    readonly confidenceChange: number;
    readonly costChangeUsd: number;
    readonly onlyRecorded: readonly string[];
    readonly onlyReplayed: readonly string[];
  };
}

export interface ReplayOptions {
  readonly record: IncidentRecord;
  readonly make: MakeInvestigator;
  /** What the investigator is called in the report. */
  readonly name: string;
  readonly tools: readonly AnyTool[];
  readonly runbooks: readonly Runbook[];
  readonly signal: AbortSignal;
}

/**
 * Investigates an incident of the record again, as it was when it was opened, with nothing but what its tools answered
 * then. Nothing live is read, nothing is changed or proposed, and nothing is written to the record.
 */
export async function replayIncident(options: ReplayOptions): Promise<ReplayReport> {
  const { record, tools } = options;
  const outputs = recordedOutputs(record, new Set(tools.filter(acts).map(({ name }) => name)));
  const incident = asOpened(record);
  const session = createRecordedSession({
    incident,
    alertStartedAt: shifted(alertStartedAt(record), record.incident, incident),
    recordings: createRecordings(outputs, normalInput(tools)),
    recall: recalled(record, options.runbooks),
    guidance: record.events.flatMap((event) =>
      event.type === 'hint.given' ? [{ by: event.by, text: event.text }] : [],
    ),
    acts: (tool) => tools.some((one) => one.name === tool && acts(one)),
    signal: options.signal,
  });
  const found = await investigate(session, options.make(scenarioOf(record, outputs), session));
  const replayed = {
    ...course(options.name, found.diagnosis, session.record().toolCalls, found.costUsd, found.wallMs),
    failed: found.failed,
    dropped: found.dropped,
  };
  const recorded = recordedCourse(record);
  return { incidentId: record.incident.id, recorded, replayed, compared: compare(recorded, replayed) };
}

const acts = (tool: AnyTool): boolean => tool.kind === 'active';

function recordedOutputs({ toolCalls }: IncidentRecord, active: ReadonlySet<string>): RecordedOutput[] {
  return toolCalls
    .filter(({ state, tool }) => (state === 'ok' || state === 'failed') && !active.has(tool))
    .map((call) => ({
      tool: call.tool,
      args: entriesOf(call.input) as RecordedOutput['args'],
      status: call.state === 'ok' ? 'success' : 'error',
      output: call.output,
      data: call.result as RecordedOutput['data'],
      ...(call.code === null ? {} : { code: call.code }),
    }));
}

/** What investigators saw when it began, as old as it was at the first tool call. */
function asOpened({ incident, toolCalls }: IncidentRecord): Incident {
  const first = toolCalls[0]?.startedAt ?? incident.openedAt;
  const ageMs = Math.max(0, Date.parse(first) - Date.parse(incident.openedAt));
  return {
    ...incident,
    state: 'diagnosing',
    round: 1,
    cause: null,
    confidence: null,
    verdict: null,
    nextStep: null,
    words: null,
    incidentType: null,
    routine: null,
    costUsd: 0,
    openedAt: new Date(Date.now() - ageMs).toISOString(),
  };
}

/** As long before the opening as it was then. */
function shifted(at: string | null, then: Incident, now: Incident): string | null {
  if (at === null) return null;
  return new Date(Date.parse(now.openedAt) + Date.parse(at) - Date.parse(then.openedAt)).toISOString();
}

/** What memory said then, as far as it is on record: which runbooks and incidents, not their words of that day. */
function recalled({ events }: IncidentRecord, runbooks: readonly Runbook[]): Recall {
  const last = events.findLast((event) => event.type === 'memory.recalled');
  if (last?.type !== 'memory.recalled') return EMPTY_RECALL;
  return {
    ...EMPTY_RECALL,
    runbooks: last.runbooks.flatMap((id, rank) => {
      const runbook = runbooks.find((one) => one.id === id);
      const chunk = runbook && chunkRunbook(runbook)[0];
      return runbook && chunk
        ? [
            {
              runbookId: id,
              title: runbook.title,
              heading: chunk.heading,
              text: chunk.text,
              score: 1 / (rank + 1),
            },
          ]
        : [];
    }),
    episodes: { similar: [], failedCommands: last.failed },
  };
}

function scenarioOf({ incident }: IncidentRecord, outputs: readonly RecordedOutput[]): Scenario {
  return {
    id: incident.id,
    title: incident.title,
    kind: 'alert',
    incident: {},
    tool_outputs: [...outputs],
    expected: {
      root_cause: '',
      healthy: false,
      keywords: [],
      keyword_groups: [],
      forbidden_keywords: [],
      forbidden_categories: [],
      needed_evidence: [],
      red_herrings: [],
    },
  };
}

function recordedCourse(record: IncidentRecord): Course {
  const { events, toolCalls, incident } = record;
  const concluded = events.find((event) => event.type === 'diagnosis.concluded');
  const began = events.find((event) => event.type === 'investigator.chosen') ?? events[0];
  const before = concluded ? toolCalls.filter((call) => call.finishedAt <= concluded.at) : toolCalls;
  const reads = before.filter(({ role }) => role === 'triage' || role === 'detective');
  return course(
    incident.investigator ?? 'playbook',
    concluded?.type === 'diagnosis.concluded' ? concluded.diagnosis : null,
    reads,
    incident.costUsd,
    concluded && began ? Date.parse(concluded.at) - Date.parse(began.at) : null,
  );
}

function course(
  investigator: string,
  diagnosis: Diagnosis | null,
  calls: readonly { readonly tool: string }[],
  costUsd: number,
  wallMs: number | null,
): Course {
  const tools: Record<string, number> = {};
  for (const { tool } of calls) tools[tool] = (tools[tool] ?? 0) + 1;
  return { investigator, diagnosis, tools, calls: calls.length, costUsd, wallMs };
}

function compare(before: Course, after: Course): ReplayReport['compared'] {
  const only = (a: Course, b: Course): string[] => Object.keys(a.tools).filter((tool) => !(tool in b.tools));
  return {
    sameVerdict: before.diagnosis?.verdict === after.diagnosis?.verdict,
    sameCategory: before.diagnosis?.category === after.diagnosis?.category,
    causeLikeness: likeness(before.diagnosis?.rootCause ?? '', after.diagnosis?.rootCause ?? ''),
    confidenceChange: rounded((after.diagnosis?.confidence ?? 0) - (before.diagnosis?.confidence ?? 0)),
    costChangeUsd: rounded(after.costUsd - before.costUsd),
    onlyRecorded: only(before, after),
    onlyReplayed: only(after, before),
  };
}

function likeness(a: string, b: string): number {
  const words = (text: string): ReadonlySet<string> =>
    new Set(text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []);
  const [one, other] = [words(a), words(b)];
  const all = new Set([...one, ...other]).size;
  return all === 0 ? 1 : rounded([...one].filter((word) => other.has(word)).length / all);
}

const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;
