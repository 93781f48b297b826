import type { Log } from '../../src/core/log.ts';

/** A log whose sentences a test can read. */
export function recordedLog(): { readonly log: Log; readonly sentences: string[] } {
  const sentences: string[] = [];
  const record = (_fields: object, message: string): void => void sentences.push(message);
  return { log: { debug: record, info: record, warn: record, error: record }, sentences };
}
