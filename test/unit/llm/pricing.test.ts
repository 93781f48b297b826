import { describe, expect, it } from 'vitest';
import { priceOf, usdOf } from '../../../src/llm/pricing.ts';
import { NO_USAGE } from '../../../src/llm/types.ts';

const MILLION = 1_000_000;

describe('prices', () => {
  it('charge every kind of token at its own rate', () => {
    expect(usdOf('claude-opus-5-5', { ...NO_USAGE, input: MILLION })).toBeCloseTo(4);
    expect(usdOf('claude-opus-5-5', { ...NO_USAGE, cacheWrite5m: MILLION })).toBeCloseTo(5);
    expect(usdOf('claude-opus-5-5', { ...NO_USAGE, cacheWrite1h: MILLION })).toBeCloseTo(8);
    expect(usdOf('claude-opus-5-5', { ...NO_USAGE, cacheRead: MILLION })).toBeCloseTo(0.2);
    expect(usdOf('claude-opus-5-5', { ...NO_USAGE, output: MILLION })).toBeCloseTo(20);
  });

  it('do not charge thinking twice: it is part of the output', () => {
    expect(usdOf('claude-opus-5-5', { ...NO_USAGE, output: 100, thinking: 90 })).toBe(
      usdOf('claude-opus-5-5', { ...NO_USAGE, output: 100 }),
    );
  });

  it('step up for long prompts where the model has such a tariff', () => {
    expect(usdOf('claude-haiku-5-5', { ...NO_USAGE, input: 100_000 })).toBeCloseTo(0.01);
    expect(usdOf('claude-haiku-5-5', { ...NO_USAGE, input: 60_000, cacheRead: 60_000 })).toBeCloseTo(0.033);
  });

  it('are found for dated and Bedrock ids, and unknown for others rather than guessed', () => {
    expect(priceOf('claude-opus-4-5-20251101')).toBe(priceOf('claude-opus-4-5'));
    expect(priceOf('us.anthropic.claude-opus-5-5')).toBe(priceOf('claude-opus-5-5'));
    expect(usdOf('claude-unheard-of', { ...NO_USAGE, input: MILLION })).toBeNull();
  });
});
