import { storable } from '../core/storable.ts';

/** `text` cut to at most `max` UTF-16 units, with `…` when cut. */
export function clip(text: string, max: number): string {
  return text.length <= max ? text : `${storable(text.slice(0, max - 1))}…`;
}
