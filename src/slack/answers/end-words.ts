import type { AnswerEnd } from '../../investigation/ports.ts';

/** What stands there once nothing more comes. */
export function endWords(end: AnswerEnd): string {
  if ('text' in end) return end.text;
  if ('failed' in end) return `I could not answer beyond the record: ${end.failed}`;
  return 'Stopped. Ask again whenever you like.';
}
