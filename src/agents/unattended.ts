import type { Investigation } from './ports.ts';

/** What an investigation has where nobody says anything, and there is no record to hold it against: trials, replays. */
export const unattended = {
  sideBySide: true,
  leaveOut: async () => undefined,
  hintsSince: async () => [],
  modelChanged: async () => undefined,
  objections: async () => null,
  redNow: async () => [],
} satisfies Partial<Investigation>;
