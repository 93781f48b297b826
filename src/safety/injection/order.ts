import type { Span } from '../secrets/rule.ts';

interface Place extends Span {
  readonly text: string;
}

const negation = /(?:\bnot|n't|\bnever|\bcannot|\bto avoid|\bwithout)\s+(?:\w+\s+)?$/i;

/** Somebody else does it, or tries to: "lets users bypass", "the agent could be made to send", "asks the model to disregard". */
const reported =
  /(?:\b(?:attackers?|adversar(?:y|ies)|intruders?|users?|people|clients?|someone|somebody|requests?|texts?|which|who|they|them|models?|agents?|bots?|assistants?|chatbots?)\s+(?:(?:can|could|may|might|would|to|also|then|had|has|have|simply)\s+){0,2}|\b(?:try|tries|tried|trying|attempt(?:s|ed|ing)?|made|able|used|how|fail(?:s|ed)?|refus(?:e|es|ed)|possible)\s+to\s+)$/i;
/** "To bypass the check, set …": a heading or a purpose, and what follows is for people. */
const purpose = /(?:^|[.\n:#*-]\s{0,3})To\s+$/;

/** Said as an order: not "do not ignore the …", nor told of others. */
export function isOrder({ text, start }: Place): boolean {
  const before = text.slice(Math.max(0, start - 60), start);
  return (
    !negation.test(before.slice(-30)) &&
    !/\w$/.test(before) &&
    !reported.test(before) &&
    !purpose.test(before)
  );
}

const opening =
  /(?:^|[\n.!?:;,"'`’“”(){}[\]<>*#|=/\\-]\s{0,3}|\b(?:please|kindly|now|just|then|and|you|must|should|also|simply|immediately|will|shall|can|may|so|ok|okay|nevermind|to|instead|first|software|prompt)[,.]?\s{1,3})$/i;

/** Said as an order at the beginning of a sentence or clause, where ordinary sentences have their subject. */
export function opensAsOrder(place: Place): boolean {
  const { text, start, end } = place;
  return (
    isOrder(place) &&
    (opening.test(text.slice(Math.max(0, start - 24), start)) ||
      // A capital within a line, and none on the next word: a sentence put where a value belongs (`Comment Ignore the user …`).
      (/^[A-Z][a-z]+ [a-z]/.test(text.slice(start, end)) &&
        /[\w)] $/.test(text.slice(Math.max(0, start - 2), start))))
  );
}

/** At the beginning of a line or sentence: an alert's annotations often are one line. */
export function opensLine({ text, start }: Place): boolean {
  return /(?:^|[\n>|"'`*#\\]|\\n|-{3,}|={3,}|<!--|[.!?)\]]\s)[\s*>#[=-]{0,6}$/.test(
    text.slice(Math.max(0, start - 12), start),
  );
}
