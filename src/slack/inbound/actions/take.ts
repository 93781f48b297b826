import { messageOf } from '../../../core/errors.ts';
import { type IncidentId, parseIncidentId } from '../../../core/ids.ts';
import type { Said } from '../../../escalation/acknowledge.ts';
import type { SlackContext } from '../../context.ts';
import type { Pressed } from './pressed.ts';
import { mayTouch } from './show.ts';

/** *I have it*: the call then shows who; nobody else is called. */
export function takeIt(context: SlackContext, pressed: Pressed): Promise<void> {
  return answered(context, pressed, (id) => context.deps.escalation.take(id, pressed.userId));
}

/** *Page now*: does not wait for the next level's time. */
export function pageThemNow(context: SlackContext, pressed: Pressed): Promise<void> {
  return answered(context, pressed, (id) => context.deps.escalation.pageNow(id));
}

async function answered(
  context: SlackContext,
  pressed: Pressed,
  act: (id: IncidentId) => Promise<Said>,
): Promise<void> {
  const tell = (text: string) => context.tell(pressed.audience, { text });
  const id = parseIncidentId(pressed.value);
  if (!id) return tell('I do not know this button any more. Nothing was done.');
  try {
    const may = await mayTouch(context, pressed, id);
    const said = may.ok ? await act(id) : may;
    if (!said.ok) await tell(said.reason);
  } catch (error) {
    context.deps.log.error({ incident: id, error: messageOf(error) }, 'who has it could not be stored');
    await tell('That could not be stored. Please try again in a moment.');
  } finally {
    context.outbound.pressed(id);
  }
}
