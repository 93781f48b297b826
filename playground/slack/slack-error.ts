/**
 * A refusal with one of Slack's own error codes: becomes `{ ok: false, error: code, … }` with HTTP 200, as Slack
 * answers. `messages` becomes `response_metadata.messages`, which the SDK logs; `more` stands beside the code.
 */
export class SlackError extends Error {
  readonly code: string;
  readonly messages: readonly string[];
  readonly more: Readonly<Record<string, unknown>>;

  constructor(code: string, messages: readonly string[] = [], more: Readonly<Record<string, unknown>> = {}) {
    super(messages.length === 0 ? code : `${code}: ${messages.join('; ')}`);
    this.name = 'SlackError';
    this.code = code;
    this.messages = messages;
    this.more = more;
  }
}
