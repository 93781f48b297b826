import { namesIn, quotedIn } from '../../core/claims/names.ts';
import { readQuantities } from '../../core/claims/quantities.ts';
import type { Diagnosis, Side } from '../../core/diagnosis.ts';

/**
 * Whether a model's diagnosis leaves no room for the cause that a runbook's live check has shown: it finds the system
 * healthy, or blames something else and names nothing of what the runbook blames.
 */
export function contradicts(model: Diagnosis, shown: Diagnosis): boolean {
  if (model.verdict === 'healthy') return true;
  if (model.verdict === 'cannot_tell') return false;
  if (model.category !== null && model.category === shown.category) return false;
  const blamed = pointsOf([shown.rootCause, ...shown.evidence.map(({ claim }) => claim)]);
  const said = [model.rootCause, ...model.evidence.map(({ claim }) => claim)];
  // Without a category of its own, what it quotes tells what it speaks of.
  const quoted = model.category === null ? model.evidence.map(({ quote }) => quote ?? '') : [];
  const own = pointsOf([...said, ...quoted]);
  return ![...own].some((point) => blamed.has(point));
}

/** What texts point at: names, and numbers long enough to mean one thing (a pid, a port). */
function pointsOf(texts: readonly string[]): ReadonlySet<string> {
  return new Set(
    texts.flatMap((text) => {
      const { quantities, rest } = readQuantities(text);
      const numbers = quantities.flatMap(({ kind, shown }) =>
        kind === 'plain' && shown >= 100 ? [String(shown)] : [],
      );
      const names = [...quotedIn(text).quoted, ...namesIn(rest, EVERY_FAMILY)];
      return [...numbers, ...names.map((name) => name.toLowerCase())];
    }),
  );
}

/** Every hyphened word counts as a name here: it only has to be the same on both sides. */
const EVERY_FAMILY: Pick<ReadonlySet<string>, 'has'> = { has: () => true };

/** What the model is told in its next turn. */
export function askAboutContradiction({ rootCause, confidence, evidence }: Diagnosis): string {
  const claims = evidence
    .slice(0, 4)
    .map(({ claim, toolCallIds, quote }) => `- ${claim} [${toolCallIds.join(', ')}] “${quote ?? ''}”`);
  return [
    `Your report contradicts what the runbook’s reads of the live system have just shown (${confidence}): ${rootCause}`,
    ...claims,
    'Look once more: read what decides between the two, then report again. Say what you found about this cause, in a claim.',
  ].join('\n');
}

/** Still two answers: neither counts, both are shown. */
export function disagreement(model: Diagnosis, shown: Diagnosis): Diagnosis {
  const { unexplained: _, fixConfidence: __, symptomNow: ___, chain: ____, ...rest } = model;
  return {
    ...rest,
    verdict: 'cannot_tell',
    rootCause: 'The runbook’s check of the live system and Claude do not agree on the cause.',
    category: null,
    confidence: 0,
    remedy: null,
    wouldChangeMyMind: null,
    disagreement: { runbook: sideOf(shown), model: sideOf(model) },
  };
}

const sideOf = ({ verdict, rootCause, confidence, evidence }: Diagnosis): Side => ({
  verdict,
  says: rootCause,
  confidence,
  evidence,
});
