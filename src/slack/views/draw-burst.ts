import { count } from '../../core/count.ts';
import { groupTitle } from '../../core/group.ts';
import type { IncidentId } from '../../core/ids.ts';
import { type Burst, loadBurst } from '../outbound/burst.ts';
import type { BurstId, Drawing } from '../outbound/subject.ts';
import { messageUrl } from '../people/identity.ts';
import type { SlackDeps } from '../ports.ts';
import { bold, heading, link, moment, paragraph, prose, words } from './blocks/build.ts';
import type { Slot } from './blocks/slot.ts';
import { cut, escape, oneLine } from './blocks/text.ts';

/** One message for many problems at once, in the first alert channel, edited as they get more; null when they are not many. */
export async function drawBurst({ sql, workspace }: SlackDeps, id: BurstId): Promise<Drawing | null> {
  const burst = await loadBurst(sql, id);
  if (!burst) return null;
  const url = (channel: string, ts: string): string => messageUrl(workspace.identity(), channel, ts);
  return { slots: [burstSlot(burst, url)], channel: await workspace.homeOf(undefined) };
}

export function burstSlot(burst: Burst, url: (channel: string, ts: string) => string): Slot {
  const shares = burst.bySeverity.map((share) => `${share.problems} ${share.severity}`).join(', ');
  const title = `${count(burst.problems, 'problem')} opened at once: ${shares}`;
  const left = burst.problems - burst.worst.length;
  return {
    slot: 'digest',
    inThread: false,
    text: escape(title),
    blocks: [
      heading(title),
      prose(
        paragraph(
          words('Between '),
          moment(burst.from),
          words(' and '),
          moment(burst.to),
          words('. Each gets its thread, the worst first.'),
        ),
        ...burst.worst.map(({ id, severity, channel, ts, ...what }) =>
          paragraph(
            channel && ts ? link(url(channel, ts), id) : bold(id),
            words(` ${severity}: ${cut(oneLine(groupTitle(what)), 120)}${placeInLine(burst, id)}`),
          ),
        ),
        ...(left > 0 ? [paragraph(words(`And ${left} more: /sentry incidents.`))] : []),
      ),
    ],
  };
}

/** Where it stands among those that have no thread yet: the worst are listed first, so all before it are in the list. */
function placeInLine({ worst }: Burst, id: IncidentId): string {
  const line = worst.filter(({ channel, ts }) => !channel || !ts);
  const at = line.findIndex((each) => each.id === id);
  if (at < 0) return '';
  const worse = line.slice(0, at).filter(({ severity }) => severity !== line[at]?.severity).length;
  return ` · ${at === 0 ? 'next' : `${ordinal(at + 1)} in line`}${worse > 0 ? `; ${worse} more severe before it` : ''}`;
}

const ordinal = (n: number): string => {
  const ends = { one: 'st', two: 'nd', few: 'rd' } as Partial<Record<Intl.LDMLPluralRule, string>>;
  return `${n}${ends[ordinals.select(n)] ?? 'th'}`;
};
const ordinals = new Intl.PluralRules('en', { type: 'ordinal' });
