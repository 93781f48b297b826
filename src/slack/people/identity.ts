import { setTimeout as delay } from 'node:timers/promises';
import type { WebClient } from '@slack/web-api';
import { OpsError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { failureOf } from '../outbound/web-errors.ts';

/** Who the bot is in its workspace. */
export interface Identity {
  readonly botId: string | null;
  readonly userId: string;
  readonly teamId: string;
  /** Of the organisation that the workspace belongs to (Enterprise Grid); null for a workspace by itself. */
  readonly enterpriseId: string | null;
  /** `https://team.slack.com/`, with the slash. */
  readonly teamUrl: string;
}

const RETRY_MS = 2_000;

/**
 * Asks Slack who the token is. While Slack cannot be reached it tries again until `signal` ends it; a token that
 * Slack refuses is an OpsError SLACK_AUTH at once.
 */
export async function askIdentity(client: WebClient, log: Log, signal: AbortSignal): Promise<Identity> {
  for (;;) {
    try {
      const answer = await client.auth.test();
      const url = answer.url ?? 'https://slack.com/';
      return {
        botId: answer.bot_id ?? null,
        userId: answer.user_id ?? '',
        teamId: answer.team_id ?? '',
        enterpriseId: answer.enterprise_id ?? null,
        teamUrl: url.endsWith('/') ? url : `${url}/`,
      };
    } catch (error) {
      const failure = failureOf(error);
      if (failure.kind === 'setup' || failure.kind === 'refused')
        throw new OpsError('SLACK_AUTH', `Slack refuses the bot token: ${failure.code}.`, {
          hint: failure.kind === 'setup' ? failure.hint : 'Check SLACK_BOT_TOKEN and SLACK_API_URL.',
          cause: error,
        });
      log.warn({ code: failure.code }, 'Slack cannot be reached; trying again');
      await delay(failure.kind === 'wait' ? failure.ms : RETRY_MS, undefined, { signal });
    }
  }
}

/** Where a message is, for people. */
export function messageUrl(identity: Identity, channel: string, ts: string): string {
  return `${identity.teamUrl}archives/${channel}/p${ts.replace('.', '')}`;
}
