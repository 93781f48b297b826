import { storable } from './storable.ts';

/** `text` cut to at most `max` UTF-16 units, with `…` when cut. */
export function clip(text: string, max: number): string {
  return text.length <= max ? text : `${storable(text.slice(0, max - 1))}…`;
}

/** The same, on one line. */
export function clipLine(text: string, max: number): string {
  return clip(text.replace(/\s+/g, ' ').trim(), max);
}
