import { type Rule, rules } from './rules.ts';

/** Where a secret stands; never the secret itself. */
export interface Finding {
  readonly rule: string;
  readonly category: string;
  /** Offsets in UTF-16 code units; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
}

/** Every secret in the text, in order, without overlaps (the longer of two that begin together, else the earlier). */
export function findSecrets(text: string): readonly Finding[] {
  const lower = text.toLowerCase();
  const found = rules.flatMap((rule) =>
    rule.hints.length === 0 || rule.hints.some((hint) => lower.includes(hint)) ? matchesOf(rule, text) : [],
  );
  found.sort((a, b) => a.start - b.start || b.end - a.end);
  const apart: Finding[] = [];
  for (const finding of found) if (finding.start >= (apart.at(-1)?.end ?? 0)) apart.push(finding);
  return apart;
}

function matchesOf(rule: Rule, text: string): Finding[] {
  const findings: Finding[] = [];
  for (const match of text.matchAll(rule.pattern)) {
    const secret = match[rule.group];
    if (secret === undefined) continue;
    const start = rule.group === 0 ? match.index : match.index + match[0].lastIndexOf(secret);
    // What is redacted already is no secret.
    if (secret.startsWith('[redacted:')) continue;
    findings.push({ rule: rule.id, category: rule.category, start, end: start + secret.length });
  }
  return findings;
}
