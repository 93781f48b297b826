import type Anthropic from '@anthropic-ai/sdk';
import type { ModelBackend } from './backend.ts';
import { createCapabilityCache, listedCapabilities, type ModelCapabilities } from './capabilities.ts';
import { classifyError } from './classify-error.ts';
import { COMPACTION_BETAS } from './compaction.ts';
import { LlmError } from './llm-error.ts';
import { createMessagesBackend } from './messages-backend.ts';
import { requestBody } from './request-body.ts';
import { NOTHING_SPENT } from './types.ts';

export interface AnthropicOptions {
  readonly apiKey: string;
  /** Any server that speaks the Messages API; a path prefix is kept. Default: Anthropic's own. */
  readonly baseUrl?: string | null;
  /** Default `DEFAULT_IDLE_MS`. */
  readonly idleMs?: number;
  /** Sends each request. Default: the process's own. */
  readonly fetch?: typeof fetch;
}

const DEFAULT_BASE_URL = 'https://api.anthropic.com';
/** For the look-up of what a model can do; it stands before the first message only. */
const LOOK_UP_MS = 3_000;

/** The direct API, or a gateway that speaks it. */
export function createAnthropicBackend(options: AnthropicOptions): ModelBackend {
  const given = {
    // Some operators end the address with /v1, which the SDK adds itself.
    baseURL: (options.baseUrl ?? DEFAULT_BASE_URL).replace(/(\/v1)?\/*$/, ''),
    ...ATTEMPT,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
  };
  /** Loads the SDK at the first call: that costs a start without a call 150 ms and more. */
  const newClient = async (auth: ConstructorParameters<typeof Anthropic>[0]): Promise<Anthropic> =>
    new (await import('@anthropic-ai/sdk')).default({ ...given, authToken: null, ...auth });
  let client: Promise<Anthropic> | undefined;
  const currentClient = (): Promise<Anthropic> => (client ??= newClient({ apiKey: options.apiKey }));
  /** Gateways older than this SDK know the key only as `x-api-key`; the API itself takes the bearer token. */
  const olderClient = (): Promise<Anthropic> =>
    newClient({ apiKey: null, defaultHeaders: { 'X-Api-Key': options.apiKey } });
  let olderTried = !options.baseUrl;
  const capabilitiesOf = createCapabilityCache(async (model): Promise<ModelCapabilities> => {
    const { models } = (await currentClient()).beta;
    const asked = { betas: COMPACTION_BETAS };
    return listedCapabilities(model, await models.retrieve(model, asked, { timeout: LOOK_UP_MS }));
  });

  return createMessagesBackend({
    name: 'anthropic',
    idleMs: options.idleMs,
    capabilitiesOf,
    async through(_, send) {
      try {
        return await send(await currentClient());
      } catch (error) {
        if (olderTried || !(error instanceof LlmError) || !asksForApiKey(error)) throw error;
        olderTried = true;
        client = olderClient();
        return await send(await client);
      }
    },
    async countTokens(request, signal) {
      const { max_tokens: _, ...counted } = requestBody(request, await capabilitiesOf(request.model));
      const client = await currentClient();
      try {
        return (await client.messages.countTokens(counted, { signal, timeout: 10_000 })).input_tokens;
      } catch (error) {
        throw classifyError(error, NOTHING_SPENT);
      }
    },
  });
}

/** How the SDK's clients are used here. */
export const ATTEMPT = {
  // Its own retries honour `retry-after` without a cap and never cover a stream that has begun.
  maxRetries: 0,
  // Its log would show request bodies; ours is written by the caller.
  logLevel: 'off',
} as const;

function asksForApiKey({ code, message }: LlmError): boolean {
  return code === 'LLM_AUTH' && /api.?key/i.test(message);
}
