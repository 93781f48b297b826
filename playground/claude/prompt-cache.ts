import { canonical, fingerprint } from './fingerprint.ts';
import { playedModel } from './models.ts';
import { blocksOf, type MessagesRequest } from './scenario.ts';

/** Input tokens of one request, split as the API's `usage` splits them. */
export interface InputUsage {
  readonly input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
}

/** Four bytes a token: crude, but the same for prompt, cache and count_tokens, which is all the tests need. */
const BYTES_PER_TOKEN = 4;

/** How many blocks before a breakpoint the API looks for what was written earlier (prompt caching documentation). */
const LOOK_BACK = 20;

/** What a request finds, and what it leaves. */
export interface CacheUse {
  readonly usage: InputUsage;
  /** To be called when its answer begins: who asks before that finds nothing of it. */
  write(): void;
}

/**
 * Prompt caching by blocks in the API's order (tools, system, messages): a request reads the longest prefix that an
 * earlier one wrote at a breakpoint, no more than `LOOK_BACK` blocks before one of its own, and writes up to its own
 * last breakpoint. What is shorter than its model caches is not written. Expiry is not played.
 */
export function createPromptCache(): { use(request: MessagesRequest): CacheUse } {
  const written = new Set<string>();
  return {
    use(request) {
      const blocks = promptBlocks(request);
      const automatic = request['cache_control'] !== undefined;
      const marked = blocks.map((block, index) => block.marked || (automatic && index === blocks.length - 1));
      const lastMark = marked.lastIndexOf(true);
      const least = playedModel(request.model)?.minCachedTokens ?? 0;
      let key = request.model;
      let read = 0;
      let total = 0;
      let cached = 0;
      const fresh: string[] = [];
      for (const [index, block] of blocks.entries()) {
        key = fingerprint(key, block.value);
        total += block.tokens;
        if (index <= lastMark && total >= least) cached = total;
        const seen = marked.slice(index, index + LOOK_BACK + 1).includes(true);
        if (seen && written.has(key)) read = total;
        if (marked[index] && total >= least) fresh.push(key);
      }
      return {
        usage: {
          input_tokens: total - cached,
          cache_creation_input_tokens: Math.max(0, cached - read),
          cache_read_input_tokens: read,
        },
        write: () => {
          for (const each of fresh) written.add(each);
        },
      };
    },
  };
}

/** Tokens of a whole prompt, for `count_tokens` and the context limit. */
export function countTokens(request: MessagesRequest): number {
  return promptBlocks(request).reduce((sum, block) => sum + block.tokens, 0);
}

function promptBlocks(request: MessagesRequest): { value: unknown; tokens: number; marked: boolean }[] {
  const system = typeof request.system === 'string' ? [request.system] : (request.system ?? []);
  const messages = request.messages.flatMap((message) =>
    blocksOf(message).map((block) => ({ role: message.role, block })),
  );
  const raw: unknown[] = [...(request.tools ?? []), ...system, ...messages];
  return raw.map((value) => {
    return {
      value,
      // Without its breakpoint, which the model does not read.
      tokens: Math.ceil(Buffer.byteLength(canonical(value)) / BYTES_PER_TOKEN),
      marked: JSON.stringify(value).includes('"cache_control"'),
    };
  });
}
