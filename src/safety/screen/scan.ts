import { BY_MODEL, findInjection } from '../injection/find-injection.ts';
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

/** Told to a person whose text the linear model alone takes for orders: it is kept. */
export const SUSPICION =
  'Parts of it read like orders to a model: Sentry’s model is told to take them as data, and may not see them.';

/** Found by the linear model alone, which is wrong now and then: a person who answers for a text is told, not stopped. */
export const isSuspicion = ({ rule }: Pick<Finding, 'rule'>): boolean => rule === BY_MODEL;

/**
 * The safety scanner before every write to memory: secrets and raw logs block everywhere, injection phrases everywhere but in
 * a conversation's own drafts (the seed's rule), which are scanned again when they are promoted. Of a text that a person
 * answers for (`byPerson`), what the linear model alone has found blocks nothing.
 */
export function scan(
  text: string,
  { scope, byPerson = false }: { readonly scope: ScanScope; readonly byPerson?: boolean },
): ScanResult {
  const findings: Finding[] = [...findSecrets(text)];
  for (const { rule, start, end } of findInjection(text))
    findings.push({ rule, category: 'injection', start, end });
  const log = findRawLog(text);
  if (log !== null) findings.push({ rule: 'raw-log', category: 'raw_log', ...log });
  findings.sort((a, b) => a.start - b.start || b.end - a.end);
  return {
    blocked: findings.some(
      (one) => one.category !== 'injection' || (scope !== 'conversation' && !(byPerson && isSuspicion(one))),
    ),
    findings,
  };
}
