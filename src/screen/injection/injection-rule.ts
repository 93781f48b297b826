import type { Hit, Rule } from '../rule.ts';

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

function withGaps(pattern: string): string {
  return pattern.replace(/\\.|\[(?:\\.|[^\]\\])*\]| (\??)/g, (part, optional?: string) =>
    part.startsWith(' ') ? `${gap}{${optional === '?' ? 0 : 1},4}` : part,
  );
}

/** A phrase: `pattern` is in words, where one blank (outside brackets) stands for a gap and a blank with `?` for one or none. */
export function phrase(
  id: string,
  kind: InjectionClass,
  source: string,
  hints: readonly string[],
  pattern: string,
  check?: (hit: Hit) => boolean,
): InjectionRule {
  return {
    id,
    category: 'injection',
    class: kind,
    source,
    hints,
    pattern: new RegExp(withGaps(pattern), 'iy'),
    ...(check === undefined ? {} : { check }),
  };
}

const negation = /(?:\bnot|n't|\bnever|\bcannot|\bto avoid|\bwithout)\s+(?:\w+\s+)?$/i;

/** Said as an order: not "do not ignore the …". */
export function isOrder({ text, start }: Hit): boolean {
  return (
    !negation.test(text.slice(Math.max(0, start - 30), start)) &&
    !/\w$/.test(text.slice(Math.max(0, start - 1), start))
  );
}

const opening =
  /(?:^|[\n.!?:;,"'`’“”(){}[\]<>*#|=/\\-]\s{0,3}|\b(?:please|now|just|then|and|you|must|should|also|simply|immediately|will|shall|can|may|so|ok|okay|nevermind|to|instead|first|software|prompt)[,.]?\s{1,3})$/i;

/** Said as an order at the beginning of a sentence or clause, where ordinary sentences have their subject. */
export function opensAsOrder(hit: Hit): boolean {
  return isOrder(hit) && opening.test(hit.text.slice(Math.max(0, hit.start - 24), hit.start));
}
