import { createMatcher } from '../screen/matcher.ts';
import type { Category, Rule, Span, TextRule } from './rule.ts';
import { secretTextRules } from './rules/whole-text.ts';
import { secretRules } from './rules.ts';
import { withoutUnseen } from './unseen.ts';

/** Where something stands that should not; never the thing itself. */
export interface Finding extends Span {
  readonly rule: string;
  readonly category: Category;
}

/** A rule, where it stands in the table, and where it found something. */
interface Found extends Span {
  readonly rule: Pick<Rule, 'id' | 'category'>;
  readonly index: number;
}

const match = createMatcher(secretRules);
const names = new Set([...secretRules, ...secretTextRules].map(({ id }) => id));
const placeholder = /^(?:\[redacted:[\w.#-]{1,80}\])+$/;

/**
 * Every secret in the text, in order and apart. Overlapping finds become one span, named by the more specific rule. What a
 * reader does not see (colours, characters without a width) may stand inside of a name or a value: the text is looked at
 * with it and without it.
 */
export function findSecrets(text: string): readonly Finding[] {
  const plain = withoutUnseen(text);
  const found = plain.text === text ? findAll(text) : apart(text, [...findAll(text), ...placed(plain)]);
  return found.map(({ rule: { id, category }, start, end }) => ({ rule: id, category, start, end }));
}

/** Found in a text without what is unseen, where it stands in the text with it. */
function placed({ text, at }: ReturnType<typeof withoutUnseen>): readonly Found[] {
  return findAll(text).map(({ start, end, ...found }) => ({
    ...found,
    start: at(start),
    end: at(end - 1) + 1,
  }));
}

function findAll(text: string): readonly Found[] {
  let found = apart(text, match(text));
  for (let i = 0; i < secretTextRules.length; i++) {
    const rule = secretTextRules[i] as TextRule;
    if (!rule.hint(text)) continue;
    const spans = rule.spans(text, found);
    if (spans.length === 0) continue;
    const index = secretRules.length + i;
    found = apart(text, [...found, ...spans.map(({ start, end }) => ({ rule, index, start, end }))]);
  }
  return found;
}

/** In order; overlapping spans merged, so that no tail of the second is left in the open. */
function apart(text: string, all: readonly Found[]): readonly Found[] {
  // What is redacted already is no secret.
  const found = afterPlaceholders(text, all).filter(
    ({ start, end }) => text.charCodeAt(start) !== 91 || !placeholder.test(text.slice(start, end)),
  );
  if (found.length < 2) return found;
  found.sort((a, b) => a.start - b.start || b.end - a.end);
  const merged: Found[] = [];
  let last = found[0] as Found;
  for (let i = 1; i < found.length; i++) {
    const next = found[i] as Found;
    if (next.start < last.end) last = merge(last, next);
    else {
      merged.push(last);
      last = next;
    }
  }
  merged.push(last);
  return merged;
}

/**
 * What begins inside of a placeholder of ours, as `user:secret@` does in `[redacted:url-token]@`, begins after it, or is none:
 * half a placeholder would be hidden by another one. Only names of rules are passed over, so nothing can be hidden in one.
 */
function afterPlaceholders(text: string, all: readonly Found[]): readonly Found[] {
  if (all.length === 0 || !text.includes('[redacted:')) return all;
  const ours = [...text.matchAll(/\[redacted:([\w.-]{1,60})(?:#\d{1,6})?\]/g)]
    .filter(([, rule = '']) => names.has(rule))
    .map(({ 0: { length }, index }) => ({ start: index, end: index + length }));
  return all.flatMap((found) => {
    let { start } = found;
    for (const mark of ours)
      if (mark.end > start && (mark.start < start || (start > found.start && mark.start === start)))
        // `:` parts a user from a password: it is no part of either.
        start = mark.end + Number(text[mark.end] === ':');
    return start < found.end ? [{ ...found, start }] : [];
  });
}

function merge(a: Found, b: Found): Found {
  const { rule, index } = b.index < a.index ? b : a;
  return { rule, index, start: a.start, end: Math.max(a.end, b.end) };
}
