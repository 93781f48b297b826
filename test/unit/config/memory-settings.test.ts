import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/config.ts';

const memoryWith = (env: Readonly<Record<string, string>>) => loadConfig(env).memory;

describe('settings of memory', () => {
  test('left out are on, 2,200 tokens, and people trusted', () => {
    expect(memoryWith({})).toMatchObject({ enabled: true, tokenBudget: 2_200, trustThreshold: 0.85 });
  });

  test.each([
    ['MEMORY_ENABLED', 'false', { enabled: false }],
    ['MEMORY_CONTEXT_TOKEN_BUDGET', '0', { tokenBudget: 0 }],
    ['MEMORY_TRUST_THRESHOLD', '1', { trustThreshold: 1 }],
    ['MEMORY_TRUST_THRESHOLD', '0.5', { trustThreshold: 0.5 }],
  ])('%s=%s is taken', (name, value, settings) => {
    expect(memoryWith({ [name]: value })).toMatchObject(settings);
  });

  // 0.45 is a draft: no setting may make one trusted.
  test.each([
    ['MEMORY_TRUST_THRESHOLD', '0.45'],
    ['MEMORY_TRUST_THRESHOLD', '1.1'],
    ['MEMORY_TRUST_THRESHOLD', 'high'],
    ['MEMORY_CONTEXT_TOKEN_BUDGET', '-1'],
    ['MEMORY_CONTEXT_TOKEN_BUDGET', 'many'],
    ['MEMORY_ENABLED', 'perhaps'],
  ])('%s=%s is refused by its name', (name, value) => {
    expect(() => memoryWith({ [name]: value })).toThrow(name);
  });
});
