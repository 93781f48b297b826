import type { ContextPart } from './part.ts';
import { quoted } from './quoted.ts';

/** What a person wrote in an incident's thread to the others there, without secrets. */
export interface ThreadMessage {
  readonly userId: string;
  readonly name: string;
  readonly text: string;
}

/** What people wrote below the first message, oldest first. Throws where Slack does not tell. */
export type ReadThread = (channel: string, threadTs: string) => Promise<readonly ThreadMessage[]>;

const MOST = 3;
const [NAME, WORDS] = [24, 60];
/** Whoever is there sooner has nothing to read yet, and Slack lets us ask seldom. */
const QUIET_MS = 60_000;

/** The last that people said among themselves, with who said it: their word, and proof of nothing. */
export const thread = (read: ReadThread): ContextPart => ({
  name: 'thread',
  label: 'People in the thread',
  limitMs: 5_000,
  concerns: ({ record: { incident } }) =>
    incident.threadTs !== null &&
    (incident.round > 1 || Date.now() - Date.parse(incident.openedAt) > QUIET_MS),
  async gather({ record: { incident } }) {
    const { channel, threadTs } = incident;
    if (channel === null || threadTs === null) return null;
    const said = await read(channel, threadTs);
    const last = said.slice(-MOST);
    if (last.length === 0) return null;
    const quotes = last.map(({ name, text }) => `${quoted(name, NAME)}: “${quoted(text, WORDS)}”`);
    const before = said.length - last.length;
    return {
      line: `${quotes.join('; ')}${before === 0 ? '' : `; ${before} more before`}`,
      people: [...new Set(last.map(({ userId }) => userId))],
    };
  },
});
