import type { Action } from './action.ts';
import type { Diagnosis } from './diagnosis.ts';
import type { IncidentEvent } from './event.ts';
import type { IncidentRecord } from './incident-record.ts';

type Told = readonly IncidentEvent[];

/** Said beside every text of a model: what a reader takes for Sentry's own word is Sentry's. */
export const CLAUDES_WORDS = 'Claude’s words';

/** `✅`, `✓`, `:white_check_mark:`: the marks of what Sentry has seen itself. */
const MARKS =
  /(?![©®™↔])[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F\u20E3✓✗☐]|(?<![\p{L}\p{N}]):[a-z][a-z0-9_+-]*:(?![\p{L}\p{N}])/gu;

/**
 * A model's text without what would make it read as ours or as another one: marks, and characters that nobody sees, which
 * part words from those who search for them and turn the direction of reading round.
 */
export function withoutMarks(text: string): string {
  return text.replace(/\p{Cf}/gu, '').replace(MARKS, '');
}

/** The last diagnosis that found a cause: whose words the incident's cause is, and when they were true. */
export function causeFound(
  events: Told,
): Extract<IncidentEvent, { type: 'diagnosis.concluded' }> | undefined {
  const found = events.findLast(
    (event) => event.type === 'diagnosis.concluded' && event.diagnosis.verdict === 'cause_found',
  );
  return found?.type === 'diagnosis.concluded' ? found : undefined;
}

/** Whether the newest diagnosis knows what is wrong and why. */
export function isCauseKnown(events: Told): boolean {
  const last = events.findLast((event) => event.type === 'diagnosis.concluded');
  return (
    last?.type === 'diagnosis.concluded' &&
    last.diagnosis.verdict === 'cause_found' &&
    last.diagnosis.unexplained === undefined
  );
}

/** Old records say who investigated, and no more. */
export function isModels(diagnosis: Diagnosis, events: Told): boolean {
  if (diagnosis.origin !== undefined) return diagnosis.origin === 'model';
  return (
    diagnosis.suggested === undefined &&
    events.some((event) => event.type === 'investigator.chosen' && event.investigator === 'claude')
  );
}

/** What stands before an incident's cause: no *cause* where the why is not known, and whose words it is. */
export function causeTitle({ incident, events }: Pick<IncidentRecord, 'incident' | 'events'>): string {
  const diagnosis = causeFound(events)?.diagnosis;
  const isOver = incident.state === 'resolved';
  const title =
    diagnosis?.unexplained === undefined
      ? isOver
        ? 'Cause'
        : 'Cause so far'
      : isOver
        ? 'What was wrong'
        : 'What is wrong';
  return label(title, diagnosis !== undefined && isModels(diagnosis, events));
}

/** Whether the reason on an action's card is a model's: neither a runbook's, nor of an undo that a person asked for. */
export function isWhyInModelsWords(action: Pick<Action, 'beside' | 'proposedAt'>, events: Told): boolean {
  // A person's click, or a runbook's lasting fix.
  if (action.beside) return false;
  const before = events.findLast(
    (event) => event.type === 'diagnosis.concluded' && event.at <= action.proposedAt,
  );
  return before?.type === 'diagnosis.concluded' && isModels(before.diagnosis, events);
}

/** `Cause so far (Claude’s words): `. */
export function label(title: string, isModel: boolean): string {
  return isModel ? `${title} (${CLAUDES_WORDS}): ` : `${title}: `;
}

/** What a diagnosis rules out beyond the explanations it weighed, which say it themselves. */
export function alsoRuledOut({ ruledOut, hypotheses = [] }: Diagnosis): readonly string[] {
  return ruledOut.filter((text) => !hypotheses.some(({ cause }) => cause === text));
}
