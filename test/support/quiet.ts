import type { ChildLog } from '../../src/infra/process/child-log.ts';

/** A log nobody reads. */
export const quiet: ChildLog = { info: () => undefined, warn: () => undefined };
