import { MUTATION_CONFIDENCE } from '../../src/core/diagnosis.ts';
import type { JudgedChange, RelatedChange, WhatChanged } from '../../src/core/what-changed.ts';
import type { Played } from './play-situation.ts';
import { mustBeNamed, type Script, type Situation } from './situation.ts';

/** What of a play is wrong, a sentence each; none: all is as it should be. */
export type Faults = readonly string[];

/** What was found out about changes, whoever investigates. */
export function faultsOfFinding({ found: expected }: Situation, { found }: Played): Faults {
  if (found === null) return expected.asked ? ['nobody asked what was changed'] : [];
  const { answer, suspects, afterwards, looked, couldNotLook } = found;
  const all = [...suspects, ...afterwards];
  return [
    ...check(expected.asked, 'what could not be asked was answered'),
    ...check(
      expected.answer === undefined || answer === expected.answer,
      `the answer is ${answer}, and not ${expected.answer}`,
    ),
    ...check((answer === 'changed') === suspects.length > 0, `${answer} with ${suspects.length} suspects`),
    ...check(answer !== 'nothing' || looked.length > 0, 'nothing was changed, and nobody looked'),
    ...(expected.suspects ?? []).flatMap((title) => check(has(suspects, title), `${title} is no suspect`)),
    ...suspects.flatMap(({ title }) =>
      check(
        expected.suspects?.some((one) => title.includes(one)) ?? true,
        `${title} is a suspect and should not be`,
      ),
    ),
    ...expected.around.flatMap((one) =>
      check(
        suspects.some(({ title, when }) => title.includes(one) && when === 'around'),
        `${one} is not told as of about that time`,
      ),
    ),
    ...expected.after.flatMap((title) =>
      check(has(afterwards, title), `${title} is not told as of afterwards`),
    ),
    ...expected.not.flatMap((title) => check(!has(all, title), `${title} is told of`)),
    ...expected.not_it.flatMap((one) =>
      check(
        !suspects.some(({ title, touches }) => title.includes(one) && touches === 'it'),
        `${one} is told as if it had touched it`,
      ),
    ),
    ...missing(looked, expected.seen, 'is not told as looked at'),
    ...missing(couldNotLook, expected.unseen, 'is not told as what could not be looked at'),
  ];
}

/** What the diagnosis makes of it. `without`: the same incident where nobody told of a change. */
export function faultsOfPlaybook(situation: Situation, played: Played, without: Played): Faults {
  const { diagnosis, found } = played;
  const changes = diagnosis.changes ?? [];
  const blamed = changes.filter(({ part }) => part === 'cause');
  // Where nobody is expected to tell, the answer on record says so, and a runbook's diagnosis need not repeat it.
  const isDown = found === null || found.couldNotLook.length > 0;
  return [
    ...faultsOfRecord(situation, played),
    ...(mustBeNamed(situation) ? (situation.found.suspects ?? []) : []).flatMap((title) =>
      check(partOf(changes, title) !== undefined, `${title} is not named in the diagnosis`),
    ),
    ...blamed.flatMap(({ title }) => check(mustBeNamed(situation), `${title} is blamed`)),
    ...check(
      blamed.length > 0 || diagnosis.confidence <= without.diagnosis.confidence,
      `a change that only fits raises the confidence from ${without.diagnosis.confidence} to ${diagnosis.confidence}`,
    ),
    ...check(
      situation.about !== 'source-down' || !isDown || saysSo(played),
      'it does not say that changes could not be looked at',
    ),
    ...check(
      situation.verdict === undefined || diagnosis.verdict === situation.verdict,
      `the verdict is ${diagnosis.verdict}`,
    ),
  ];
}

/** A model that says with evidence of the system what the script has it say. */
export function faultsOfClaude(situation: Situation, played: Played, script: Script): Faults {
  const { diagnosis } = played;
  const changes = diagnosis.changes ?? [];
  const part = partOf(changes, script.blames);
  const isRight =
    script.part === undefined ||
    (script.part === 'cause' && part === 'cause') ||
    (script.part === 'named' && (part === 'cause' || part === 'suspect')) ||
    (script.part === 'not_cause' && part !== 'cause') ||
    (script.part === 'none' && (part === undefined || part === 'unrelated'));
  return [
    ...faultsOfRecord(situation, played),
    ...check(isRight, `${script.blames} is on record as ${part ?? 'nothing'}, and should be ${script.part}`),
    ...script.both.flatMap((title) =>
      check(partOf(changes, title) === 'suspect', `${title} is no suspect beside the other`),
    ),
    ...script.never.flatMap((word) =>
      check(!diagnosis.rootCause.includes(word), `the cause says ${word}: ${diagnosis.rootCause}`),
    ),
  ];
}

/** A model that has read nothing but what was changed, and is sure of it. */
export function faultsOfRash(situation: Situation, played: Played): Faults {
  const { diagnosis } = played;
  // What the playbook then reads and finds is not its doing.
  if (diagnosis.origin !== 'model') return faultsOfRecord(situation, played);
  const isSure = diagnosis.verdict === 'cause_found' && diagnosis.confidence >= MUTATION_CONFIDENCE;
  return [
    ...faultsOfRecord(situation, played),
    ...(diagnosis.changes ?? []).flatMap(({ part, title }) =>
      check(part !== 'cause', `${title} is a cause by its time alone`),
    ),
    ...check(!isSure, `it is sure by time alone: ${diagnosis.rootCause}`),
  ];
}

/** What holds of every diagnosis: what it says of changes stands on record. */
function faultsOfRecord({ found: expected }: Situation, { diagnosis, record, found }: Played): Faults {
  const changes = diagnosis.changes ?? [];
  return [
    ...changes.flatMap(({ title, ref, toolCallIds: [first], part }) => {
      const call = record.toolCalls.find(({ id }) => id === first);
      return [
        ...check(call?.tool === 'what_changed', `${title} does not cite the call that told of it`),
        ...check(call?.output.includes(ref) === true, `${ref} stands in no answer that is cited`),
        ...check(part !== 'cause' || found !== null, `${title} is the cause, and nobody asked`),
      ];
    }),
    ...[...expected.not, ...expected.after].flatMap((title) =>
      check(
        [undefined, 'unrelated'].includes(partOf(changes, title)),
        `${title} is on record as ${partOf(changes, title)}`,
      ),
    ),
    ...check(changes.filter(({ part }) => part === 'cause').length <= 1, 'there is more than one cause'),
  ];
}

const saysSo = ({ diagnosis, found }: Played): boolean =>
  found !== null
    ? /chang/i.test(diagnosis.unknown.join(' '))
    : !/no change is known|nothing (?:was )?changed/i.test(JSON.stringify(diagnosis));

const has = (changes: readonly RelatedChange[], part: string): boolean =>
  changes.some(({ title }) => title.includes(part));

const partOf = (changes: readonly JudgedChange[], title: string): JudgedChange['part'] | undefined =>
  changes.find((one) => one.title.includes(title))?.part;

const missing = (told: WhatChanged['looked'], sources: readonly string[], what: string): Faults =>
  sources.flatMap((name) =>
    check(
      told.some(({ source }) => source === name),
      `${name} ${what}`,
    ),
  );

const check = (holds: boolean, says: string): Faults => (holds ? [] : [says]);
