import { clipLine } from '../core/clip.ts';
import { storable } from '../core/storable.ts';

/** What a service calls a person; null: nobody. */
export const personName = (given: string | null | undefined): string | null =>
  clipLine(storable(given ?? ''), 80) || null;
