import { createMatcher, type Struck } from './matcher.ts';
import type { Category, Rule, Span } from './rule.ts';
import { secretRules, secretTextRules } from './rules.ts';

/** Where something stands that should not; never the thing itself. */
export interface Finding extends Span {
  readonly rule: string;
  readonly category: Category;
}

const match = createMatcher(secretRules);
const rank = new Map([...secretRules, ...secretTextRules].map(({ id }, index) => [id, index]));
const placeholder = /^(?:\[redacted:[\w.#-]{1,80}\])+$/;

/** Every secret in the text, in order and apart. Overlapping finds become one span, named by the more specific rule. */
export function findSecrets(text: string): readonly Finding[] {
  return secretsAmong(text, match(text).struck);
}

/** The same, where a matcher has been over the text already. */
export function secretsAmong(text: string, struck: readonly Struck<Rule>[]): readonly Finding[] {
  const found: Finding[] = [];
  for (const { rule, start, end } of struck)
    found.push({ rule: rule.id, category: rule.category, start, end });
  for (const { id, category, hint, spans } of secretTextRules)
    if (hint(text)) for (const { start, end } of spans(text)) found.push({ rule: id, category, start, end });
  if (found.length === 0) return found;
  // What is redacted already is no secret.
  return union(
    found.filter(({ start, end }) => text[start] !== '[' || !placeholder.test(text.slice(start, end))),
  );
}

/** Overlapping spans merged, so that no tail of the second is left in the open. */
export function union(found: readonly Finding[]): readonly Finding[] {
  if (found.length < 2) return found;
  const sorted = found.toSorted((a, b) => a.start - b.start || b.end - a.end);
  const apart: Finding[] = [];
  for (const finding of sorted) {
    const last = apart.at(-1);
    if (last === undefined || finding.start >= last.end) apart.push(finding);
    else apart[apart.length - 1] = merge(last, finding);
  }
  return apart;
}

function merge(a: Finding, b: Finding): Finding {
  const named = (rank.get(b.rule) ?? 0) < (rank.get(a.rule) ?? 0) ? b : a;
  return { ...named, start: a.start, end: Math.max(a.end, b.end) };
}
