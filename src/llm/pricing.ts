import type { Spent, TokenUsage } from './types.ts';

/** US dollars per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  readonly cacheRead: number;
  /** Another tariff for prompts above this many input tokens. */
  readonly above?: { readonly tokens: number; readonly price: Omit<Price, 'above'> };
}

const OPUS_5: Price = {
  input: 5,
  output: 25,
  cacheWrite5m: 6.25,
  cacheWrite1h: 10,
  cacheRead: 0.5,
};

const SONNET_5: Price = {
  input: 2,
  output: 10,
  cacheWrite5m: 2.5,
  cacheWrite1h: 4,
  cacheRead: 0.2,
};

/**
 * List prices by model id, dated suffixes aside, checked on 2026-11-21. Sources: https://platform.claude.com/docs/en/about-claude/pricing
 * and the model pages; what only trackers of third parties say is marked “by trackers”. Batch and fast tariffs are not used here.
 */
const PRICES: Readonly<Record<string, Price>> = {
  'claude-opus-5-5': {
    input: 4,
    output: 20,
    cacheWrite5m: 5,
    cacheWrite1h: 8,
    cacheRead: 0.2,
  },
  'claude-opus-5': OPUS_5,
  'claude-opus-4-8': OPUS_5,
  'claude-opus-4-7': OPUS_5,
  'claude-opus-4-6': OPUS_5,
  'claude-opus-4-5': OPUS_5,
  'claude-fable-5-1': {
    input: 10,
    output: 50,
    cacheWrite5m: 12.5,
    cacheWrite1h: 20,
    cacheRead: 0.25,
  },
  // By trackers. The 1-hour write is not published; twice the input price, as for every other model here.
  'claude-fable-5-2': {
    input: 8,
    output: 40,
    cacheWrite5m: 10,
    cacheWrite1h: 16,
    cacheRead: 0.2,
  },
  // The model page still says 0.20 for reads; two trackers report the cut of 2026-10-07. The dearer one is charged.
  'claude-sonnet-5-5': SONNET_5,
  'claude-sonnet-5': SONNET_5,
  // By trackers.
  'claude-haiku-5-5': {
    input: 0.1,
    output: 0.5,
    cacheWrite5m: 0.125,
    cacheWrite1h: 0.2,
    cacheRead: 0.01,
    above: {
      tokens: 100_000,
      price: {
        input: 0.5,
        output: 2.5,
        cacheWrite5m: 0.625,
        cacheWrite1h: 1,
        cacheRead: 0.05,
      },
    },
  },
};

/** The price of a model; dated ids (`claude-opus-4-5-20251101`) and Bedrock ids (`us.anthropic.claude-…-v1:0`) are understood. */
export function priceOf(model: string): Price | undefined {
  const id = model.replace(/^.*anthropic\./, '').replace(/(-\d{8}.*|-v\d+(:\d+)?)$/, '');
  return PRICES[id];
}

/** US dollars for one request, unrounded; null when the model's price is not known. */
export function usdOf(model: string, usage: TokenUsage): number | null {
  const listed = priceOf(model);
  if (listed === undefined) return null;
  const prompt = usage.input + usage.cacheWrite5m + usage.cacheWrite1h + usage.cacheRead;
  const price = listed.above !== undefined && prompt > listed.above.tokens ? listed.above.price : listed;
  return (
    (usage.input * price.input +
      usage.cacheWrite5m * price.cacheWrite5m +
      usage.cacheWrite1h * price.cacheWrite1h +
      usage.cacheRead * price.cacheRead +
      usage.output * price.output) /
    1_000_000
  );
}

/**
 * US dollars that one request may cost at most: nothing of it read from the cache, all of it written there, and every
 * output token used. A model without a price is charged like the dearest one.
 */
export function upperBoundUsd(
  model: string,
  tokens: { readonly input: number; readonly output: number },
): number {
  const listed = priceOf(model);
  const prices = listed === undefined ? Object.values(PRICES) : [listed];
  const tariffs = prices.flatMap((price) =>
    price.above === undefined ? [price] : [price, price.above.price],
  );
  return Math.max(
    ...tariffs.map(
      ({ input, cacheWrite5m, output }) =>
        (tokens.input * Math.max(input, cacheWrite5m) + tokens.output * output) / 1_000_000,
    ),
  );
}

/** What a request has cost, that of a model without a price as much as it can. */
export function spentOn(model: string, usage: TokenUsage): Spent {
  return { usage, usd: usdOf(model, usage) ?? maxPriceUsd(usage) };
}

/** What a request of a model without a price is charged: as if it were the dearest one, so that no budget is blind to it. */
export function maxPriceUsd(usage: TokenUsage): number {
  return Math.max(...Object.keys(PRICES).map((model) => usdOf(model, usage) ?? 0));
}
