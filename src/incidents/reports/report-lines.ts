import { callStateOf } from '../../core/calls.ts';
import { clipWords } from '../../core/clip.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { isSlackUser } from '../../core/is-slack-user.ts';

/** As lines of ours tell a moment: Slack shows it in the reader's own time zone. */
export const minute = (iso: string): string => `${iso.slice(0, 16).replace('T', ' ')} UTC`;

/** Somebody else's words on one line, without what nobody sees and what turns the direction of reading. */
export const told = (text: string, max: number): string =>
  clipWords(text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' '), max);

/** Whoever it is; at a paging service people have names only. */
export const who = (by: string): string =>
  by === 'policy' ? 'a rule of the policy' : isSlackUser(by) ? `<@${by}>` : told(by, 40);

/** Which person said that it is over, and why. */
export function closedBy({ incident, events }: Pick<IncidentRecord, 'incident' | 'events'>): string {
  const closed = events.findLast((event) => event.type === 'incident.closed');
  const said = closed?.type === 'incident.closed' ? closed : null;
  const by = said?.by ?? incident.closedBy;
  const because = said && said.reason !== '' ? `: “${told(said.reason, 80)}”` : '';
  return `closed by ${by === null ? 'a person' : who(by)}${because}`;
}

/** Who has it, else who was called, mentioned or paged; `mentioned`: by the open card, undefined where that is not known. */
export function holderOf(
  { events }: Pick<IncidentRecord, 'events'>,
  mentioned: readonly string[] | undefined,
): string {
  const { acknowledged, called, waitsUntil } = callStateOf(events);
  if (acknowledged !== null) {
    const how = acknowledged.how === 'acted' ? 'is at it' : 'has it';
    return `${who(acknowledged.by)} ${how} since ${minute(acknowledged.at)}.`;
  }
  if (called !== null) {
    const handles = (called.groups ?? []).map((handle) => `@${told(handle, 40)}`);
    const people = [...namesOf(called.mentions), ...called.names.map((name) => told(name, 40)), ...handles];
    const paged =
      called.pagers.length === 0 ? 'nobody was paged' : `paged by ${told(called.pagers.join(', '), 60)}`;
    return `Nobody has it. Called at ${minute(called.at)}: ${people.join(', ') || 'nobody by name'}; ${paged}.`;
  }
  const quiet = waitsUntil === null ? '' : ` Quiet hours until ${minute(waitsUntil)}.`;
  if (!hasAsked(events))
    return waitsUntil === null ? 'Nobody has it, and nobody was called.' : `Nobody has it.${quiet}`;
  const card =
    mentioned === undefined
      ? 'Only a card in its thread has asked'
      : `Its card mentioned ${namesOf(mentioned).join(', ') || 'nobody'}`;
  return `Nobody has it. ${card}; nobody was paged.${quiet}`;
}

/** So many are named; a group has no name here. */
const namesOf = (ids: readonly string[]): readonly string[] =>
  ids.slice(0, 5).map((id) => (isSlackUser(id) ? who(id) : 'the group on call'));

/** Whether a card has asked people since it began, or came back. */
function hasAsked(events: IncidentRecord['events']): boolean {
  const began =
    events.findLast((event) => event.type === 'state.changed' && event.from === 'resolved')?.seq ?? 0;
  return events.some(({ type, seq }) => type === 'action.proposed' && seq > began);
}
