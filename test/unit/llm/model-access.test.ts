import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/config.ts';
import { createBackend, modelName } from '../../../src/llm/create-backend.ts';

const BEDROCK = { SENTRY_MODEL_BACKEND: 'bedrock', AWS_REGION: 'eu-central-1' };

describe('the way to the model', () => {
  it.each([
    ['none without a key', {}, null, null],
    ['direct with a key', { ANTHROPIC_API_KEY: 'k' }, 'anthropic', 'claude-opus-5-5'],
    ['direct with a server of one’s own', { ANTHROPIC_BASE_URL: 'http://x' }, 'anthropic', 'claude-opus-5-5'],
    ['Bedrock', { ...BEDROCK, AWS_BEARER_TOKEN_BEDROCK: 't' }, 'bedrock', 'anthropic.claude-opus-5-5'],
    ['Bedrock, signed', BEDROCK, 'bedrock', 'anthropic.claude-opus-5-5'],
    [
      'the access gateway',
      {
        SENTRY_MODEL_BACKEND: 'access-gateway',
        ANTHROPIC_BASE_URL: 'http://x/api/v1',
        SENTRY_MODEL: 'eu.anthropic.claude-opus-4-6-v1:0',
      },
      'access-gateway',
      'eu.anthropic.claude-opus-4-6-v1:0',
    ],
  ])('is %s', (_, env, name, model) => {
    const { llm, model: wanted } = loadConfig(env);
    expect(llm && createBackend(llm).name).toBe(name);
    if (llm) expect(modelName(llm, wanted)).toBe(model);
  });

  it.each([
    [{ SENTRY_MODEL_BACKEND: 'bedrock' }, /AWS_REGION/],
    [{ SENTRY_MODEL_BACKEND: 'access-gateway' }, /ANTHROPIC_BASE_URL/],
    [{ SENTRY_MODEL_BACKEND: 'gpt' }, /SENTRY_MODEL_BACKEND/],
  ])('%o is refused with what is missing', (env, message) => {
    expect(() => loadConfig(env as Record<string, string>)).toThrow(message);
  });
});
