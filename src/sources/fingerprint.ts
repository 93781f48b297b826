import { sha256 } from '../safety/sha256.ts';

/** The same of an alert whose sender tells its own id, by whatever way it comes. */
export function fingerprintOfId(source: string, id: string): string {
  return sha256(`${source}\n${id}`).slice(0, 32);
}

/**
 * Labels that differ between notifications of one problem: who scraped or sent it, how bad it is by now, what a
 * restart renames. `severity` is among them so that a warning that becomes critical stays one incident.
 */
const noise = new Set([
  'severity',
  'priority',
  'level',
  'urgency',
  'prometheus',
  'prometheus_replica',
  'replica',
  'monitor',
  'receiver',
  'endpoint',
  'uid',
  'pod_template_hash',
  'container_id',
  'image',
  'image_id',
  'ref_id',
  'datasource_uid',
  'grafana_folder',
  'rule_uid',
  'value',
]);

/** Whether a label says which thing is ill, as opposed to who noticed or how bad it is. `__name__`-like labels never do. */
export function isIdentifying(label: string): boolean {
  return !noise.has(label.toLowerCase()) && !label.startsWith('__');
}

/**
 * 32 hex digits, the same for the same problem on the same thing whatever the order of the labels, the noise among them
 * and the delivery.
 *
 * @param name the alert rule's name, or the title where there is none
 * @param extra what identifies it besides labels (words of a chat message's title); order is irrelevant
 */
export function fingerprintOf(
  name: string,
  labels: Readonly<Record<string, string>>,
  extra: readonly string[] = [],
): string {
  const pairs = Object.entries(labels)
    .filter(([label]) => label !== 'alertname' && isIdentifying(label))
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const canonical = JSON.stringify([name, pairs, extra.toSorted()]);
  return sha256(canonical).slice(0, 32);
}
