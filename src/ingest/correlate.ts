import type { Alert } from '../domain/alert.ts';
import { isIdentifying } from './fingerprint.ts';
import { severityOf } from './severity.ts';

/** The annotation in which a chat source keeps label values whose names the message does not tell. */
export const bareValues = 'title_values';

/**
 * The words that say which thing is ill: lower-case, sorted, without repetition. Words, not labels, because a chat
 * message often shows label values without their names (Alertmanager's default Slack title does).
 */
export function identityOf(alert: Pick<Alert, 'labels' | 'annotations'>): readonly string[] {
  const values = Object.entries(alert.labels)
    .filter(([label]) => label !== 'alertname' && isIdentifying(label))
    .map(([, value]) => value);
  const bare = alert.annotations[bareValues];
  const words = [...values, ...(bare === undefined ? [] : [bare])]
    .flatMap((value) => value.toLowerCase().split(/\s+/))
    .filter((word) => word !== '');
  return [...new Set(words)].sort();
}

/** Whether a bare word of a title is a severity rather than the name of a thing. */
export function isSeverityWord(word: string): boolean {
  return severityOf(word) !== 'unknown';
}

/**
 * Whether two alerts of one name are about the same thing as far as both tell: one's identifying words are among the
 * other's. `sentry_accept_alert` applies this rule in the database (`<@` and `@>`), with two more: the incident was
 * opened by another source, or the alert's source is vague; and it has no alert of this source with another fingerprint.
 */
export function sameThing(a: readonly string[], b: readonly string[]): boolean {
  const [small, large] = a.length <= b.length ? [a, b] : [b, a];
  return small.every((word) => large.includes(word));
}
