import type { Scenario } from '../../../playground/claude/scenario.ts';
import { createScriptedClaude, type ScriptedClaude } from '../../../playground/claude/scripted-claude.ts';
import { createAnthropicBackend } from '../../../src/llm/anthropic.ts';
import { createModelGateway, type ModelGateway, type RetryPolicy } from '../../../src/llm/gateway.ts';
import type { FinishedMessage, ModelEvent, ModelRequest, ModelTurn } from '../../../src/llm/types.ts';

/** A model client as the product builds it, in front of a scripted server. */
export interface Rig {
  readonly claude: ScriptedClaude;
  readonly gateway: ModelGateway;
  readonly events: ModelEvent[];
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
}

export async function startRig(scenario: Scenario, options: RigOptions = {}): Promise<Rig> {
  const claude = await createScriptedClaude({ scenario });
  const gateway = createModelGateway({
    backend: createAnthropicBackend({
      apiKey: 'sk-test',
      baseUrl: claude.url,
      ...(options.idleMs === undefined ? {} : { idleMs: options.idleMs }),
    }),
    ...(options.model === undefined ? {} : { model: options.model }),
    retry: { baseDelayMs: 1, ...options.retry },
  });
  const events: ModelEvent[] = [];
  return {
    claude,
    gateway,
    events,
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
