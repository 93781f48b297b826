import type { Log } from '../../src/core/log.ts';

const nothing = (): void => undefined;

/** A log nobody reads. */
export const quiet: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
