/** What `GET /v1/models/:id` says of the models this server plays, and which parameters each refuses. */

export interface PlayedModel {
  readonly id: string;
  readonly thinking: { readonly adaptive: boolean; readonly enabled: boolean; readonly disabled: boolean };
  readonly efforts: readonly string[];
  readonly maxInputTokens: number;
  readonly maxOutputTokens: number;
  /** A shorter prompt is not cached. */
  readonly minCachedTokens: number;
  /** Sums a conversation up on demand. */
  readonly compacts: boolean;
  /** `tool_choice` any/tool answers 400. */
  readonly refusesForcedTools: boolean;
  /** `temperature`, `top_p`, `top_k` answer 400. */
  readonly refusesSampling: boolean;
}

const ALL_EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;

/** Source: the model table checked 2026-11 (thinking types, effort levels, context and output limits). */
const PLAYED: readonly PlayedModel[] = [
  always('claude-opus-5-5'),
  always('claude-fable-5-1'),
  { ...always('claude-sonnet-5-5'), efforts: ALL_EFFORTS },
  {
    ...always('claude-opus-5'),
    minCachedTokens: 512,
    thinking: { adaptive: true, enabled: false, disabled: true },
    refusesForcedTools: false,
  },
  {
    id: 'claude-haiku-4-5',
    thinking: { adaptive: false, enabled: true, disabled: true },
    efforts: [],
    maxInputTokens: 200_000,
    maxOutputTokens: 64_000,
    minCachedTokens: 4_096,
    compacts: false,
    refusesForcedTools: false,
    refusesSampling: false,
  },
];

function always(id: string): PlayedModel {
  return {
    id,
    thinking: { adaptive: true, enabled: false, disabled: false },
    efforts: ALL_EFFORTS,
    maxInputTokens: 1_000_000,
    maxOutputTokens: 128_000,
    // Not published for the newest: the most that their predecessors ask for (Sonnet 5; Opus 5 and Fable 5 cache from 512 on).
    minCachedTokens: 1_024,
    compacts: true,
    refusesForcedTools: true,
    refusesSampling: true,
  };
}

/** By Anthropic's id or Bedrock's (`us.anthropic.…-v1:0`). */
export function playedModel(id: string): PlayedModel | undefined {
  const own = id.replace(/^.*anthropic\./, '').replace(/-v\d+(:\d+)?$/, '');
  return PLAYED.find((model) => model.id === own);
}

const support = (supported: boolean) => ({ supported });

/** The body of `GET /v1/models/:id`; `compaction` is there only when its beta was asked for. */
export function modelInfo(model: PlayedModel, compaction?: boolean): object {
  const efforts = Object.fromEntries(
    ALL_EFFORTS.map((level) => [level, support(model.efforts.includes(level))]),
  );
  return {
    type: 'model',
    id: model.id,
    display_name: model.id,
    created_at: '2026-09-30T00:00:00Z',
    deprecated_at: null,
    lifecycle: 'active',
    line: model.id.split('-')[1] ?? null,
    retires_at: null,
    max_input_tokens: model.maxInputTokens,
    max_tokens: model.maxOutputTokens,
    capabilities: {
      batch: support(true),
      citations: support(true),
      code_execution: support(true),
      ...(compaction === undefined
        ? {}
        : { compaction: compaction ? { ...support(true), summarize: support(true) } : null }),
      context_management: {
        ...support(true),
        clear_thinking_20251015: support(true),
        clear_tool_uses_20250919: support(true),
        compact_20260112: support(true),
      },
      effort: { ...support(model.efforts.length > 0), ...efforts },
      image_input: support(true),
      pdf_input: support(true),
      server_tools: { ...support(true), code_execution: support(true), web_search: support(true) },
      structured_outputs: support(true),
      thinking: {
        ...support(true),
        types: {
          adaptive: support(model.thinking.adaptive),
          enabled: support(model.thinking.enabled),
          disabled: support(model.thinking.disabled),
          between_tools: support(false),
        },
      },
    },
  };
}
