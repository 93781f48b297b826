import type { Span } from '../secrets/rule.ts';
import { backwards, decodePieces, mayBeLeet, rot13, unescaped, unleet } from './decode.ts';
import { fold } from './fold.ts';
import { readsLikeOrders } from './model.ts';
import { isOrder, opensAsOrder, opensLine } from './order.ts';
import { mayBeRejoined, rejoined } from './rejoined.ts';
import { type InjectionClass, type InjectionRule, inLowerCase, type Region, regionsOf } from './rules.ts';

/** The rule of what only the model has found. */
export const BY_MODEL = 'reads-like-orders';

/** Words addressed to the model where data should be. `start` and `end` are offsets in the text as given. */
export interface InjectionFinding extends Span {
  readonly rule: string;
  readonly class: InjectionClass;
}

/**
 * Instructions to the model inside text that is data, in order of place: plain, in other languages, behind invisible or lookalike
 * characters, and decoded from Base64, Base32, hexadecimal, escapes, ROT13, leetspeak, and words joined or split. Rules name what
 * is said outright, a linear model weighs the rest. A finding is a reason to quote and to block, never the only defence.
 */
export function findInjection(text: string): readonly InjectionFinding[] {
  const plain = inPlain(text);
  return apart([
    ...plain,
    ...inDisguise(
      text,
      plain.every(({ rule }) => rule === BY_MODEL),
    ),
  ]);
}

/** Where findings of one class overlap, the first says it. */
function apart(found: InjectionFinding[]): readonly InjectionFinding[] {
  if (found.length < 2) return found;
  const ends = new Map<InjectionClass, number>();
  return found
    .toSorted((a, b) => a.start - b.start || b.end - a.end)
    .filter(({ class: kind, start, end }) => {
      if (start < (ends.get(kind) ?? -1)) return false;
      ends.set(kind, end);
      return true;
    });
}

/** Behind what only looks like something else. */
function inPlain(text: string): InjectionFinding[] {
  const view = fold(text);
  return says(view.text).map(({ start, end, ...finding }) => {
    const span = { start: view.at(start), end: view.at(end - 1) + 1 };
    const hidden = view.disguised && says(text.slice(span.start, span.end)).length === 0;
    return { ...finding, ...(hidden && { class: 'encoded' as const }), ...span };
  });
}

