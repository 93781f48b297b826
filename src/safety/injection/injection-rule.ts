import type { Hit, Rule } from '../secrets/rule.ts';

/** The seed's classes of injection by name, and those beyond it. */
export type InjectionClass =
  | 'system_prompt_override'
  | 'role_hijack'
  | 'delimiter_injection'
  | 'indirect'
  | 'encoded'
  | 'multi_lingual'
  | 'exfiltration'
  | 'approval_skipping';

export interface InjectionRule extends Rule {
  readonly category: 'injection';
  readonly class: InjectionClass;
}

/** Between words: white space, and the marks with which a quotation or a heading goes on. */
const gap = String.raw`[\s>*_#|]`;
/** The same, and what joins words in addresses and names or stands around them. */
const wideGap = String.raw`[\s>*_#|+.…/~"'()[\]{}\u0060-]`;

function withGaps(pattern: string, between: string): string {
  return pattern.replace(/\\.|\[(?:\\.|[^\]\\])*\]| (\??)/g, (part, optional?: string) =>
    part.startsWith(' ') ? `${between}{${optional === '?' ? 0 : 1},4}` : part,
  );
}

/**
 * Writes the phrases of one class. `pattern` is in words, where one blank (outside brackets) stands for a gap and a blank with
 * `?` for one or none. `wide`: the gaps may also be what joins words in a name (`ignore_previous_instructions`).
 */
export function phrasesOf(kind: InjectionClass) {
  return (
    id: string,
    source: string,
    hints: readonly string[],
    pattern: string,
    check?: Rule['check'],
    wide?: 'wide',
  ): InjectionRule => ({
    id,
    category: 'injection',
    class: kind,
    source,
    hints,
    pattern: new RegExp(withGaps(pattern, wide === undefined ? gap : wideGap), 'iy'),
    ...(check && { check }),
  });
}

const negation = /(?:\bnot|n't|\bnever|\bcannot|\bto avoid|\bwithout)\s+(?:\w+\s+)?$/i;

/** Somebody else does it, or tries to: "lets users bypass", "the agent could be made to send", "asks the model to disregard". */
const reported =
  /(?:\b(?:attackers?|adversar(?:y|ies)|intruders?|users?|people|clients?|someone|somebody|requests?|texts?|which|who|they|them|models?|agents?|bots?|assistants?|chatbots?)\s+(?:(?:can|could|may|might|would|to|also|then|had|has|have|simply)\s+){0,2}|\b(?:try|tries|tried|trying|attempt(?:s|ed|ing)?|made|able|used|how|fail(?:s|ed)?|refus(?:e|es|ed)|possible)\s+to\s+)$/i;
/** "To bypass the check, set …": a heading or a purpose, and what follows is for people. */
const purpose = /(?:^|[.\n:#*-]\s{0,3})To\s+$/;

/** Said as an order: not "do not ignore the …", nor told of others. */
export function isOrder({ text, start }: Hit): boolean {
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
export function opensAsOrder(hit: Hit): boolean {
  return (
    isOrder(hit) &&
    (opening.test(hit.text.slice(Math.max(0, hit.start - 24), hit.start)) ||
      // A capital within a line, and none on the next word: a sentence put where a value belongs (`Comment Ignore the user …`).
      (/^[A-Z][a-z]+ [a-z]/.test(hit.secret) &&
        /[\w)] $/.test(hit.text.slice(Math.max(0, hit.start - 2), hit.start))))
  );
}
