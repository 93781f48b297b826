import { callStateOf } from '../../core/calls.ts';
import { clipLine } from '../../core/clip.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { isSlackUser } from '../../core/is-slack-user.ts';

/** As lines of ours tell a moment: Slack shows it in the reader's own time zone. */
export const minute = (iso: string): string => `${iso.slice(0, 16).replace('T', ' ')} UTC`;

/** Somebody else's words on one line, without what nobody sees and what turns the direction of reading. */
export const told = (text: string, max: number): string =>
  clipLine(text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' '), max);

/** Whoever it is; at a paging service people have names only. */
export const who = (by: string): string =>
  by === 'policy' ? 'a rule of the policy' : isSlackUser(by) ? `<@${by}>` : told(by, 40);

/** Who has it, who was called, or that nobody was. */
export function holderOf({ events }: Pick<IncidentRecord, 'events'>): string {
  const { acknowledged, called, waitsUntil } = callStateOf(events);
  if (acknowledged !== null) {
    const how = acknowledged.how === 'acted' ? 'is at it' : 'has it';
    return `${who(acknowledged.by)} ${how} since ${minute(acknowledged.at)}.`;
  }
  if (called !== null) return `Nobody has it; people were called at ${minute(called.at)}.`;
  return waitsUntil === null
    ? 'Nobody has it, and nobody was called.'
    : `Nobody has it; quiet hours until ${minute(waitsUntil)}.`;
}
