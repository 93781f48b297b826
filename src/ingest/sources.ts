import { alertmanager } from './alertmanager/index.ts';
import type { AlertSource } from './ports.ts';
import { slackMessage } from './slack-message/index.ts';

/** Every alert source, a line each. */
export const alertSources: readonly AlertSource[] = [alertmanager, slackMessage];
