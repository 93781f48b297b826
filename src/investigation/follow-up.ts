import { type Investigation, type Investigator, InvestigatorFailed } from '../agents/ports.ts';
import { type Refusal, refuse } from '../domain/errors.ts';
import type { IncidentId } from '../domain/ids.ts';
import type { IncidentRecord } from '../domain/incident-record.ts';
import { EMPTY_RECALL } from '../domain/memory.ts';
import type { InvestigationDeps } from './deps.ts';

export interface FollowUpQuestion {
  readonly by: string;
  readonly text: string;
}

/**
 * Answers a question about an incident with the model: the record first, then reads of the live system through the gate,
 * with triage's rights. `onWords` is given the words whole so far, null when they are withdrawn. Nothing of it moves the
 * incident; what it read is on record like every call. Not durable: a restart in the middle leaves the question unanswered.
 */
export type FollowUp = (
  incidentId: IncidentId,
  question: FollowUpQuestion,
  onWords: (words: string | null) => void,
) => Promise<{ readonly ok: true; readonly text: string } | Refusal>;

export function createFollowUp(deps: InvestigationDeps, why: (record: IncidentRecord) => string): FollowUp {
  return async (incidentId, question, onWords) => {
    const answer = deps.claude?.answer;
    if (answer === undefined) return refuse('NO_MODEL', 'No model is configured.');
    const record = await deps.records.load(incidentId);
    if (record === null) return refuse('UNKNOWN_INCIDENT', `There is no ${incidentId}.`);
    const text = deps.redact(question.text.slice(0, 2_000));
    await deps.sql.begin((tx) =>
      deps.records.append(tx, incidentId, { type: 'question.asked', by: question.by, text }),
    );
    return asked(
      deps,
      record,
      (work) => answer(work, { by: question.by, text, story: why(record) }),
      onWords,
    );
  };
}

async function asked(
  deps: InvestigationDeps,
  { incident, toolCalls }: IncidentRecord,
  answer: (work: Investigation) => ReturnType<NonNullable<Investigator['answer']>>,
  onWords: (words: string | null) => void,
): Promise<{ readonly ok: true; readonly text: string } | Refusal> {
  const credential = deps.vault.mint({
    role: 'triage',
    incidentId: incident.id,
    targets: incident.target ? [incident.target] : [],
  });
  const known = new Set<string>(toolCalls.map(({ id }) => id));
  const work: Investigation = {
    incident,
    recall: EMPTY_RECALL,
    tried: [],
    guidance: [],
    signal: deps.shutdown,
    callTool: async (request, purpose) => {
      const result = await deps.gate.call(credential, request, { purpose, signal: deps.shutdown });
      known.add(result.toolCallId);
      return result;
    },
    say: (words) => onWords(deps.redact(words)),
    unsay: () => onWords(null),
    durably: (_, fn) => fn(),
    memoryFor: async (turn, text, shown) => {
      const prepared = await deps.memory.prepare({ incident, role: 'triage', turn, text, shown });
      if (prepared !== null) await deps.memory.recordShown(incident.id, 'triage', prepared);
      return prepared;
    },
    dropped: async () => undefined,
    spent: (usage) => deps.records.addUsage(incident.id, 'triage', usage),
  };
  try {
    return { ok: true, text: deps.redact(checked(await answer(work), known)) };
  } catch (error) {
    if (error instanceof InvestigatorFailed) return refuse('NO_ANSWER', deps.redact(error.reason));
    throw error;
  } finally {
    deps.vault.revoke(credential);
  }
}

/** An answer is words and no evidence; what it cites must at least exist. */
function checked(text: string, known: ReadonlySet<string>): string {
  const invented = [...new Set(text.match(/\btc_[0-9a-z]{6,}\b/g) ?? [])].filter((id) => !known.has(id));
  return invented.length === 0
    ? text
    : `${text}\n\n(Do not rely on ${invented.join(', ')}: no such tool call is on record.)`;
}
