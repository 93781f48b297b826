import { OpsError } from '../../core/errors.ts';
import { codeOf, failureOf, isUnknownMethod } from './web-errors.ts';

const OF_THE_TOKEN = new Set([
  'invalid_auth',
  'not_authed',
  'account_inactive',
  'token_revoked',
  'token_expired',
  'not_allowed_token_type',
]);

/** Of the workspace, for a while: the organisation moves, or Slack has shut it for the moment. */
const PASSES = new Set(['org_login_required', 'accesslimited']);

/** Why Slack lets nobody in by Socket Mode until a person changes something, and what; undefined: it may the next time. */
export function socketRefusal(error: unknown): OpsError | undefined {
  const code = codeOf(error);
  const wrong = (says: string, hint: string): OpsError =>
    new OpsError('SLACK_APP_TOKEN', says, { hint, cause: error });
  if (code === 'missing_scope')
    return wrong(
      'SLACK_APP_TOKEN lacks connections:write',
      'Basic Information → App-Level Tokens: generate one with the scope connections:write.',
    );
  if (OF_THE_TOKEN.has(code))
    return wrong(
      `Slack refuses SLACK_APP_TOKEN: ${code}`,
      'Copy it again: Basic Information → App-Level Tokens (xapp-…).',
    );
  const { kind } = failureOf(error);
  if (kind === 'wait' || kind === 'uncertain' || isUnknownMethod(error)) return undefined;
  // Said by something on the way, such as a proxy, not by Slack: alerts must not wait for it.
  if (code.startsWith('http_') || PASSES.has(code)) return undefined;
  return wrong(
    `Slack opens no Socket Mode connection: ${code}`,
    'Turn it on: app settings → Socket Mode → Enable Socket Mode. Or use HTTP (docs/connect.md).',
  );
}
