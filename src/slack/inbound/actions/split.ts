import { type IncidentId, parseIncidentId } from '../../../core/ids.ts';
import type { Correlation } from '../../../incidents/correlation/correlation.ts';
import type { Steered } from '../../../incidents/steering.ts';
import type { SlackContext } from '../../context.ts';
import type { Pressed } from './pressed.ts';
import { mayTouch } from './show.ts';

/** *Split*: the part gets a thread of its own, and the line above says so. */
export function splitOff(context: SlackContext, pressed: Pressed): Promise<void> {
  return answered(context, pressed, (correlation, [id]) => correlation.split(id, pressed.userId));
}

/** *Put back* undoes it. */
export function putBack(context: SlackContext, pressed: Pressed): Promise<void> {
  return answered(context, pressed, (correlation, [id, into]) =>
    into ? correlation.merge(id, into, pressed.userId) : null,
  );
}

/** Only a *no* is said to whoever pressed: the threads themselves show what became of it. */
async function answered(
  context: SlackContext,
  pressed: Pressed,
  act: (
    correlation: Correlation,
    ids: readonly [IncidentId, IncidentId | undefined],
  ) => Promise<Steered> | null,
): Promise<void> {
  const { correlation } = context.deps;
  const { audience } = pressed;
  const [id, into] = pressed.value.split(':').map(parseIncidentId);
  for (const named of [id, into]) {
    const may = named ? await mayTouch(context, pressed, named) : { ok: true as const };
    if (!may.ok) return context.tell(audience, { text: may.reason });
  }
  const done = id ? await act(correlation, [id, into]) : null;
  if (!id || done === null)
    return context.tell(audience, { text: 'I do not know this button any more. Nothing was done.' });
  if (!done.ok) return context.tell(audience, { text: done.reason });
  context.outbound.pressed(id);
}
