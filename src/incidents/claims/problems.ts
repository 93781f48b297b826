import { isGeneric, wordsOf } from '../../core/claims/word-forms.ts';
import type { Diagnosis } from '../../core/diagnosis.ts';
import type { Incident } from '../../core/incident.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { latest } from '../recovery/red-now.ts';
import { contradictedCount } from './contradicted-count.ts';
import { missingFrom, sharesNothing, shownBy } from './stands-in.ts';

/** What of a statement the outputs of these calls do not show, or show otherwise, as a sentence; undefined: nothing. */
export function problemWith(
  text: string,
  calls: readonly ToolCall[],
  incident: Incident,
): string | undefined {
  const shown = shownBy(calls, incident);
  const missing = missingFrom(text, shown);
  if (missing.length > 0)
    return `What it cites does not show ${missing
      .slice(0, 4)
      .map((fact) => `“${fact}”`)
      .join(', ')}.`;
  const against = contradictedCount(text, calls);
  if (against !== undefined) return `What it cites says otherwise: ${against}.`;
  const { target } = incident;
  const own = new Set([target ?? '', ...wordsOf(target ?? '').filter((word) => !isGeneric(word))]);
  const strange = sentencesOf(text).find((sentence) => sharesNothing(sentence, shown, own));
  if (strange === undefined) return undefined;
  return strange === text
    ? 'What it cites says nothing of it.'
    : `What it cites says nothing of “${strange}”.`;
}

/** One after the other: a true one does not carry what is said after it. */
const sentencesOf = (text: string): readonly string[] => text.split(/(?<=[.;!?])\s+|\n+/);

interface Behind {
  /** The calls behind the claims that stand. */
  readonly cited: readonly ToolCall[];
  /** All that succeeded in this incident. */
  readonly read: readonly ToolCall[];
  /** What the latest reads show beyond its bound, a line each. */
  readonly red: readonly string[];
}

/**
 * What a cause says beyond the claims under it: numbers and names that stand in nothing they cite, counts that the last
 * read of any tool has otherwise, or that the same diagnosis rules it out.
 *
 * A system is not healthy while something that was read of it just now is beyond its bound.
 */
export function causeProblems(
  { verdict, rootCause, ruledOut, hypotheses = [] }: Diagnosis,
  { cited, read, red }: Behind,
  incident: Incident,
): readonly string[] {
  // Who cannot tell says what was looked at: any of it, in any words.
  if (verdict === 'cannot_tell') {
    const missing = read.length === 0 ? [] : missingFrom(rootCause, shownBy(read, incident));
    return missing.length === 0 ? [] : [`Nothing that was read shows “${missing[0]}”.`];
  }
  const problem = cited.length === 0 ? undefined : problemWith(rootCause, cited, incident);
  const against = contradictedCount(rootCause, latest(read));
  const out = [...ruledOut, ...hypotheses.filter(({ end }) => end === 'ruled_out').map(({ cause }) => cause)];
  return [
    ...(problem === undefined ? [] : [problem]),
    ...(problem === undefined && against !== undefined
      ? [`A read of this incident says otherwise: ${against}.`]
      : []),
    ...(verdict === 'healthy' && red[0] !== undefined ? [`The live system shows otherwise: ${red[0]}.`] : []),
    ...(verdict === 'cause_found' && out.some((other) => saysTheSame(other, rootCause))
      ? ['The same diagnosis rules this cause out.']
      : []),
  ];
}

/** A chain is told whole or not at all: a link whose facts nobody has read breaks it. */
export function isSoundChain(
  chain: readonly string[],
  read: readonly ToolCall[],
  incident: Incident,
): boolean {
  const shown = shownBy(read, incident);
  return chain.every((link) => missingFrom(link, shown).length === 0);
}

/** Two sentences of the same words, whatever stands between them. What follows a colon is the reason. */
export function saysTheSame(one: string, other: string): boolean {
  const [a, b] = [one.split(':')[0] ?? one, other].map(
    (text) => new Set([...wordsOf(text).filter((word) => !isGeneric(word)), ...(text.match(/\d+/g) ?? [])]),
  ) as [Set<string>, Set<string>];
  const shared = [...a].filter((word) => b.has(word)).length;
  return shared >= 2 && shared / new Set([...a, ...b]).size >= 0.8;
}
