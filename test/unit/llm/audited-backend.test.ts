import { expect, test } from 'vitest';
import type { Json } from '../../../src/core/tool-call.ts';
import { auditedBackend } from '../../../src/llm/audited-backend.ts';
import type { AttemptRequest, ModelBackend } from '../../../src/llm/backend.ts';
import { LlmError } from '../../../src/llm/llm-error.ts';
import { NO_USAGE } from '../../../src/llm/types.ts';

const request: AttemptRequest = {
  model: 'claude-opus-5-5',
  system: 'You are on call.',
  tools: [],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'the shop is down' }] }],
  effort: 'low',
  maxTokens: 100,
};
const options = { signal: new AbortController().signal, timeoutMs: 1_000, onEvent: () => undefined };
const backend = (attempt: ModelBackend['attempt']): ModelBackend => ({
  name: 'direct',
  attempt,
  countTokens: async () => 1,
});
const answering = backend(async () => ({
  content: [{ type: 'text', text: 'a lock' }],
  stop: { kind: 'end_turn' } as never,
  model: 'claude-opus-5-5',
  requestId: 'req_1',
  usage: { ...NO_USAGE, input: 1_000_000, output: 100 },
}));

function listening() {
  const entries: { readonly kind: string; readonly details: Json }[] = [];
  return {
    entries,
    audit: {
      append: async (entry: { readonly kind: string; readonly details: Json }) => void entries.push(entry),
    },
  };
}

test('a call is on record with hashes and cost, and none of its words', async () => {
  const { entries, audit } = listening();
  const audited = auditedBackend(answering, audit);
  await audited.attempt(request, options);
  await audited.attempt({ ...request, system: 'You are not.' }, options);
  expect(entries[0]).toMatchObject({
    kind: 'model.called',
    details: { by: 'direct', model: 'claude-opus-5-5', requestId: 'req_1', usd: 4.002 },
  });
  const [one, two] = entries.map(({ details }) => details as { asked: string; answered: string });
  expect(one?.asked).toMatch(/^[0-9a-f]{64}$/);
  expect(two?.asked).not.toBe(one?.asked);
  expect(two?.answered).toBe(one?.answered);
  expect(JSON.stringify(entries)).not.toMatch(/shop|on call|lock/);
});

test('a failed call is on record with its code', async () => {
  const { entries, audit } = listening();
  const failing = backend(() => Promise.reject(new LlmError('LLM_OVERLOADED', 'busy: the shop is down')));
  await expect(auditedBackend(failing, audit).attempt(request, options)).rejects.toMatchObject({
    code: 'LLM_OVERLOADED',
  });
  expect(entries).toMatchObject([{ kind: 'model.called', details: { failed: 'LLM_OVERLOADED' } }]);
  expect(JSON.stringify(entries)).not.toContain('shop');
});

test('an answer that cannot be put on record is not given on', async () => {
  const audit = { append: () => Promise.reject(new Error('the disk is full')) };
  await expect(auditedBackend(answering, audit).attempt(request, options)).rejects.toThrow(
    'the disk is full',
  );
});
