import type { ContextPart } from './part.ts';
import { quoteLast, type Said } from './said.ts';

/** What people wrote below the first message, oldest first. Throws where Slack does not tell. */
export type ReadThread = (channel: string, threadTs: string) => Promise<readonly Said[]>;

/** Whoever is there sooner has nothing to read yet, and Slack lets us ask seldom. */
const QUIET_MS = 60_000;

/** The last that people said among themselves. */
export const thread = (read: ReadThread): ContextPart => ({
  name: 'thread',
  label: 'People in the thread',
  limitMs: 5_000,
  concerns: ({ record: { incident } }) =>
    incident.threadTs !== null &&
    (incident.round > 1 || Date.now() - Date.parse(incident.openedAt) > QUIET_MS),
  async gather({ record: { incident } }) {
    const { channel, threadTs } = incident;
    return channel === null || threadTs === null ? null : quoteLast(await read(channel, threadTs));
  },
});
