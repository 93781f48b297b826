import type { SlackContext } from '../../context.ts';
import { readableBy } from '../../people/access.ts';

/** Somebody looks at the direct message: what they most likely want to know now is one press away. */
export async function suggestPrompts(context: SlackContext, userId: string, channel: string): Promise<void> {
  const open = await context.deps.records.list({ limit: 10, open: true });
  const [newest] = await readableBy(context, userId, null, open);
  await context.sessions.suggest(channel, newest ? `${newest.id} is open` : 'Nothing open that you may see', [
    ...(newest
      ? [
          { title: `Why ${newest.id}?`, message: `why ${newest.id}` },
          { title: `What is ${newest.id} doing now?`, message: `What is happening with ${newest.id} now?` },
        ]
      : [
          { title: 'What happened last, and why?', message: 'why' },
          { title: 'What can you do?', message: 'help' },
        ]),
    { title: 'List incidents', message: 'incidents' },
    { title: 'Are you all right?', message: 'status' },
  ]);
}
