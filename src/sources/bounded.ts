import type { Alert } from '../core/alert.ts';
import { clip } from '../core/clip.ts';

const NAME = 300;
const ADDRESS = 3_000;
const MOST_NAMES = 200;
/** Of all labels together, and of all annotations. What fits a hundred times into what people read. */
const TOGETHER = 20_000;

/**
 * What of an alert is kept: a sender, or who talks to it, may write megabytes into a label, and all that follows takes its time
 * over every letter. The fingerprint and the key of the delivery are made of the whole.
 */
export function bounded(alert: Alert): Alert {
  const { name, target, sourceSeverity, url, apart, group } = alert;
  return {
    ...alert,
    name: name && clip(name, NAME),
    title: clip(alert.title, NAME),
    sourceSeverity: sourceSeverity && clip(sourceSeverity, NAME),
    target: target && clip(target, NAME),
    // Half an address leads nowhere.
    url: url !== null && url.length <= ADDRESS ? url : null,
    labels: boundedNames(alert.labels),
    annotations: boundedNames(alert.annotations),
    ...(apart ? { apart: apart.slice(0, MOST_NAMES).map((word) => clip(word, TOGETHER / 10)) } : {}),
    ...(group ? { group: { ...group, target: group.target && clip(group.target, NAME) } } : {}),
  };
}

function boundedNames(names: Alert['labels']): Alert['labels'] {
  const kept: (readonly [string, string])[] = [];
  let left = TOGETHER;
  for (const [name, value] of Object.entries(names)) {
    if (kept.length === MOST_NAMES || left <= 0) break;
    const entry = [clip(name, NAME), clip(value, left)] as const;
    kept.push(entry);
    left -= entry[0].length + entry[1].length;
  }
  return Object.fromEntries(kept);
}
