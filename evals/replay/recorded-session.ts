import type { Investigation } from '../../src/agents/ports.ts';
import { unattended } from '../../src/agents/unattended.ts';
import type { Diagnosis } from '../../src/core/diagnosis.ts';
import type { IncidentEvent } from '../../src/core/event.ts';
import { asActionId, asToolCallId } from '../../src/core/ids.ts';
import type { Incident } from '../../src/core/incident.ts';
import type { IncidentRecord } from '../../src/core/incident-record.ts';
import { EMPTY_RECALL, type Recall } from '../../src/core/memory.ts';
import type { ModelUsage } from '../../src/core/model-usage.ts';
import type { ToolCall, ToolCallRequest, ToolCallResult } from '../../src/core/tool-call.ts';
import { objectionsTo } from '../../src/incidents/objections.ts';
import { sha256 } from '../../src/safety/sha256.ts';
import type { TargetKind } from '../../src/targets/kind.ts';
import { kindOfDomain } from './kind-of-domain.ts';
import type { Recordings } from './recordings.ts';

/** One investigation over recorded outputs: nothing is live, nothing is changed, nothing is written anywhere. */
export interface RecordedSession {
  readonly incident: Incident;
  /** For one role; its calls are kept under that name. */
  work(role: 'triage' | 'detective' | 'surgeon'): Investigation;
  readonly kind: TargetKind;
  /** What was called so far, as the record would have it. */
  record(): Pick<IncidentRecord, 'incident' | 'events' | 'toolCalls'>;
  readonly spent: readonly ModelUsage[];
  /** How often something was asked for: calls of one answer of a model are one. */
  readonly rounds: number;
  readonly dropped: readonly string[];
  /** What a model reported last, before code held it against the record; null: nothing, or nothing that was asked about. */
  readonly reported: Diagnosis | null;
  /** What an active tool was called with: a proposal, which nobody carries out. */
  readonly proposals: readonly ToolCallRequest[];
}

export interface SessionOptions {
  readonly incident: Incident;
  readonly recordings: Recordings;
  /** Default: when the incident was opened. */
  readonly alertStartedAt?: string | null;
  readonly recall?: Recall;
  readonly guidance?: Investigation['guidance'];
  /** Whether a tool acts: calling it proposes, and is only noted here. */
  readonly acts?: (tool: string) => boolean;
  readonly signal: AbortSignal;
}

export function createRecordedSession(options: SessionOptions): RecordedSession {
  const { incident, recordings, signal } = options;
  const kind = kindOfDomain(incident.domain, recordings.tools);
  const toolCalls: ToolCall[] = [];
  const spent: ModelUsage[] = [];
  const askedAfter = new Set<number>();
  const dropped: string[] = [];
  const proposals: ToolCallRequest[] = [];
  const steps = new Map<string, unknown>();
  let reported: Diagnosis | null = null;
  const opened: IncidentEvent = {
    seq: 0,
    incidentId: incident.id,
    at: incident.openedAt,
    type: 'incident.opened',
    source: 'recorded',
    title: incident.title,
  };

  function call(role: ToolCall['role'], request: ToolCallRequest): ToolCallResult {
    const toolCallId = asToolCallId(`tc_${String(toolCalls.length + 1).padStart(12, '0')}`);
    const result = answer(request, toolCallId);
    askedAfter.add(spent.length);
    const output = result.kind === 'ok' || result.kind === 'proposed' ? result.text : result.reason;
    const at = new Date().toISOString();
    toolCalls.push({
      id: toolCallId,
      incidentId: incident.id,
      role,
      tool: request.tool,
      target: request.target,
      input: request.input,
      state: result.kind,
      output,
      result: result.kind === 'ok' ? result.data : null,
      outputSha256: sha256(output),
      truncated: false,
      code: 'code' in result ? result.code : null,
      startedAt: at,
      finishedAt: at,
      actionId: null,
    });
    return result;
  }

  function answer(request: ToolCallRequest, toolCallId: ToolCall['id']): ToolCallResult {
    if (options.acts?.(request.tool) === true) {
      proposals.push(request);
      return { kind: 'proposed', toolCallId, actionId: asActionId('act_000000000000'), text: 'Proposed.' };
    }
    if (request.target !== incident.target)
      return {
        kind: 'refused',
        toolCallId,
        code: 'TARGET_OUT_OF_SCOPE',
        reason: `Only ${incident.target ?? 'no target'} was recorded.`,
      };
    const found = recordings.find(request.tool, request.input);
    if (found.kind === 'unknown_tool')
      return {
        kind: 'refused',
        toolCallId,
        code: 'UNKNOWN_TOOL',
        reason: `${request.tool} was not recorded. Recorded tools: ${recordings.tools.join(', ') || 'none'}.`,
      };
    if (found.kind === 'missing')
      return { kind: 'failed', toolCallId, code: 'NOT_RECORDED', reason: found.reason };
    const { recorded, exact } = found;
    if (recorded.status === 'error')
      return {
        kind: 'failed',
        toolCallId,
        code: recorded.code ?? 'RECORDED_ERROR',
        reason: recorded.output || 'It failed.',
      };
    const text = recorded.output || '(no output)';
    const note = exact ? '' : `(Recorded with ${JSON.stringify(recorded.args)}.)\n`;
    return { kind: 'ok', toolCallId, text: `${note}${text}`, data: recorded.data ?? null, truncated: false };
  }

  return {
    incident,
    kind,
    spent,
    get rounds() {
      return askedAfter.size;
    },
    dropped,
    get reported() {
      return reported;
    },
    proposals,
    work: (role) => ({
      ...unattended,
      incident,
      alertStartedAt: options.alertStartedAt ?? incident.openedAt,
      recall: options.recall ?? EMPTY_RECALL,
      tried: [],
      looks: kind.looks,
      guidance: options.guidance ?? [],
      signal,
      callTool: async (request) => call(role, request),
      say: () => undefined,
      unsay: () => undefined,
      async durably<T>(name: string, fn: () => Promise<T>): Promise<T> {
        const key = `${role} ${name}`;
        if (!steps.has(key)) steps.set(key, JSON.parse(JSON.stringify((await fn()) ?? null)));
        return steps.get(key) as T;
      },
      memoryFor: async () => null,
      dropped: async (claim, reason) => void dropped.push(`${claim}: ${reason}`),
      objections: async (diagnosis) => {
        reported = diagnosis;
        return objectionsTo(diagnosis, record());
      },
      spent: async (usage) => void spent.push(usage),
    }),
    record,
  };

  function record(): ReturnType<RecordedSession['record']> {
    return {
      incident,
      toolCalls,
      events: [
        opened,
        ...toolCalls.map(
          (one, index): IncidentEvent => ({
            seq: index + 1,
            incidentId: incident.id,
            at: one.startedAt,
            type: 'tool.called',
            toolCallId: one.id,
            role: one.role,
            tool: one.tool,
            purpose: null,
            state: one.state,
            summary: '',
          }),
        ),
      ],
    };
  }
}