/** "Do not ignore the warnings above" alone asks for the opposite of what an attacker wants. */
const negated =
  /^(?:do not|don't|never) (?:ignore|disregard|skip|forget|override|bypass)\b[^.!?\n:;,]{0,60}$/i;

/** What rules say, and the model where no rule does. */
function says(text: string): InjectionFinding[] {
  const lower = inLowerCase(text);
  const found = regionsOf(lower).flatMap((region) => struckIn(region, lower, text));
  const ruled = found.toSorted((a, b) => a.start - b.start);
  let next = 0;
  let reach = 0;
  for (const span of readsLikeOrders(text)) {
    for (; next < ruled.length && (ruled[next] as Span).start < span.end; next++)
      reach = Math.max(reach, (ruled[next] as Span).end);
    const words = text.slice(span.start, span.end);
    if (reach <= span.start && !negated.test(words))
      found.push({ rule: BY_MODEL, class: classOf(words), ...span });
  }
  return found;
}

function struckIn({ rule, start, end }: Region, lower: string, text: string): InjectionFinding[] {
  const found: InjectionFinding[] = [];
  const part = lower.slice(start, end);
  if (!rule.alsoNeeds.every((words) => words.some((word) => part.includes(word)))) return found;
  const pattern = compiled(rule);
  pattern.lastIndex = 0;
  // `matchAll` would make a copy of the pattern each time, which costs more than to use it.
  for (let match = pattern.exec(part); match !== null; match = pattern.exec(part)) {
    // What begins where we cut may go back further.
    if (match.index === 0 && start > 0) continue;
    const hit = { text, start: start + match.index, end: start + pattern.lastIndex };
    if (stands[rule.stands](hit))
      found.push({ rule: rule.id, class: rule.class, start: hit.start, end: hit.end });
  }
  return found;
}

const isCompiled = new Set<RegExp>();
const LONG = ' '.repeat(1_000);

/** V8 first makes bytecode of a pattern, at four times the cost of machine code, unless its first text is as long as this. */
function compiled({ pattern }: InjectionRule): RegExp {
  if (isCompiled.has(pattern)) return pattern;
  isCompiled.add(pattern);
  pattern.test(LONG);
  return pattern;
}

const stands = { order: isOrder, opens: opensAsOrder, line: opensLine, anywhere: () => true };

/** What the model's finding is most likely about: the first that fits. */
const topics: readonly (readonly [InjectionClass, RegExp])[] = [
  [
    'delimiter_injection',
    /<\|?\/?(?:system|user|assistant|inst)|\[(?:system|inst)\b|^\W*(?:system|assistant|user) ?:/i,
  ],
  [
    'multi_lingual',
    /[\u0370-\uabff]{3}|\b(?:der|die|das|und|nicht|les|des|une|pas|los|las|una|que|il|della|uma|voce)\s/i,
  ],
  [
    'exfiltration',
    /\b(?:system prompt|instructions? you|passwords?|secrets?|credentials?|keys?|tokens?|send|e-?mail|upload|https?)\b/i,
  ],
  ['approval_skipping', /\b(?:approv\w+|confirm\w*|permission|authori[sz]\w+|without asking|safety)\b/i],
  ['role_hijack', /\b(?:you are|act as|pretend|role|persona|character|mode|dan)\b/i],
  ['system_prompt_override', /\b(?:ignor\w+|disregard|forget|override|instructions?|rules|instead)\b/i],
];

const classOf = (words: string): InjectionClass =>
  topics.find(([, pattern]) => pattern.test(words))?.[0] ?? 'indirect';

/** What betrays a text that says it in another form. */
const stems = 'ignor disreg instruc previous forget reveal overrid password'.split(' ');
const inRot13 = new RegExp(stems.map(rot13).join('|'), 'i');
const inReverse = new RegExp(stems.map(backwards).join('|'), 'i');
const inLeet = new RegExp(stems.join('|'), 'gi');

/** Whether a stem stands in the letters that does not stand in the text itself. */
const isLeet = (text: string, letters: string): boolean =>
  [...letters.matchAll(inLeet)].some(({ index, 0: stem }) => !text.startsWith(stem, index));

function inDisguise(text: string, quiet: boolean): InjectionFinding[] {
  const found: InjectionFinding[] = [];
  for (const { start, end, text: decoded } of decodePieces(text))
    if (saysSo(decoded)) found.push({ rule: 'decoded-text', class: 'encoded', start, end });
  if (quiet) {
    const whole = { class: 'encoded', start: 0, end: text.length } as const;
    if (isSaidIn(unescaped(text))) found.push({ rule: 'escaped-text', ...whole });
    if (mayBeRejoined(text) && isRuledIn(rejoined(text))) found.push({ rule: 'rejoined-text', ...whole });
  }
  if (inRot13.test(text)) found.push(...inForm(text, rot13(text), 'rot13-text'));
  if (mayBeLeet(text)) {
    const letters = unleet(text);
    if (isLeet(text, letters)) found.push(...inForm(text, letters, 'leet-text'));
  }
  if (inReverse.test(text))
    for (const { start, end } of says(backwards(text)))
      found.push({
        rule: 'reversed-text',
        class: 'encoded',
        start: text.length - end,
        end: text.length - start,
      });
  return found;
}

const isSaidIn = (form: string | null): boolean => form !== null && inPlain(form).length > 0;

/** Names of joined words are too short to be weighed: only rules count. */
const isRuledIn = (form: string | null): boolean =>
  form !== null && inPlain(form).some(({ rule }) => rule !== BY_MODEL);

/** What a form of the same length says where the text itself says nothing. */
function inForm(text: string, form: string, rule: string): InjectionFinding[] {
  return says(form).flatMap(({ start, end }) => {
    const itself = text.slice(start, end);
    if (itself === form.slice(start, end) || says(itself).length > 0) return [];
    return [{ rule, class: 'encoded' as const, start, end }];
  });
}

/** One level of code in code, no more. */
function saysSo(decoded: string): boolean {
  return inPlain(decoded).length > 0 || decodePieces(decoded).some((piece) => inPlain(piece.text).length > 0);
}
