import type { CriterionReading } from '../../actions/recovery/criterion.ts';
import { alertRuleOf } from '../../core/alert-rule.ts';
import { anySignal } from '../../core/any-signal.ts';
import { messageOf } from '../../core/errors.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { isCriterion, isSymptom, neighbourRead, type VerifyPlan } from '../../core/tool-call.ts';
import type { InvestigationDeps } from '../deps.ts';
import { criterionOnRecord } from '../recovery/criterion-on-record.ts';
import { asksForNow } from './asks-for-now.ts';
import { asksHowItIs, namesAnother, ownWords } from './record-answer.ts';
import { wordsOf } from './sentence.ts';

/** How an incident's own symptom is, by one look just now. */
export interface NowRead {
  /** When it was looked at, ISO 8601. */
  readonly at: string;
  readonly state: CriterionReading['state'];
  readonly lines: readonly string[];
}

/** Who asks waits for it. */
const LOOK_MS = 10_000;

/**
 * Answers a question for this very moment by one fresh read of what the incident is judged by, through the gate as the
 * validator: it changes nothing and moves nothing. Null: the question is another one, or nothing is on record that could be
 * read.
 */
export async function readNow(
  deps: Pick<InvestigationDeps, 'gate' | 'shutdown' | 'redact' | 'log'>,
  record: IncidentRecord,
  text: string,
): Promise<NowRead | null> {
  const { id, target } = record.incident;
  const plan = symptomOf(deps.gate, record);
  // How another incident is would be told by another read.
  if (plan === null || target === null || namesAnother(record, text)) return null;
  if (!asksHowItIs(record, text) && !asksForNow(text, formatSymptom(deps.gate, record, plan))) return null;
  const at = new Date().toISOString();
  try {
    const { state, lines } = await deps.gate.readCriterion({
      incidentId: id,
      target,
      plan,
      purpose: 'Somebody asked how it is now',
      signal: anySignal([deps.shutdown, AbortSignal.timeout(LOOK_MS)]),
    });
    return { at, state, lines: lines.map((line) => deps.redact(line)) };
  } catch (error) {
    deps.log.warn({ incident: id, error: messageOf(error) }, 'how it is now could not be read');
    return { at, state: 'unread', lines: [] };
  }
}

/** What one look could tell now, in words; null: nothing can be read. */
export function readableNow(
  { gate }: Pick<InvestigationDeps, 'gate'>,
  record: IncidentRecord,
): string | null {
  const { target } = record.incident;
  const steps = target === null ? [] : (symptomOf(gate, record)?.steps ?? []);
  const labels = steps.flatMap(({ tool, measure, says }) => {
    const label = gate.measures(tool).find(({ name }) => name === measure?.name)?.label ?? says;
    return label === '' ? [] : [label];
  });
  return labels.length === 0 ? null : `${[...new Set(labels)].join(', ')} (${target})`;
}

/** What this round's fix is judged by, else an earlier round's, else what the diagnosis's look at the symptom showed red. */
function symptomOf(gate: InvestigationDeps['gate'], record: IncidentRecord): VerifyPlan | null {
  const { actions, alerts, events, toolCalls } = record;
  const earlier = actions.findLast(({ verify, purpose }) => purpose === 'repair' && isCriterion(verify));
  const last = events.findLast((event) => event.type === 'diagnosis.concluded');
  const seen = toolCalls.find(({ id }) => id === last?.diagnosis.symptomNow?.toolCallId);
  const [red] = seen ? gate.redMeasures(seen, alertRuleOf(alerts)) : [];
  const neighbour = neighbourRead(seen, record.incident);
  const plan =
    criterionOnRecord(record) ??
    earlier?.verify ??
    (red && {
      steps: [
        {
          tool: red.tool,
          ...(neighbour === null ? {} : { target: neighbour }),
          input: red.input,
          measure: { name: red.measure, bound: red.bound },
          says: '',
        },
      ],
      holdMs: 0,
      timeoutMs: 0,
    });
  if (!plan) return null;
  // A step without a measure tells whether something was done, and not how the problem is.
  const steps = plan.steps.filter(isSymptom);
  return steps.length > 0 ? { ...plan, steps } : null;
}

function formatSymptom(
  gate: InvestigationDeps['gate'],
  record: IncidentRecord,
  { steps }: VerifyPlan,
): ReadonlySet<string> {
  const measured = steps.flatMap(({ tool, measure, says }) => {
    const found = gate.measures(tool).find(({ name }) => name === measure?.name);
    return [says, found?.label ?? '', found?.name.replaceAll('_', ' ') ?? ''];
  });
  const { title, incidentType, target } = record.incident;
  const named = [title, incidentType?.replaceAll('_', ' ') ?? '', target ?? ''];
  return new Set(
    [...ownWords(record), ...[...measured, ...named].flatMap(wordsOf)].filter((word) => word.length > 2),
  );
}
