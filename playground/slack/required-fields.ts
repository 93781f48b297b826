import type { PageActionName } from './page-api.ts';

/** The fields without which an action means nothing; all are strings but those named here. */
const REQUIRED: Readonly<Record<PageActionName, readonly string[]>> = {
  'message.post': ['userId', 'channel', 'text'],
  'message.edit': ['userId', 'channel', 'ts', 'text'],
  'message.delete': ['userId', 'channel', 'ts'],
  'command.run': ['userId', 'channel', 'text'],
  'block.action': ['userId', 'container', 'block_id', 'action_id', 'input'],
  'view.submit': ['userId', 'viewId', 'form'],
  'view.close': ['userId', 'viewId'],
  'home.open': ['userId'],
  'shortcut.message': ['userId', 'channel', 'ts', 'callback_id'],
  'shortcut.global': ['userId', 'callback_id'],
  'reaction.toggle': ['userId', 'channel', 'ts', 'name'],
  'read.mark': ['userId', 'channel', 'ts'],
  'ephemeral.dismiss': ['userId', 'channel', 'ts'],
  'channel.join': ['userId', 'channel'],
  'dm.open': ['userId'],
  'thread.recording': ['userId', 'channel', 'thread_ts'],
  'session.stop': ['userId', 'channel', 'thread_ts'],
  'options.load': ['userId', 'container', 'block_id', 'action_id', 'query'],
  'fault.cause': ['userId', 'id'],
  'fault.undo': ['userId', 'id'],
};
const OBJECTS = new Set(['container', 'input', 'form']);

/** What is wrong with an action's body, naming the field; undefined when nothing is. */
export function fieldProblem(name: string, body: Readonly<Record<string, unknown>>): string | undefined {
  if (!Object.hasOwn(REQUIRED, name)) return undefined;
  for (const field of REQUIRED[name as PageActionName]) {
    const wanted = OBJECTS.has(field) ? 'object' : 'string';
    const value = body[field];
    if (value === null || typeof value !== wanted) return `${name}: ${field} must be a JSON ${wanted}`;
  }
  return undefined;
}
