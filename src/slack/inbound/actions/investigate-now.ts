import { parseIncidentId } from '../../../core/ids.ts';
import type { SlackContext } from '../../context.ts';
import type { Pressed } from './pressed.ts';

/** *Investigate*: its thread shows that it goes on. */
export async function investigateNow(context: SlackContext, pressed: Pressed): Promise<void> {
  const id = parseIncidentId(pressed.value);
  const may = await context.directory.mayAct(pressed.userId, pressed.teamId);
  if (!may.ok || !id)
    return context.tell(pressed.audience, { text: may.ok ? 'I do not know that incident.' : may.reason });
  const answer = await context.deps.investigateNow(id, pressed.userId);
  if (!answer.ok) return context.tell(pressed.audience, { text: answer.reason });
  context.outbound.pressed(id);
}
