import { messageOf } from '../../core/errors.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { Reader } from '../../memory/documents/access.ts';
import type { MemoryDocument } from '../../memory/documents/document.ts';
import type { SlackContext } from '../context.ts';

/** Whether somebody is an admin, for what is only shown; a Slack that cannot tell makes nobody one, and decisions ask again. */
export async function isAdminNow(context: SlackContext, userId: string): Promise<boolean> {
  try {
    return await context.deps.memory.isAdmin(userId);
  } catch (error) {
    context.deps.log.warn({ error: messageOf(error) }, 'who is an admin cannot be told');
    return false;
  }
}

/** A person where they are now: what was said in this thread is theirs to read, other threads' is not. */
export const readerHere = (userId: string, here: IncidentId | null): Reader => ({
  kind: 'person',
  userId,
  incidents: here ? [here] : [],
});

/**
 * A document by id for a person who pressed a button. A conversation's is read by the members of its channel alone; who
 * cannot be told to be one is none.
 */
export async function readFor(
  context: SlackContext,
  userId: string,
  documentId: string,
): Promise<MemoryDocument | null> {
  const { memory, records, sql } = context.deps;
  const [row] = await sql<{ incident_id: IncidentId | null }>`
    SELECT incident_id FROM memory_document WHERE id = ${documentId}`;
  const incidentId = row?.incident_id ?? null;
  const channel = incidentId && (await records.load(incidentId))?.incident.channel;
  const members = channel ? await membersOf(context, channel) : [];
  const reader = readerHere(userId, members.includes(userId) ? incidentId : null);
  return memory.documents.read(reader, { id: documentId });
}

/** None while Slack does not tell: then a conversation is read by nobody here. */
async function membersOf(context: SlackContext, channel: string): Promise<readonly string[]> {
  try {
    return await context.directory.channelMembers(channel);
  } catch (error) {
    context.deps.log.warn({ channel, error: messageOf(error) }, 'who is in a channel cannot be told');
    return [];
  }
}
