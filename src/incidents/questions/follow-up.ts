import {
  type Investigation,
  type Investigator,
  InvestigatorFailed,
  type WordsKind,
} from '../../agents/ports.ts';
import { unattended } from '../../agents/unattended.ts';
import { type Refusal, refuse } from '../../core/errors.ts';
import { groupMembers } from '../../core/group.ts';
import type { Incident } from '../../core/incident.ts';
import { EMPTY_RECALL } from '../../core/memory.ts';
import { CLAUDES_WORDS, withoutMarks } from '../../core/model-words.ts';
import { alertStartedAt } from '../../record/alert-started-at.ts';
import { settledPart } from '../../safety/screen/settled-part.ts';
import type { InvestigationDeps } from '../deps.ts';
import { formatState } from './format-state.ts';

/** One question while it is being answered. */
export interface FollowUp {
  readonly incident: Incident;
  readonly question: Parameters<NonNullable<Investigator['answer']>>[1];
  /** Who alone reads the answer; absent: it stands in the thread. */
  readonly asker?: string;
  /** The words whole so far, redacted; null when they are withdrawn. */
  readonly onWords: (words: string | null, kind: WordsKind) => void;
  readonly durably: <T>(name: string, fn: () => Promise<T>) => Promise<T>;
  readonly signal: AbortSignal;
}

/**
 * Answers a question about an incident with the model: the record first, then reads of the live system through the gate,
 * with triage's rights. Nothing of it moves the incident; what it read is on record like every call. Every message of the
 * model and every read is a durable step.
 */
export async function followUp(
  deps: InvestigationDeps,
  { incident, question, asker, onWords, durably, signal }: FollowUp,
): Promise<{ readonly ok: true; readonly text: string } | Refusal> {
  const answer = deps.claude?.answer;
  if (answer === undefined) return refuse('NO_MODEL', 'No model is configured.');
  const credential = deps.vault.mint({
    role: 'triage',
    incidentId: incident.id,
    targets: incident.target ? [incident.target] : [],
  });
  const record = await deps.records.load(incident.id);
  const work: Investigation = {
    ...unattended,
    incident,
    // Needs no step of its own: the prompt that it stands in is recorded.
    alertStartedAt: record && alertStartedAt(record),
    members: record ? groupMembers(record) : [],
    recall: EMPTY_RECALL,
    tried: [],
    guidance: [],
    looks: incident.target === null ? [] : deps.gate.looks(incident.target),
    signal,
    callTool: (request, purpose) => deps.gate.call(credential, request, { purpose, signal }),
    say: (words, kind = 'writing') =>
      onWords(claudes(deps.redact(kind === 'said' ? words : settledPart(words))), kind),
    unsay: () => onWords(null, 'writing'),
    durably,
    memoryFor: async (turn, text, shown) => {
      const prepared = await durably(`memory ${turn}`, () =>
        deps.memory.prepare({
          incident,
          role: 'triage',
          turn,
          text,
          shown,
          ...(asker === undefined ? {} : { asker }),
        }),
      );
      if (prepared === null) return null;
      await durably(`memory ${turn} on record`, async () => {
        await deps.memory.recordShown(incident.id, 'triage', prepared);
        return true;
      });
      return prepared;
    },
    dropped: async () => undefined,
    spent: (usage) => deps.records.addUsage(incident.id, 'triage', usage),
  };
  try {
    const text = await answer(work, question);
    const whole = deps.redact(checked(withoutMarks(text), await knownCalls(deps, incident)));
    // Whatever it says of that, how the incident stands is told by the record.
    const state = await durably(
      'state',
      async () => ((await deps.records.incident(incident.id)) ?? incident).state,
    );
    return { ok: true, text: `${claudes(whole)}\n\nOn record: ${incident.id} · ${formatState(state)}.` };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof InvestigatorFailed) return refuse('NO_ANSWER', deps.redact(error.reason));
    throw error;
  } finally {
    deps.vault.revoke(credential);
  }
}

const claudes = (words: string): string => `${CLAUDES_WORDS}: ${words.trimStart()}`;

async function knownCalls(deps: InvestigationDeps, { id }: Incident): Promise<ReadonlySet<string>> {
  const rows = await deps.sql<{ id: string }>`SELECT id FROM tool_call WHERE incident_id = ${id}`;
  return new Set(rows.map(({ id }) => id));
}

/** An answer is words and no evidence; what it cites must at least exist. */
function checked(text: string, known: ReadonlySet<string>): string {
  const invented = [...new Set(text.match(/\btc_[0-9a-z]{6,}\b/g) ?? [])].filter((id) => !known.has(id));
  return invented.length === 0
    ? text
    : `${text}\n\n(Do not rely on ${invented.join(', ')}: no such tool call is on record.)`;
}
