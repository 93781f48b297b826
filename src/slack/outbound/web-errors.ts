import { ErrorCode, WebAPIHTTPError, WebAPIPlatformError, WebAPIRateLimitedError } from '@slack/web-api';
import { messageOf } from '../../core/errors.ts';

/**
 * What a failed call means for whoever made it.
 *
 * - `wait`: Slack refused it for now, without effect; try again after `ms`.
 * - `uncertain`: it may have taken effect (5xx, timeout, cut connection): look before trying again.
 * - `setup`: it cannot work until somebody changes something in Slack; `hint` says what.
 * - `refused`: Slack does not take this call as it is.
 */
export type SlackFailure =
  | { readonly kind: 'wait'; readonly ms: number; readonly code: string }
  | { readonly kind: 'uncertain'; readonly code: string }
  | { readonly kind: 'setup'; readonly code: string; readonly hint: string }
  | { readonly kind: 'refused'; readonly code: string };

const UNCERTAIN = new Set([
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
  'team_added_to_org',
]);

const token = 'Give Sentry a valid SLACK_BOT_TOKEN (Slack app settings → OAuth & Permissions).';
const SETUP: Readonly<Record<string, string>> = {
  not_in_channel: 'Invite the bot to the channel: /invite @Sentry.',
  channel_not_found:
    'Check SENTRY_ALERT_CHANNELS, SENTRY_ADMIN_CHANNEL and SENTRY_APPROVALS_CHANNEL, and invite the bot if the channel is private: /invite @Sentry.',
  is_archived: 'The channel is archived: set SENTRY_ALERT_CHANNELS to another one.',
  invalid_auth: token,
  not_authed: token,
  account_inactive: token,
  token_revoked: token,
  token_expired: token,
  missing_scope: 'Install the app again with the scopes of manifest.yml.',
  no_permission: 'Install the app again with the scopes of manifest.yml.',
  restricted_action: 'A workspace setting keeps the bot from posting in this channel.',
  restricted_action_read_only_channel: 'The channel is read-only for the bot.',
  restricted_action_thread_only_channel: 'The channel allows threads only.',
};

/** The platform's error code (`not_in_channel`), or what else went wrong in one word. */
export function codeOf(error: unknown): string {
  if (error instanceof WebAPIPlatformError) return error.data.error;
  if (error instanceof WebAPIHTTPError) return `http_${error.statusCode}`;
  if (error instanceof WebAPIRateLimitedError) return 'ratelimited';
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : messageOf(error);
}

export function failureOf(error: unknown): SlackFailure {
  const code = codeOf(error);
  if (error instanceof WebAPIRateLimitedError)
    return { kind: 'wait', ms: Math.max(1, error.retryAfter) * 1000, code };
  if (error instanceof WebAPIPlatformError) {
    if (code === 'ratelimited' || code === 'rate_limited') return { kind: 'wait', ms: 1000, code };
    if (UNCERTAIN.has(code)) return { kind: 'uncertain', code };
    const hint = SETUP[code];
    return hint ? { kind: 'setup', code, hint } : { kind: 'refused', code };
  }
  if (error instanceof WebAPIHTTPError && error.statusCode < 500) return { kind: 'refused', code };
  return { kind: 'uncertain', code: code === ErrorCode.RequestError ? `network: ${messageOf(error)}` : code };
}

/** True when the server has no such method (an older or partial Slack): do without. */
export const isUnknownMethod = (error: unknown): boolean =>
  [
    'unknown_method',
    'http_404',
    'method_deprecated',
    'not_allowed_token_type',
    'paid_only',
    'feature_not_enabled',
  ].includes(codeOf(error));
