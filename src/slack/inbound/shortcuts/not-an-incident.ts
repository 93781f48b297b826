import type { IncidentId } from '../../../core/ids.ts';
import type { IncidentState } from '../../../core/incident.ts';
import type { SlackContext } from '../../context.ts';
import { carryOut } from '../commands/incident-orders.ts';
import { openedBy, type Shortcut } from './shortcut.ts';

/** What others are about to decide on is not taken from them by one tap. */
const BEING_MENDED: readonly IncidentState[] = ['awaiting_approval', 'remediating', 'verifying'];

/** Whether other alerts would be closed with this one. Of one source, since several tell of the same alert. */
async function isOfSeveral({ deps: { sql } }: SlackContext, id: IncidentId): Promise<boolean> {
  const rows = await sql`
    SELECT FROM alert WHERE incident_id = ${id} GROUP BY source HAVING count(DISTINCT fingerprint) > 1 LIMIT 1`;
  return rows.length > 0;
}

/** *Not an incident*: on an alert's message, or on the first one of an incident's thread, it closes that incident with these words. */
export async function notAnIncident(context: SlackContext, shortcut: Shortcut): Promise<void> {
  const { userId, teamId, channel, message, to } = shortcut;
  const isFirst = message.ts === message.threadTs;
  const [opened, ...others] = await openedBy(context, shortcut);
  if (others.length > 0)
    return context.tell(to, {
      text: 'More than one incident began with this message: close each in its thread, by “close” or behind its three dots.',
    });
  const id = opened ?? (isFirst ? await context.deps.records.findByThread(channel, message.ts) : null);
  if (!id)
    return context.tell(to, {
      text: 'No incident began with this message. Choose this on an alert, or on the first message of an incident’s thread.',
    });
  if (await isOfSeveral(context, id))
    return context.tell(to, {
      text: `${id} is of more alerts than this one. If none of them is an incident, close it in its thread, by “close” or behind its three dots.`,
    });
  const incident = await context.deps.records.incident(id);
  if (incident && BEING_MENDED.includes(incident.state))
    return context.tell(to, {
      text: `Somebody is at ${id}: a fix of it waits for a decision, or runs. If it is none, close it in its thread, by “close” or behind its three dots.`,
    });
  const who = { userId, teamId, channel, threadTs: message.threadTs };
  const done = await carryOut(context, id, { verb: 'close', reason: 'not an incident' }, who);
  await context.tell(to, {
    text: done.ok
      ? `${done.text} To let alerts like it wait, mention me in its thread: “mute 2h”.`
      : done.reason,
  });
}
