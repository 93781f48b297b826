import type { Subject } from './subjects.ts';

/** What people did and said to an incident as a whole, where what is asked for and by which word it is asked say so together. */
export function ofPeople(
  subjects: readonly Subject[],
  text: string,
  asks: string | null,
): readonly Subject[] {
  const areAll = (...of: readonly Subject[]): boolean => subjects.every((subject) => of.includes(subject));
  if (asks !== null && /\bclos(?:e|ed|ing)\b/.test(text) && ['who', 'why', 'when'].includes(asks))
    return areAll('over', 'time') ? ['closing'] : subjects;
  if (subjects.includes('expiry')) return areAll('expiry', 'approval', 'asked') ? ['expiry'] : subjects;
  if (!subjects.includes('called') || !areAll('called', 'time')) return subjects;
  return asks !== 'long' && RUNG.test(text) ? ['rung'] : ['called'];
}
const RUNG = /\b(?:pag(?:e|ed|ing)|notif\w*|pinged|call(?:s|ed|ing)?)\b/;
