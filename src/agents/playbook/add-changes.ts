import { titleOfSource } from '../../core/change-source.ts';
import { describeChange, describeWhen } from '../../core/describe-changes.ts';
import type { Diagnosis } from '../../core/diagnosis.ts';
import type { ChangeSourceSeen, RelatedChange } from '../../core/what-changed.ts';
import type { Investigation } from '../ports.ts';

/** More would hide what the runbook itself has to say. */
const MOST_NAMED = 2;
const MOST_UNREAD = 2;

/**
 * What a runbook found, with what was changed before it: the suspects as a claim, who could not be asked under what is not
 * known, and where the cause cannot be told what to look at first. Which part a change has is for whoever checks the claims.
 */
export function withChanges({ changes }: Pick<Investigation, 'changes'>, diagnosis: Diagnosis): Diagnosis {
  if (changes === undefined || diagnosis.verdict === 'healthy') return diagnosis;
  if (changes === null) return withUnknown(diagnosis, ['What was changed before it could not be asked.']);
  const { toolCallId, found } = changes;
  const ofIt = found.suspects.filter(({ touches }) => touches === 'it');
  const suspects = (ofIt.length > 0 ? ofIt : found.suspects).slice(0, MOST_NAMED);
  const [first] = suspects;
  const unread = found.couldNotLook.slice(0, MOST_UNREAD).map(unreadLine);
  if (first === undefined) return withUnknown(diagnosis, unread);
  const claim = {
    // What only took effect about then is not said to have been before it.
    claim: `${suspects.every(({ when }) => when === 'before') ? 'Changed before it' : 'Changed'}: ${suspects.map((each) => `${describeChange(each)}, ${describeWhen(each)}`).join('; ')}.`,
    toolCallIds: [toolCallId],
    quote: `${first.ref} ${describeChange(first)}`,
  };
  return {
    ...withUnknown(diagnosis, unread),
    evidence: [...diagnosis.evidence, claim],
    remedy:
      diagnosis.verdict === 'cannot_tell'
        ? [lookFirst(first), diagnosis.remedy].filter((text) => text !== null).join(' ')
        : diagnosis.remedy,
  };
}

function withUnknown(diagnosis: Diagnosis, unknown: readonly string[]): Diagnosis {
  return unknown.length === 0 ? diagnosis : { ...diagnosis, unknown: [...diagnosis.unknown, ...unknown] };
}

const unreadLine = ({ source, of, why }: ChangeSourceSeen): string =>
  `Whether ${of} was changed, ${titleOfSource(source)} could not tell: ${(why ?? 'it told nothing').replace(/[.\s]+$/, '')}.`;

const lookFirst = (change: RelatedChange): string =>
  `Look at “${describeChange(change)}” first: that was ${describeWhen(change)}.`;
