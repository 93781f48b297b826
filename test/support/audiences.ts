import type { Audiences } from '../../src/memory/audiences.ts';

/** As where all channels are public. */
export const everybodyReads: Audiences = {
  mayTell: async (_here, of) => ({ ids: new Set(of), keptBack: new Set(), isUnsure: false }),
  apart: async (ids) => [{ everybody: true, ids }],
};
