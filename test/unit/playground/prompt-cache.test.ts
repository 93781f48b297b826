import { describe, expect, it } from 'vitest';
import { createPromptCache } from '../../../playground/claude/prompt-cache.ts';
import type { MessagesRequest } from '../../../playground/claude/scenario.ts';

const MARK = { cache_control: { type: 'ephemeral' } };
const turn = (role: string, text: string, more = {}) => ({
  role,
  content: [{ type: 'text', text, ...more }],
});
/** Some 1,500 tokens of system text, marked, and these messages. */
const request = (messages: MessagesRequest['messages'], system = 'rule '.repeat(1_200)): MessagesRequest => ({
  model: 'claude-opus-5-5',
  max_tokens: 1,
  system: [{ type: 'text', text: system, ...MARK }],
  messages,
});

describe('the prompt cache of the scripted model', () => {
  it('gives what an earlier request wrote, and nothing to one that asks before its answer began', () => {
    const cache = createPromptCache();
    const asked = request([turn('user', 'one', MARK)]);
    const [first, beside] = [cache.use(asked), cache.use(asked)];
    first.write();
    beside.write();
    expect(first.usage.cache_read_input_tokens).toBe(0);
    expect(beside.usage).toEqual(first.usage);
    const again = cache.use(asked).usage;
    expect(again).toMatchObject({ input_tokens: 0, cache_creation_input_tokens: 0 });
    expect(again.cache_read_input_tokens).toBe(first.usage.cache_creation_input_tokens);
  });

  it('gives a longer conversation its prefix, byte for byte, and another one the system text alone', () => {
    const cache = createPromptCache();
    const first = cache.use(request([turn('user', 'one', MARK)]));
    first.write();
    const longer = [turn('user', 'one'), turn('assistant', 'said'), turn('user', 'two', MARK)];
    expect(cache.use(request(longer)).usage.cache_read_input_tokens).toBe(
      first.usage.cache_creation_input_tokens,
    );
    const other = cache.use(request([turn('user', 'One', MARK)])).usage.cache_read_input_tokens;
    expect(other).toBeGreaterThan(1_024);
    expect(other).toBeLessThan(first.usage.cache_creation_input_tokens);
  });

  it('keeps nothing that is shorter than its model caches', () => {
    const cache = createPromptCache();
    const asked = request([turn('user', 'one', MARK)], 'rule '.repeat(700));
    cache.use(asked).write();
    expect(cache.use(asked).usage).toMatchObject({
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    });
    // Opus 5 takes less.
    const smaller = { ...asked, model: 'claude-opus-5' };
    cache.use(smaller).write();
    expect(cache.use(smaller).usage.input_tokens).toBe(0);
  });
});
