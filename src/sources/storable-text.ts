import { storable } from '../core/storable.ts';

/** `text` cut to at most `max` UTF-16 units, with `…` when cut. */
export function clip(text: string, max: number): string {
  return text.length <= max ? text : `${storable(text.slice(0, max - 1))}…`;
}

/** Every key and value storable. */
export function storableMap(map: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [storable(key), storable(value)]));
}
