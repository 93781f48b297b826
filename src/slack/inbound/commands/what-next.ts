import type { Incident } from '../../../core/incident.ts';
import { isEnded } from '../../../core/machine.ts';
import type { Say } from '../../outbound/tell.ts';
import { small } from '../../views/blocks/build.ts';

/** An answer about an incident, with what people most likely want to say next. Read by one person: the thread has its buttons. */
export const withNext = (say: Say, incident: Incident): Say => ({
  ...say,
  blocks: [...(say.blocks ?? []), small(whatNext(incident))],
});

function whatNext({ id, state }: Incident): string {
  if (isEnded(state)) return `Is it back? /sentry investigate and what you see · others: /sentry incidents`;
  if (state === 'stopped') return `To go on: /sentry resume ${id} · to end it: /sentry close ${id}`;
  return `To have it: /sentry ack ${id} · to stop it: /sentry stop ${id} · to tell me what you know: “hint: …” in its thread`;
}
