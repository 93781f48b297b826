import type { Effort } from './types.ts';

/** What a model accepts, as far as requests here depend on it. */
export interface ModelCapabilities {
  readonly adaptiveThinking: boolean;
  /** From the weakest to the strongest; empty when the model has no effort dial. */
  readonly efforts: readonly Effort[];
  readonly maxOutputTokens: number;
  readonly maxInputTokens: number;
  /** Sums a conversation up on demand. */
  readonly compaction: boolean;
  /** `table`: the API could not be asked. */
  readonly source: 'api' | 'table';
}

const EFFORTS: readonly Effort[] = ['low', 'medium', 'high', 'xhigh', 'max'];

/** Current models: thinking adaptive, every effort, 1M context, 128k output (model pages, 2026-11). */
const CURRENT: ModelCapabilities = {
  adaptiveThinking: true,
  efforts: EFFORTS,
  maxOutputTokens: 128_000,
  maxInputTokens: 1_000_000,
  compaction: true,
  source: 'table',
};

const OLDER: ModelCapabilities = {
  adaptiveThinking: true,
  efforts: ['low', 'medium', 'high', 'max'],
  maxOutputTokens: 64_000,
  maxInputTokens: 200_000,
  compaction: true,
  source: 'table',
};

/** Sends nothing a model could refuse; right for 4.5 models and a safe guess for unknown ones. */
const PLAIN: ModelCapabilities = {
  adaptiveThinking: false,
  efforts: [],
  maxOutputTokens: 32_000,
  maxInputTokens: 200_000,
  compaction: false,
  source: 'table',
};

/** For when the API cannot be asked: by the model's line and version, newest first. */
export function tabledCapabilities(model: string): ModelCapabilities {
  const version = /claude-(opus|sonnet|haiku|fable|mythos)-(\d+)(?:-(\d)(?!\d))?/.exec(model);
  if (version === null) return PLAIN;
  const number = Number(version[2]) + Number(version[3] ?? 0) / 10;
  if (number >= 5) return CURRENT;
  if (version[1] === 'opus' && number >= 4.7) return { ...OLDER, efforts: EFFORTS, maxOutputTokens: 128_000 };
  return number >= 4.6 ? OLDER : PLAIN;
}

/** The strongest effort the model has that is not above the wanted one; undefined when it has none to set. */
export function supportedEffort(wanted: Effort, capabilities: ModelCapabilities): Effort | undefined {
  const ceiling = EFFORTS.indexOf(wanted);
  const usable = capabilities.efforts.filter((effort) => EFFORTS.indexOf(effort) <= ceiling);
  return usable.at(-1) ?? capabilities.efforts[0];
}

/** Shape of the API's `capabilities`, only what is read here. */
interface ListedModel {
  readonly max_tokens: number | null;
  readonly max_input_tokens: number | null;
  readonly capabilities: {
    readonly thinking: { readonly types: { readonly adaptive: { readonly supported: boolean } } };
    readonly effort: { readonly supported: boolean } & {
      readonly [level in Effort]: { readonly supported: boolean } | null;
    };
    readonly compaction?: { readonly summarize: { readonly supported: boolean } } | null;
  } | null;
}

/** Reads `GET /v1/models/:id`; gaps in the answer are filled from the table. */
export function listedCapabilities(model: string, info: ListedModel): ModelCapabilities {
  const tabled = tabledCapabilities(model);
  const listed = info.capabilities;
  const effort = listed?.effort;
  return {
    adaptiveThinking: listed?.thinking?.types?.adaptive?.supported ?? tabled.adaptiveThinking,
    efforts:
      effort === undefined
        ? tabled.efforts
        : EFFORTS.filter((level) => effort.supported && (effort[level]?.supported ?? false)),
    maxOutputTokens: info.max_tokens ?? tabled.maxOutputTokens,
    maxInputTokens: info.max_input_tokens ?? tabled.maxInputTokens,
    // `null` is an answer: the model has none.
    compaction:
      listed?.compaction === undefined ? tabled.compaction : listed.compaction?.summarize?.supported === true,
    source: 'api',
  };
}

/**
 * Asks once per model and remembers the answer; a failed look-up is answered from the table and tried again after
 * `retryAfterMs` (a wrong guess for minutes is better than a look-up in front of every message).
 */
export function createCapabilityCache(
  lookUp: (model: string) => Promise<ModelCapabilities>,
  retryAfterMs = 300_000,
  now: () => number = () => performance.now(),
): (model: string) => Promise<ModelCapabilities> {
  const known = new Map<string, { readonly answer: Promise<ModelCapabilities>; readonly until: number }>();
  return (model) => {
    const remembered = known.get(model);
    if (remembered !== undefined && now() < remembered.until) return remembered.answer;
    const answer = lookUp(model).catch(() => {
      known.set(model, { answer, until: now() + retryAfterMs });
      return tabledCapabilities(model);
    });
    known.set(model, { answer, until: Number.POSITIVE_INFINITY });
    return answer;
  };
}
