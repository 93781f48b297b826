import { alertmanager } from './alertmanager/index.ts';
import type { AlertSource } from './ports.ts';
import { slackMessage } from './slack-message/index.ts';

/** Every alert source, a line each. */
export const alertSources: readonly AlertSource[] = [alertmanager, slackMessage];

/** Those that send the end of their alerts as well: a chat message alone may never be followed by one. */
export const endSenders: readonly string[] = alertSources
  .filter(({ vague }) => !vague)
  .map(({ name }) => name);
