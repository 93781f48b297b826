import { kindOfDomain } from '../../../../evals/replay/kind-of-domain.ts';
import type { Guidance, Investigation } from '../../../../src/agents/ports.ts';
import { unattended } from '../../../../src/agents/unattended.ts';
import type { Action } from '../../../../src/core/action.ts';
import { asActionId, asIncidentId, asToolCallId } from '../../../../src/core/ids.ts';
import type { Incident } from '../../../../src/core/incident.ts';
import { EMPTY_RECALL, type Recall } from '../../../../src/core/memory.ts';
import type { Json, ToolCallRequest, ToolCallResult } from '../../../../src/core/tool-call.ts';

export function anIncident(part: Partial<Incident> = {}): Incident {
  return {
    id: asIncidentId('INC-1'),
    state: 'diagnosing',
    stoppedFrom: null,
    title: 'Queue is full on shop-db',
    alertName: 'QueueFull',
    severity: 'critical',
    domain: 'postgres',
    target: 'shop-db',
    incidentType: null,
    routine: null,
    fingerprint: 'f00d',
    labels: {},
    annotations: {},
    occurrences: 1,
    members: 1,
    membersFiring: 1,
    round: 1,
    cause: null,
    confidence: null,
    verdict: null,
    nextStep: null,
    words: null,
    sourceResolvedAt: null,
    investigator: 'playbook',
    costUsd: 0,
    requesters: [],
    channel: null,
    threadTs: null,
    openedAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
    endedAt: null,
    resolvedBy: null,
    closedBy: null,
    asksAgainAt: null,
    flappingUntil: null,
    mutedBy: null,
    mergedInto: null,
    effort: null,
    detailsDeletedAt: null,
    ...part,
  };
}

export function anAction(part: Partial<Action>): Action {
  return {
    id: asActionId('act_000000000000'),
    planId: part.id ?? asActionId('act_000000000000'),
    step: 1,
    incidentId: asIncidentId('INC-1'),
    round: 1,
    state: 'succeeded',
    tool: 'queue_purge',
    target: 'shop-db',
    input: {},
    command: 'purge',
    planHash: '',
    guard: null,
    why: '',
    blastRadius: '',
    preflight: [],
    undo: '',
    risk: 'low',
    runbookId: null,
    autonomyKey: null,
    verify: { steps: [], holdMs: 0, timeoutMs: 1 },
    expiresAt: '',
    proposedAt: '',
    approvalsNeeded: 1,
    approvedBy: [],
    policyRule: null,
    autonomousAt: null,
    decidedBy: null,
    decidedAt: null,
    decisionReason: null,
    startedAt: null,
    finishedAt: null,
    outcome: null,
    toolCallId: null,
    auditOnly: false,
    heldBy: null,
    identity: null,
    objects: [],
    verbs: null,
    denialsAcknowledged: [],
    undoes: null,
    beside: false,
    requestedBy: null,
    purpose: 'repair',
    ...part,
  };
}

type Answer =
  | { readonly text: string; readonly data: Json }
  | { readonly code: string; readonly reason: string };

/** What each tool answers: text and data, or the code and reason of its failure; a list in turn, its last one for ever. */
export type Answers = Readonly<Record<string, Answer | readonly Answer[]>>;

export interface ScriptedWork extends Investigation {
  readonly calls: ToolCallRequest[];
  readonly said: string[];
  readonly droppedClaims: string[];
}

const isList = (given: Answer | readonly Answer[] | undefined): given is readonly Answer[] =>
  Array.isArray(given);

/** One phase over tools with fixed answers. Durable steps are kept in `journal`, so that a second run finds the first one's. */
export function scriptedWork(
  answers: Answers,
  options: {
    readonly incident?: Partial<Incident>;
    readonly recall?: Partial<Recall>;
    readonly tried?: readonly Action[];
    readonly guidance?: readonly Guidance[];
    readonly journal?: Map<string, unknown>;
    readonly signal?: AbortSignal;
  } = {},
): ScriptedWork {
  const journal = options.journal ?? new Map<string, unknown>();
  const work: ScriptedWork = {
    ...unattended,
    calls: [],
    said: [],
    droppedClaims: [],
    incident: anIncident(options.incident),
    recall: { ...EMPTY_RECALL, ...options.recall },
    tried: options.tried ?? [],
    guidance: options.guidance ?? [],
    looks: kindOfDomain(options.incident?.domain ?? 'postgres').looks,
    signal: options.signal ?? new AbortController().signal,
    async callTool(request): Promise<ToolCallResult> {
      work.calls.push(request);
      const toolCallId = asToolCallId(`tc_${String(work.calls.length).padStart(12, '0')}`);
      if (request.proposal !== undefined)
        return { kind: 'proposed', toolCallId, actionId: asActionId('act_aaaaaaaaaaaa'), text: 'proposed' };
      const given = answers[request.tool];
      const turn = work.calls.filter(({ tool }) => tool === request.tool).length - 1;
      const answer = isList(given) ? (given[turn] ?? given.at(-1)) : given;
      if (answer === undefined)
        return { kind: 'refused', toolCallId, code: 'UNKNOWN_TOOL', reason: 'no such tool' };
      return 'text' in answer
        ? { kind: 'ok', toolCallId, text: answer.text, data: answer.data, truncated: false }
        : { kind: 'failed', toolCallId, ...answer };
    },
    say: (words) => void work.said.push(words),
    unsay: () => void work.said.pop(),
    async durably<T>(name: string, fn: () => Promise<T>): Promise<T> {
      if (!journal.has(name)) journal.set(name, JSON.parse(JSON.stringify(await fn())));
      return journal.get(name) as T;
    },
    memoryFor: async () => null,
    dropped: async (claim, reason) => void work.droppedClaims.push(`${claim}: ${reason}`),
    spent: async () => undefined,
  };
  return work;
}
