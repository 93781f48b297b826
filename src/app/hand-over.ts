import { messageOf } from '../core/errors.ts';
import type { HandOver } from '../escalation/shift-changes.ts';
import type { HandoffOf } from '../incidents/reports/handoff-of.ts';
import { sayText } from '../slack/outbound/tell.ts';
import { failureOf } from '../slack/outbound/web-errors.ts';
import { nameEverybody } from '../slack/people/name-everybody.ts';
import { escape } from '../slack/views/blocks/text.ts';
import type { Foundations } from './foundations.ts';

/** Hands a shift over in a direct message, with what its reader may see. */
export const createHandOver =
  ({ slackWorkspace, log }: Pick<Foundations, 'slackWorkspace' | 'log'>, handoff: HandoffOf): HandOver =>
  async ({ userId, schedules, since }) => {
    const { client, access } = slackWorkspace;
    let message: Parameters<typeof client.chat.postMessage>[0];
    try {
      // Where Slack cannot be asked now it cannot tell who may read what either, and too little would be told.
      const { channel } = await client.conversations.open({ users: userId });
      const text = await handoff((incident) => access.mayRead(userId, incident, null), since);
      const said = `You are on call now (${schedules.join(' and ')}).\n${text}`;
      const { text: plain, blocks = [] } = sayText(await nameEverybody(slackWorkspace, said));
      message = { channel: channel?.id ?? userId, text: escape(plain), blocks: [...blocks] };
    } catch (error) {
      log.warn({ user: userId, error: messageOf(error) }, 'a shift cannot be handed over now');
      return 'not_now';
    }
    try {
      await client.chat.postMessage(message);
      return 'told';
    } catch (error) {
      log.warn({ user: userId, error: messageOf(error) }, 'a shift could not be handed over');
      return failureOf(error).kind === 'wait' ? 'not_now' : 'told';
    }
  };
