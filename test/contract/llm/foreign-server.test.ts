import { afterEach, describe, expect, it } from 'vitest';
import { createAnthropicBackend } from '../../../src/llm/anthropic.ts';
import { createModelGateway } from '../../../src/llm/gateway.ts';
import { type ForeignClaude, startForeignClaude } from '../../support/foreign-claude.ts';
import { REQUEST } from './support.ts';

let server: ForeignClaude;
afterEach(() => server.close());

describe('a Messages API that does only the least', () => {
  it.each(['', '/', '/v1', '/v1/'])(
    'is understood with "%s" behind its URL: its key header, no model list, no usage numbers, a model name without a price',
    async (end) => {
      server = await startForeignClaude(() => [
        { text: 'Looking.' },
        { tool: 'pg_blocking', id: 'toolu_1', input: { limit: 5 } },
      ]);
      const gateway = createModelGateway({
        backend: createAnthropicBackend({ apiKey: 'sk-test', baseUrl: `${server.url}${end}` }),
      });
      const ask = () =>
        gateway.stream(REQUEST, {
          signal: new AbortController().signal,
          deadlineMs: 10_000,
          onEvent: () => undefined,
        });
      expect(await ask()).toMatchObject({
        text: 'Looking.',
        toolUses: [{ id: 'toolu_1', name: 'pg_blocking', input: { limit: 5 } }],
        stop: { kind: 'tool_use' },
        usage: { input: 0, output: 0 },
        usd: 0,
      });
      await ask();
      expect(server.requests).toHaveLength(2);
    },
  );
});
