import { ATTEMPT } from './anthropic.ts';
import { type AwsCredentials, awsCredentialChain } from './aws-credentials.ts';
import type { ModelBackend } from './backend.ts';
import { tabledCapabilities } from './capabilities.ts';
import { estimatedTokens } from './message-usage.ts';
import { createMessagesBackend } from './messages-backend.ts';
import { requestBody } from './request-body.ts';
import type { MessagesClient } from './stream-message.ts';

export interface BedrockOptions {
  readonly region: string;
  /** A Bedrock API key, sent as bearer token; without one requests are signed. */
  readonly apiKey?: string | null;
  /** What requests are signed with. Default: AWS's own chain. */
  readonly credentials?: AwsCredentials;
  /** Where the client for the model sends its requests. Default: the region's endpoint. */
  readonly baseUrl?: string | null;
  readonly idleMs?: number;
}

/**
 * Amazon Bedrock by the vendor's clients, loaded with the first request. Current models are served by its Messages API
 * (`bedrock-mantle`), under Anthropic's own names; older ones, inference profiles and ARNs by InvokeModel
 * (`bedrock-runtime`). Each refuses the other's names, so the name chooses. Neither lists what a model can do, counts
 * tokens or compacts: the table says the first, an estimate the second.
 */
export function createBedrockBackend(options: BedrockOptions): ModelBackend {
  const sdk = loadOnce(() => import('@anthropic-ai/bedrock-sdk'));
  const credentials = options.credentials ?? awsCredentialChain();
  const given = {
    ...ATTEMPT,
    awsRegion: options.region,
    // `null`: not from the environment either, which configuration has read.
    apiKey: options.apiKey ?? null,
    providerChainResolver: async () => credentials,
    ...(options.baseUrl ? { baseURL: options.baseUrl } : {}),
  };
  const clients = {
    messages: loadOnce(async (): Promise<MessagesClient> => new (await sdk()).AnthropicBedrockMantle(given)),
    invoke: loadOnce(async (): Promise<MessagesClient> => new (await sdk()).AnthropicBedrock(given)),
  };
  const capabilitiesOf = async (model: string) => ({ ...tabledCapabilities(model), compaction: false });
  return createMessagesBackend({
    name: 'bedrock',
    idleMs: options.idleMs,
    capabilitiesOf,
    through: async (model, send) => send(await clients[isMessagesName(model) ? 'messages' : 'invoke']()),
    countTokens: async (request) =>
      estimatedTokens(requestBody(request, await capabilitiesOf(request.model))),
  });
}

/** `anthropic.claude-…`, without the version that InvokeModel's names end with or the region its profiles begin with. */
function isMessagesName(model: string): boolean {
  return /^anthropic\.claude-[a-z0-9-]+$/.test(model) && !/-v\d+$/.test(model);
}

function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => {
    loaded ??= load();
    return loaded;
  };
}

/** Bedrock's name of a model: `claude-…` is Anthropic's own, whatever else is taken as it is (profiles, ARNs). */
export function bedrockModel(model: string): string {
  return model.startsWith('claude-') ? `anthropic.${model}` : model;
}
