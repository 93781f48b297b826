import type { RecordQuestion } from './read-question.ts';
import { askedBy } from './subjects.ts';

/** What goes on from the question before: “and who?”, “since when?”, “and before that?”; undefined: it stands alone. */
export function readFurther(text: string, before: RecordQuestion | null): RecordQuestion | null | undefined {
  const said = text.replace(/^(?:(?:and|so|ok|but|then|also)\b[\s,]*)+/, '').replace(/[\s,]+then$/, '');
  if (
    /^(?:(?:what|anything|who|something)(?: (?:was|is|came|ran|happened|did you do))? )?before(?: (?:that|this|it|then))?$/.test(
      said,
    )
  )
    return before && !before.earlier ? { ...before, earlier: true } : null;
  const subject = before?.subjects[0];
  if (subject === undefined || before?.earlier) return undefined;
  if (/^(?:when|when (?:was|is|did) (?:that|this|it)(?: happen)?|(?:at )?what time|since when)$/.test(said)) {
    const isOfAll = ['over', 'now', 'cause', 'target', 'time', 'end'].includes(subject);
    if (isOfAll) return { subjects: ['time'], why: false };
    return askedBy['when']?.includes(subject) ? { ...before, subjects: [subject], why: false } : null;
  }
  if (/^(?:who|by who|by whom|who was (?:that|it)|who did (?:that|it))$/.test(said)) {
    if (subject === 'run' || subject === 'over') return { ...before, subjects: ['approval'], why: false };
    return askedBy['who']?.includes(subject) ? { ...before, subjects: [subject], why: false } : null;
  }
  if (/^(?:why|how come|why (?:is|was) that|why so)$/.test(said)) {
    if (['over', 'now', 'time', 'target', 'count'].includes(subject))
      return { subjects: ['cause'], why: true };
    return ['approval', 'denial', 'run', 'stopped', 'cause', 'rung', 'closing'].includes(subject)
      ? { ...before, subjects: [subject], why: true }
      : null;
  }
  return undefined;
}
