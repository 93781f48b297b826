import { createAnthropicBackend } from './anthropic.ts';
import { type AwsCredentials, signAws } from './aws-signature.ts';
import type { ModelBackend } from './backend.ts';

export interface BedrockOptions {
  readonly region: string;
  /** A Bedrock API key (sent as bearer token), or what requests are signed with. */
  readonly auth: { readonly apiKey: string } | AwsCredentials;
  /** Default: the Messages API of `bedrock-runtime` in the region. */
  readonly baseUrl?: string | undefined;
  readonly idleMs?: number;
  readonly now?: () => Date;
}

/** Headers that reach the service as they are sent; others may be changed on the way and so are not signed. */
const SIGNED_HEADERS = ['content-type', 'anthropic-version', 'anthropic-beta'];

/**
 * Amazon Bedrock by its Messages API (`bedrock-runtime.<region>.amazonaws.com/anthropic`), which AWS recommends for new
 * applications: the same stream, the same cache and the same thinking blocks as the direct API. It has no list of
 * models, so what a model can do comes from the table.
 */
export function createBedrockBackend(options: BedrockOptions): ModelBackend {
  const { region, auth } = options;
  const common = {
    name: 'bedrock',
    baseUrl: options.baseUrl ?? `https://bedrock-runtime.${region}.amazonaws.com/anthropic`,
    ...(options.idleMs === undefined ? {} : { idleMs: options.idleMs }),
  };
  if ('apiKey' in auth) return createAnthropicBackend({ ...common, apiKey: auth.apiKey });
  const now = options.now ?? (() => new Date());
  return createAnthropicBackend({
    ...common,
    // Replaced by the signature.
    apiKey: 'signed',
    fetch: (input, init) => {
      const url = new URL(input instanceof Request ? input.url : input);
      const headers = new Headers(init?.headers);
      const body = typeof init?.body === 'string' ? init.body : '';
      const signed = Object.fromEntries([...headers].filter(([name]) => SIGNED_HEADERS.includes(name)));
      const method = init?.method ?? 'GET';
      const added = signAws(
        { method, url, headers: signed, body },
        { region, service: 'bedrock', at: now() },
        auth,
      );
      for (const [name, value] of Object.entries(added)) headers.set(name, value);
      return fetch(url, { ...init, headers });
    },
  });
}

/** Bedrock's name of a model: `claude-…` is Anthropic's own, whatever else is taken as it is (profiles, ARNs). */
export function bedrockModel(model: string): string {
  return model.startsWith('claude-') ? `anthropic.${model}` : model;
}
