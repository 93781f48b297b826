import { SENTRY_APP } from '../../playground/slack/seed.ts';
import type { EventBus } from '../../src/core/event-bus.ts';
import type { Log } from '../../src/core/log.ts';
import type { Principal } from '../../src/core/principal.ts';
import type { Sql } from '../../src/core/sql.ts';
import { createRecords } from '../../src/record/record.ts';
import { createSlackWorkspace, type SlackWorkspace } from '../../src/slack/people/slack-workspace.ts';
import type { SlackConnection, SlackDeps } from '../../src/slack/ports.ts';
import { createSlack, type Slack } from '../../src/slack/slack.ts';
import { noServices } from './slack-services.ts';

/** What a test has otherwise; the rest is there, and refuses (slack-services.ts). */
export interface BotChanges extends Partial<SlackDeps> {
  readonly connection?: SlackConnection;
  readonly alertChannels?: readonly string[];
  readonly approvers?: readonly Principal[];
}

export const socketTo = (apiUrl: string): SlackConnection => ({
  kind: 'socket',
  botToken: SENTRY_APP.botToken,
  appToken: SENTRY_APP.appToken,
  apiUrl,
});

/** The Slack surface of one process over a real record; nothing runs before `start`. */
export function slackBot(
  over: { readonly sql: Sql; readonly bus: EventBus; readonly log: Log; readonly executorId: string },
  {
    connection = socketTo(''),
    alertChannels = ['alerts'],
    approvers = [{ kind: 'group', name: 'oncall' }],
    ...services
  }: BotChanges,
): Slack & { readonly workspace: SlackWorkspace } {
  const workspace = createSlackWorkspace({ connection, alertChannels, sql: over.sql, log: over.log });
  const slack = createSlack({
    ...over,
    workspace,
    speed: 1,
    config: { approversOf: async () => approvers, approvers, oncallGroup: 'oncall', mode: () => 'ACTIVE' },
    records: createRecords(over.sql),
    why: (record) => `The story of ${record.incident.id}: ${record.incident.title}`,
    decide: async () => ({ ok: false, code: 'NOT_HERE', reason: 'Nothing is decided here.' }),
    acceptSlackMessage: async () => undefined,
    acceptSlackChange: async () => undefined,
    ...noServices,
    ...services,
  });
  return { ...slack, workspace };
}
