import { findInjection } from '../injection/find-injection.ts';
import { type Finding, findSecrets } from '../secrets/find-secrets.ts';
import { findRawLog } from './raw-log.ts';

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
  const findings: Finding[] = [...findSecrets(text)];
  for (const { rule, start, end } of findInjection(text))
    findings.push({ rule, category: 'injection', start, end });
  const log = findRawLog(text);
  if (log !== null) findings.push({ rule: 'raw-log', category: 'raw_log', ...log });
  findings.sort((a, b) => a.start - b.start || b.end - a.end);
  return {
    blocked: findings.some(({ category }) => category !== 'injection' || scope !== 'conversation'),
    findings,
  };
}
