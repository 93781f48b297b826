import { clipLine } from './clip.ts';
import { asIncidentId, type IncidentId } from './ids.ts';
import { storable } from './storable.ts';

/** A page of ours, as a paging service knows it. */
export interface PageKey {
  readonly incidentId: IncidentId;
  /** From 1. */
  readonly level: number;
}

/** `INC-12`, `INC-12-level-2`. */
export const formatPageKey = ({ incidentId, level }: PageKey): string =>
  level === 1 ? incidentId : `${incidentId}-level-${level}`;

/** What of our form is exactly a key; null for everything else. Whether the page is ours, the record tells. */
export function parsePageKey(text: string): PageKey | null {
  const [, incident = '', level = '1'] = /^(INC-[1-9]\d{0,17})(?:-level-([2-9]|[1-9]\d))?$/.exec(text) ?? [];
  return incident === '' ? null : { incidentId: asIncidentId(incident), level: Number(level) };
}

/**
 * `INC-12: …`, `INC-12 (level 2): …`, of at most `max` characters: a page's title, by which people and `pageKeyOfTitle` know it where
 * a service tells no key.
 */
export function pageTitle({ incidentId, level }: PageKey, summary: string, max: number): string {
  const said = clipLine(storable(summary), max * 2);
  const rest = said.replace(new RegExp(`^${incidentId}(?![\\w-])[\\s:–-]*`), '');
  const mark = level === 1 ? incidentId : `${incidentId} (level ${level})`;
  return clipLine(`${mark}: ${rest || 'somebody is needed'}`, max);
}

/** The key in a title that begins as `pageTitle` does; null: it is another's. */
export function pageKeyOfTitle(title: string): string | null {
  const [, incident, level] = /^(INC-\d{1,18})(?: \(level (\d{1,2})\))?: /.exec(title) ?? [];
  const key = level === undefined ? incident : `${incident}-level-${level}`;
  return key !== undefined && parsePageKey(key) ? key : null;
}
