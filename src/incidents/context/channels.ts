import { count } from '../../core/count.ts';
import { spanOf } from '../../core/describe-changes.ts';
import type { Incident } from '../../core/incident.ts';
import type { Target } from '../../core/target.ts';
import { aboutIt } from './about-it.ts';
import type { ContextPart } from './part.ts';
import { quoted } from './quoted.ts';
import { quoteLast, type Said } from './said.ts';

export interface ChannelMessage extends Said {
  /** Its channel's name, without the #. */
  readonly channel: string;
  /** In ms since 1970, by Slack's clock. */
  readonly at: number;
}

export interface ChannelsRead {
  /** What members wrote that is about it, oldest first. */
  readonly said: readonly ChannelMessage[];
  /** How many channels were read, and how many more there are. */
  readonly read: number;
  readonly unread: number;
  /** Why some of them could not be; null: all could. */
  readonly missing: string | null;
}

/** What was said lately in the channels that Sentry is in, of which everybody may read who reads the incident's thread. Throws where Slack does not tell. */
export type ReadChannels = (incident: Incident, isAbout: (text: string) => boolean) => Promise<ChannelsRead>;

const NAME = 24;

/** The last that people said about this system elsewhere: “rolled back api to 1.2”, “that’s my load test”. */
export const channels = (read: ReadChannels, targets: ReadonlyMap<string, Target>): ContextPart => ({
  name: 'channels',
  label: 'People in channels',
  limitMs: 5_000,
  concerns: ({ record }) => aboutIt(record, targets) !== null,
  async gather({ record }) {
    const isAbout = aboutIt(record, targets);
    if (isAbout === null) return null;
    const found = await read(record.incident, isAbout);
    const { said, missing } = found;
    const quotes = quoteLast(
      said,
      ({ channel, at }) => ` in #${quoted(channel, NAME)}, ${whenSaid(at, record.incident)}`,
    );
    const unread = found.unread === 0 ? '' : `; ${count(found.unread, 'more channel')} not read`;
    if (quotes !== null)
      return {
        ...quotes,
        line: `${quotes.line}${unread}${missing === null ? '' : '; some could not be read'}`,
      };
    if (missing !== null) throw new Error(missing);
    return unread === ''
      ? null
      : { nothing: true, line: `nothing in ${count(found.read, 'channel')}${unread}` };
  },
});

/** By the incident, and not by now: it is read later. */
function whenSaid(at: number, { openedAt }: Incident): string {
  const after = at - Date.parse(openedAt);
  return `${spanOf(Math.abs(after))} ${after < 0 ? 'before' : 'after'} it was opened`;
}
