import type { Literals } from '../screen/automaton.ts';
import { createMatcher, createRuleTest, type Matched, type Struck } from '../screen/matcher.ts';
import type { Rule, Span } from '../secrets/rule.ts';
import { approvalRules } from './approval-rules.ts';
import { authorityRules } from './authority-rules.ts';
import { asLetters, backwards, decodePieces, leet, mayBeLeet, rot13, unescaped, unleet } from './decode.ts';
import { delimiterRules } from './delimiter-rules.ts';
import { exfiltrationRules } from './exfiltration-rules.ts';
import { fold } from './fold.ts';
import { goalRules } from './goal-rules.ts';
import { indirectRules } from './indirect-rules.ts';
import type { InjectionClass, InjectionRule } from './injection-rule.ts';
import { languageRules, scriptPatterns } from './language-rules.ts';
import { needsOf, rarer } from './needs.ts';
import { overrideRules } from './override-rules.ts';
import { rejoined, rejoinMarks } from './rejoined.ts';
import { roleRules } from './role-rules.ts';
import { sessionRules } from './session-rules.ts';

/** Every phrase rule; where two overlap, the first names the finding. */
export const injectionRules: readonly InjectionRule[] = [
  ...overrideRules,
  ...goalRules,
  ...approvalRules,
  ...exfiltrationRules,
  ...sessionRules,
  ...roleRules,
  ...authorityRules,
  ...delimiterRules,
  ...indirectRules,
  ...languageRules,
];

/** Words addressed to the model where data should be. `start` and `end` are offsets in the text as given. */
export interface InjectionFinding extends Span {
  readonly rule: string;
  readonly class: InjectionClass;
}

const rarest = new Map<InjectionRule, readonly string[]>();

/** The rarest literals of which a rule cannot do without one. */
function rarestOf(rule: InjectionRule): readonly string[] {
  const literals = rarest.get(rule) ?? rarer(rule.hints, needsOf(rule.pattern));
  rarest.set(rule, literals);
  return literals;
}

/** The same beside its hints, which stand there anyhow. */
function needsOfRule(rule: InjectionRule): readonly string[] {
  const literals = rarestOf(rule);
  return literals === rule.hints ? [] : literals;
}

/** Enough of a word to be rare where it makes no sense. */
const BEGINNING = 7;

/** What all rules need, shortened: a text that has none of it in some form says nothing in it. */
const beginnings = (): readonly string[] => [
  ...new Set(injectionRules.flatMap(rarestOf).map((literal) => literal.slice(0, BEGINNING))),
];

/** What the matcher is to look for, for `injectionAmong`. Marks betray a text that says it in another form, which most need not be written in. */
export const injectionLiterals: Literals<Rule> = {
  needs: (rule) => (isInjection(rule) ? needsOfRule(rule) : []),
  marks: () => [
    beginnings().map(rot13),
    beginnings().map((literal) => literal.split('').toReversed().join('')),
    rejoinMarks,
    ['%', '&#', '\\u', '\\x'],
  ],
};
const ROT13 = 1;
const BACKWARDS = 2;
const REJOINED = 4;
const ESCAPED = 8;
const match = createMatcher(injectionRules, injectionLiterals);
/** The rules as they are met where every sign is read as a letter. */
const mayBeInLeet = createRuleTest(
  () => injectionRules.map((rule) => ({ ...rule, original: rule, hints: rule.hints.map(asLetters) })),
  ({ original }) => needsOfRule(original).map(asLetters),
  leet,
);

export function isInjection(rule: Rule): rule is InjectionRule {
  return rule.category === 'injection';
}

/**
 * Instructions to the model inside text that is data, in order of place: plain, in other languages, behind invisible or lookalike
 * characters, and decoded from Base64, Base32, hexadecimal, escapes, ROT13, leetspeak, and words joined or split. A finding is a reason to quote and to block,
 * never the only defence.
 */
export function findInjection(text: string): readonly InjectionFinding[] {
  return injectionAmong(text, match(text));
}

/** The same, where a matcher with `injectionLiterals` has been over the text already. */
export function injectionAmong(text: string, matched: Matched<InjectionRule>): readonly InjectionFinding[] {
  const plain = inPlain(text, matched);
  const found = [...plain, ...inDisguise(text, matched.marks, plain.length === 0)];
  if (found.length < 2) return found;
  // Where rules of one class overlap, the first says it.
  const ends = new Map<InjectionClass, number>();
  return found
    .toSorted((a, b) => a.start - b.start || b.end - a.end)
    .filter(({ class: kind, start, end }) => {
      if (start < (ends.get(kind) ?? -1)) return false;
      ends.set(kind, end);
      return true;
    });
}

function asFound({ rule, start, end }: Struck<InjectionRule>): InjectionFinding {
  return { rule: rule.id, class: rule.class, start, end };
}

function inPlain(text: string, { struck, ascii } = match(text)): InjectionFinding[] {
  return ascii ? struck.map(asFound) : inView(text);
}

/** What bytes become that are no text: it looks like nothing else, and no rule has it. */
const asItLooks = /^[\0-\x7f\ufffd]*$/;

/** Behind what only looks like something else. */
function inView(text: string): InjectionFinding[] {
  if (asItLooks.test(text)) return match(text).struck.map(asFound);
  const view = fold(text);
  const found = match(view.text).struck.map(({ rule, start, end }): InjectionFinding => {
    const span = { start: view.at(start), end: view.at(end) };
    const hidden = view.disguised && match(text.slice(span.start, span.end)).struck.length === 0;
    return { rule: rule.id, class: hidden ? 'encoded' : rule.class, ...span };
  });
  for (const { id, pattern } of scriptPatterns)
    for (const hit of text.matchAll(pattern))
      found.push({ rule: id, class: 'multi_lingual', start: hit.index, end: hit.index + hit[0].length });
  return found;
}

function inDisguise(text: string, marks: number, quiet: boolean): InjectionFinding[] {
  const found: InjectionFinding[] = [];
  for (const { start, end, text: decoded } of decodePieces(text))
    if (saysSo(decoded)) found.push({ rule: 'decoded-text', class: 'encoded', start, end });
  const plain = quiet && marks & ESCAPED ? unescaped(text) : null;
  if (plain !== null && inPlain(plain).length > 0)
    found.push({ rule: 'escaped-text', class: 'encoded', start: 0, end: text.length });
  const whole = quiet && marks & REJOINED ? rejoined(text) : null;
  if (whole !== null && inPlain(whole).length > 0)
    found.push({ rule: 'rejoined-text', class: 'encoded', start: 0, end: text.length });
  if (marks & ROT13) found.push(...inForm(text, rot13(text), 'rot13-text'));
  if (mayBeLeet(text) && mayBeInLeet(text)) found.push(...inForm(text, unleet(text), 'leet-text'));
  if (marks & BACKWARDS)
    for (const { start, end } of match(backwards(text)).struck)
      found.push({
        rule: 'reversed-text',
        class: 'encoded',
        start: text.length - end,
        end: text.length - start,
      });
  return found;
}

/** What a form of the same length says where the text itself says nothing. */
function inForm(text: string, form: string, rule: string): InjectionFinding[] {
  const found: InjectionFinding[] = [];
  for (const { start, end } of match(form).struck) {
    const itself = text.slice(start, end);
    if (itself !== form.slice(start, end) && match(itself).struck.length === 0)
      found.push({ rule, class: 'encoded', start, end });
  }
  return found;
}

/** One level of code in code, no more. */
function saysSo(decoded: string): boolean {
  return inPlain(decoded).length > 0 || decodePieces(decoded).some((piece) => inPlain(piece.text).length > 0);
}
