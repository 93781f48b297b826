import type { App, Receiver, ReceiverEvent } from '@slack/bolt';
import type { Inbox } from './inbox.ts';

/**
 * Puts the inbox between a receiver and Bolt. Bolt acknowledges an event before its listeners run, so everything must
 * be stored before Bolt sees it.
 */
export function throughInbox(
  receivers: readonly Receiver[],
  hooks: {
    readonly makeInbox: (handle: (event: ReceiverEvent) => Promise<void>) => Inbox;
    /** Of each event, also of one that came before or is the bot's own. */
    readonly arrived: () => void;
  },
): Receiver & { readonly inbox: () => Inbox } {
  let inbox: Inbox | undefined;
  const need = (): Inbox => {
    if (!inbox) throw new Error('the receiver was not initialised');
    return inbox;
  };
  return {
    inbox: need,
    init(app) {
      inbox = hooks.makeInbox((event) => app.processEvent(event));
      const first = {
        processEvent: (event: ReceiverEvent) => {
          hooks.arrived();
          return need().take(event);
        },
      };
      for (const receiver of receivers) receiver.init(first as App);
    },
    start: () => Promise.all(receivers.map((receiver) => receiver.start() as Promise<unknown>)),
    stop: () => Promise.all(receivers.map((receiver) => receiver.stop() as Promise<unknown>)),
  };
}
