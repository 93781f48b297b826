import { storable } from './storable.ts';

/** `text` cut to at most `max` UTF-16 units, with `…` when cut. */
export function clip(text: string, max: number): string {
  return text.length <= max ? text : `${storable(text.slice(0, max - 1))}…`;
}

/** The same, on one line. */
export function clipLine(text: string, max: number): string {
  return clip(text.replace(/\s+/g, ' ').trim(), max);
}

/** On one line, cut after a word where one ends in the last fifth. */
export function clipWords(text: string, max: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const space = line.length <= max ? -1 : line.lastIndexOf(' ', max - 1);
  return space >= max * 0.8 ? `${line.slice(0, space).replace(/[\s,;:.]+$/, '')}…` : clip(line, max);
}
