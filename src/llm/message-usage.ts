import type Anthropic from '@anthropic-ai/sdk';
import { priceOf } from './pricing.ts';
import { addUsage, type TokenUsage } from './types.ts';

/** One pass over the model within a request, as `usage.iterations` lists them. */
export interface Iteration extends Partial<Anthropic.Usage> {
  readonly type: string;
}

/**
 * What a message used. Gateways leave numbers out; a missing one must not make the cost of an incident unknown. What a
 * compaction used stands in `iterations` alone, not in the totals.
 */
export function usageOf(
  usage: Partial<Anthropic.Usage> | undefined,
  iterations: readonly Iteration[] = [],
): TokenUsage {
  return iterations
    .filter(({ type }) => type === 'compaction')
    .map(counted)
    .reduce(addUsage, counted(usage));
}

function counted(usage: Partial<Anthropic.Usage> | undefined): TokenUsage {
  const written = tokens(usage?.cache_creation_input_tokens);
  const written1h = Math.min(written, tokens(usage?.cache_creation?.ephemeral_1h_input_tokens));
  return {
    input: tokens(usage?.input_tokens),
    cacheWrite5m: written - written1h,
    cacheWrite1h: written1h,
    cacheRead: tokens(usage?.cache_read_input_tokens),
    output: tokens(usage?.output_tokens),
    thinking: tokens(usage?.output_tokens_details?.thinking_tokens),
  };
}

/** What is no number of tokens counts nothing: nobody is paid back by a server that counts below zero. */
export function tokens(count: unknown): number {
  return Number.isSafeInteger(count) ? Math.max(0, count as number) : 0;
}

/** A little pessimistic for English and JSON. */
export const BYTES_PER_TOKEN = 4;

/** For servers that have no way to count. */
export function estimatedTokens(body: object): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(body)) / BYTES_PER_TOKEN);
}

/** Gateways name models their own way; what is charged is then the model that was asked for. */
export function pricedModel({ model }: Partial<Pick<Anthropic.Message, 'model'>>, asked: string): string {
  return model !== undefined && priceOf(model) !== undefined ? model : asked;
}
