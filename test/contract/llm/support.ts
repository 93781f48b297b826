import type { Scenario } from '../../../playground/claude/scenario.ts';
import {
  createScriptedClaude,
  type RecordedRequest,
  type ScriptedClaude,
  type ScriptedClaudeOptions,
} from '../../../playground/claude/scripted-claude.ts';
import { createAccessGatewayBackend } from '../../../src/llm/access-gateway.ts';
import { createAnthropicBackend } from '../../../src/llm/anthropic.ts';
import type { ModelBackend } from '../../../src/llm/backend.ts';
import { createBedrockBackend } from '../../../src/llm/bedrock.ts';
import { createModelGateway, type ModelGateway, type RetryPolicy } from '../../../src/llm/gateway.ts';
import type { FinishedMessage, ModelEvent, ModelRequest, ModelTurn } from '../../../src/llm/types.ts';

const AWS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', sessionToken: 'token' };
const REGION = 'eu-central-1';
const SIGNED = { region: REGION, credentials: AWS };

/** One way to a model: what plays the other side, and the client that speaks to it. */
export interface Way {
  readonly name: string;
  readonly server: Partial<ScriptedClaudeOptions>;
  readonly model: string;
  /** Thinking blocks, effort and the prompt cache reach the model. */
  readonly whole: boolean;
  readonly client: (url: string, idle: { readonly idleMs?: number }) => ModelBackend;
}

export const DIRECT: Way = {
  name: 'the direct API',
  server: {},
  model: 'claude-opus-5-5',
  whole: true,
  client: (baseUrl, idle) => createAnthropicBackend({ apiKey: 'sk-test', baseUrl, ...idle }),
};

/** Every backend that can run here. */
export const WAYS: readonly Way[] = [
  DIRECT,
  {
    ...DIRECT,
    name: 'a Messages gateway by base URL',
    server: { prefix: '/team/claude', apiKeyHeaderOnly: true },
  },
  {
    name: 'Bedrock’s Messages API with signed requests',
    server: { prefix: '/anthropic', bedrock: { service: 'bedrock-mantle', auth: SIGNED } },
    model: 'anthropic.claude-opus-5-5',
    whole: true,
    client: (baseUrl, idle) =>
      createBedrockBackend({ region: REGION, credentials: async () => AWS, baseUrl, ...idle }),
  },
  {
    name: 'Bedrock’s Messages API with an API key',
    server: {
      prefix: '/anthropic',
      bedrock: { service: 'bedrock-mantle', auth: { apiKey: 'bedrock-key' } },
    },
    model: 'anthropic.claude-opus-5-5',
    whole: true,
    client: (baseUrl, idle) =>
      createBedrockBackend({ region: REGION, apiKey: 'bedrock-key', baseUrl, ...idle }),
  },
  {
    name: 'Bedrock’s InvokeModel with signed requests',
    server: { bedrock: { service: 'bedrock', auth: SIGNED } },
    model: 'eu.anthropic.claude-opus-5-5-v1:0',
    whole: true,
    client: (baseUrl, idle) =>
      createBedrockBackend({ region: REGION, credentials: async () => AWS, baseUrl, ...idle }),
  },
  {
    name: 'an OpenAI-style access gateway',
    server: {},
    model: 'anthropic.claude-opus-5-5',
    whole: false,
    client: (url, idle) =>
      createAccessGatewayBackend({ apiKey: 'bedrock', baseUrl: `${url}/api/v1`, ...idle }),
  },
];

/** A model client as the product builds it, in front of a scripted server. */
export interface Rig {
  readonly claude: ScriptedClaude;
  readonly gateway: ModelGateway;
  readonly events: ModelEvent[];
  /** Requests that got past the look at which header a server wants its key in. */
  readonly tries: readonly RecordedRequest[];
  ask(request?: Partial<ModelRequest>, options?: AskOptions): Promise<FinishedMessage>;
}

interface AskOptions {
  readonly signal?: AbortSignal;
  readonly deadlineMs?: number;
  readonly onEvent?: (event: ModelEvent) => void;
}

export interface RigOptions {
  readonly idleMs?: number;
  readonly model?: string;
  readonly retry?: Partial<RetryPolicy>;
  /** Default: the direct API. */
  readonly way?: Way;
}

export async function startRig(scenario: Scenario, options: RigOptions = {}): Promise<Rig> {
  const { way = DIRECT, idleMs } = options;
  const claude = await createScriptedClaude({ scenario, ...way.server });
  const gateway = createModelGateway({
    backend: way.client(claude.url, idleMs === undefined ? {} : { idleMs }),
    model: options.model ?? way.model,
    retry: { baseDelayMs: 1, ...options.retry },
  });
  const events: ModelEvent[] = [];
  return {
    claude,
    gateway,
    events,
    get tries() {
      return claude.requests.filter(({ problem }) => !problem?.message.includes('header is required'));
    },
    ask: (request = {}, ask = {}) =>
      gateway.stream(
        { ...REQUEST, ...request },
        {
          signal: ask.signal ?? new AbortController().signal,
          deadlineMs: ask.deadlineMs ?? 10_000,
          onEvent: (event) => {
            events.push(event);
            ask.onEvent?.(event);
          },
        },
      ),
  };
}

export const QUESTION: ModelTurn = {
  role: 'user',
  content: [{ type: 'text', text: 'What blocks the database?' }],
};

export const REQUEST: ModelRequest = {
  system: 'You investigate.',
  tools: [
    {
      name: 'pg_blocking',
      description: 'Who blocks whom.',
      inputSchema: { type: 'object', properties: { limit: { type: 'number' } } },
    },
  ],
  messages: [QUESTION],
  effort: 'high',
  maxTokens: 4_000,
};

export function textOf(events: readonly ModelEvent[]): string {
  return events.reduce((text, event) => {
    if (event.type === 'withdrawn') return '';
    return event.type === 'text' ? text + event.delta : text;
  }, '');
}
