import type { SlackContext } from '../../context.ts';
import { remember } from '../actions/remember.ts';
import type { Shortcut } from './shortcut.ts';

/** *Add to memory*: as “remember: …” keeps it, for the incident in whose thread it stands, else for this person alone. */
export async function addToMemory(
  context: SlackContext,
  { userId, channel, message, to }: Shortcut,
): Promise<void> {
  const { records, memory } = context.deps;
  const text = await context.withNames(message.text);
  if (text.trim() === '')
    return context.tell(to, { text: 'There are no words in this message that I can keep.' });
  const here = await records.findByThread(channel, message.threadTs);
  const incident = here ? await records.incident(here) : null;
  await context.tell(to, await remember(memory, { userId, incident, text }));
}
