import { describe, expect, it } from 'vitest';
import { modelInfo, playedModel } from '../../../playground/claude/models.ts';
import {
  createCapabilityCache,
  listedCapabilities,
  supportedEffort,
  tabledCapabilities,
} from '../../../src/llm/capabilities.ts';

describe('capabilities', () => {
  it.each([
    ['claude-opus-5-5', true, 5],
    ['claude-opus-4-7', true, 5],
    ['claude-sonnet-4-6', true, 4],
    ['claude-haiku-4-5-20251001', false, 0],
    ['claude-sonnet-4-5-20250929', false, 0],
    ['my-gateway-model', false, 0],
  ])('of %s are known without the API', (model, adaptiveThinking, efforts) => {
    const capabilities = tabledCapabilities(model);
    expect(capabilities.adaptiveThinking).toBe(adaptiveThinking);
    expect(capabilities.efforts).toHaveLength(efforts);
  });

  it('as the API lists them go before the table', () => {
    const haiku = playedModel('claude-haiku-4-5');
    const listed = listedCapabilities('claude-opus-5-5', modelInfo(haiku as never) as never);
    expect(listed).toMatchObject({
      adaptiveThinking: false,
      efforts: [],
      maxOutputTokens: 64_000,
      source: 'api',
    });
  });

  it('lower an effort the model does not have, and never raise it while there is a lower one', () => {
    const some = { ...tabledCapabilities('claude-opus-5-5'), efforts: ['medium', 'high'] as const };
    expect(supportedEffort('max', some)).toBe('high');
    expect(supportedEffort('high', some)).toBe('high');
    expect(supportedEffort('low', some)).toBe('medium');
    expect(supportedEffort('high', { ...some, efforts: [] })).toBeUndefined();
  });

  it('are asked for once, and again only some time after a failure', async () => {
    let asked = 0;
    let clock = 0;
    const cache = createCapabilityCache(
      () => {
        asked++;
        return Promise.reject(new Error('down'));
      },
      1_000,
      () => clock,
    );
    expect(await cache('claude-opus-5-5')).toMatchObject({ source: 'table', adaptiveThinking: true });
    await cache('claude-opus-5-5');
    expect(asked).toBe(1);
    clock = 1_001;
    await cache('claude-opus-5-5');
    expect(asked).toBe(2);
  });
});
