import { type Change, shortRevision } from './change.ts';
import { titleOfSource } from './change-source.ts';
import { clip } from './clip.ts';
import { count } from './count.ts';
import { type ChangeSourceSeen, OWN_LOOK, type RelatedChange, type WhatChanged } from './what-changed.ts';

const TITLE = 90;
const WHO = 40;
const VERSION = 24;
const MINUTE_MS = 60_000;

/** “shop-api 1.4.2 deployed (1.4.1 → 1.4.2) by olivia”; versions that the title has are not told twice. */
export function describeChange({ title, from, to, by }: Change): string {
  const versions =
    to === null || title.includes(shortRevision(to))
      ? ''
      : ` (${from === null ? '' : `${versionIn(from)} → `}${versionIn(to)})`;
  return `${clip(title, TITLE)}${versions}${by === null ? '' : ` by ${clip(by, WHO)}`}`;
}

const versionIn = (version: string): string => clip(shortRevision(version), VERSION);

/** “3 min before it began”; what two looks, or two clocks, only bound says so. */
export function describeWhen({ when, beforeMs, source }: RelatedChange): string {
  if (when === 'around')
    return source === OWN_LOOK ? 'between two looks, about when it began' : 'about when it began';
  const span = spanOf(Math.abs(beforeMs));
  return `${span} ${when === 'after' ? 'after' : 'before'} it began`;
}

/** One sentence of what is known: what changed, that nothing did as far as somebody looked, or that nobody could tell. */
export function describeAnswer(found: WhatChanged): string {
  const { answer, suspects, looked, couldNotLook } = found;
  switch (answer) {
    case 'changed': {
      const [first, ...others] = suspects;
      if (first === undefined) return '';
      const all = others.length + (found.cut ?? 0);
      const more = all === 0 ? '' : ` ${count(all, 'other change')} before it, too.`;
      return `${describeChange(first)}, ${describeWhen(first)}.${more}`;
    }
    case 'nothing':
      return `No change is known in the ${spanOf(Date.parse(found.beganAt) - Date.parse(found.since ?? found.from))} before it began: asked ${looked.map(nameOf).join(', ')}.${couldNotLook.length === 0 ? '' : ` Could not look: ${couldNotLook.map(nameOf).join(', ')}.`}`;
    case 'could_not_look':
      return `What was changed could not be looked at: ${couldNotLook[0]?.why ?? 'nobody tells Sentry of changes of this system'}.`;
  }
}

const nameOf = ({ source, of }: ChangeSourceSeen): string => `${titleOfSource(source)} (${of})`;

/** “3 min”, “2 h”. */
export function spanOf(ms: number): string {
  const minutes = Math.round(ms / MINUTE_MS);
  if (minutes < 1) return 'less than a minute';
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}
