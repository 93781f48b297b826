import { parseIncidentId } from '../../../core/ids.ts';
import type { SlackContext } from '../../context.ts';
import type { Pressed } from './pressed.ts';
import { mayTouch } from './show.ts';

/** *Investigate*. Only a *no* is said to whoever pressed: the thread itself shows that it is looked into, and by whose wish. */
export async function investigate(context: SlackContext, pressed: Pressed): Promise<void> {
  const { value, userId, audience } = pressed;
  const id = parseIncidentId(value);
  if (!id)
    return context.tell(audience, { text: 'This button is not one of mine any more. Nothing was done.' });
  const may = await mayTouch(context, pressed, id);
  const asked = may.ok ? await context.deps.investigate(id, userId) : may;
  if (!asked.ok) return context.tell(audience, { text: asked.reason });
  context.outbound.pressed(id);
}
