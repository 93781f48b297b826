import type { IncidentId } from '../../../core/ids.ts';
import type { AnswerEnd } from '../../../incidents/ports.ts';

/** What stands there once nothing more comes. */
export function formatAnswerEnd(end: AnswerEnd, id: IncidentId): string {
  if ('text' in end) return end.text;
  if ('failed' in end) return `I could not answer that: ${end.failed}\nWhat is on record: /sentry why ${id}`;
  return 'Stopped. Ask again whenever you like.';
}
