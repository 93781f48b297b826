import {
  injectionAmong,
  injectionLiterals,
  injectionRules,
  isInjection,
} from '../injection/find-injection.ts';
import type { InjectionRule } from '../injection/injection-rule.ts';
import { type Finding, secretsAmong } from '../secrets/find-secrets.ts';
import type { Rule } from '../secrets/rule.ts';
import { secretRules } from '../secrets/rules.ts';
import { createMatcher, type Struck } from './matcher.ts';
import { findRawLog } from './raw-log.ts';

/** Every rule in one pass over the text: it is what costs. */
const match = createMatcher<Rule | InjectionRule>([...secretRules, ...injectionRules], injectionLiterals);

/** Whose store a text is to be written to. */
export type ScanScope = 'workspace' | 'user' | 'conversation';

export const scanScopes: readonly ScanScope[] = ['workspace', 'user', 'conversation'];

export interface ScanResult {
  /** The text may not be written to a store of this scope. */
  readonly blocked: boolean;
  /** Everything found, also what does not block; kinds and places, never the text found. In order of place. */
  readonly findings: readonly Finding[];
}

/**
 * The safety scanner before every write to memory: secrets and raw logs block everywhere, injection phrases everywhere but in
 * a conversation's own drafts (the seed's rule), which are scanned again when they are promoted.
 */
export function scan(text: string, { scope }: { readonly scope: ScanScope }): ScanResult {
  const matched = match(text);
  const secrets = matched.struck.filter((one) => !isOfInjection(one));
  const injection = matched.struck.filter(isOfInjection);
  const findings: Finding[] = [...secretsAmong(text, secrets)];
  for (const { rule, start, end } of injectionAmong(text, { ...matched, struck: injection }))
    findings.push({ rule, category: 'injection', start, end });
  const log = findRawLog(text);
  if (log !== null) findings.push({ rule: 'raw-log', category: 'raw_log', ...log });
  findings.sort((a, b) => a.start - b.start || b.end - a.end);
  return {
    blocked: findings.some(({ category }) => category !== 'injection' || scope !== 'conversation'),
    findings,
  };
}

function isOfInjection(one: Struck<Rule | InjectionRule>): one is Struck<InjectionRule> {
  return isInjection(one.rule);
}
