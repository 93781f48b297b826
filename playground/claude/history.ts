import { type ApiProblem, invalid } from './api-error.ts';
import { fingerprint } from './fingerprint.ts';
import { blocksOf, type MessagesRequest, type RequestBlock } from './scenario.ts';

/** Remembers what was answered to which prefix, and refuses requests that rewrite the past. */
export interface History {
  /** A thinking signature for an answer to this request, bound to everything the request contains. */
  sign(request: MessagesRequest, salt: number): string;
  /** To be called when an answer was sent whole. */
  issued(request: MessagesRequest, content: readonly RequestBlock[], paused: boolean): void;
  check(request: MessagesRequest): ApiProblem | undefined;
  /** The request ends with an assistant turn that was paused, and so may be continued. */
  endsPaused(request: MessagesRequest): boolean;
}

/**
 * `strict` goes beyond the API, which checks only thinking blocks: every assistant turn must be one this server
 * sent, unchanged, after exactly the system, tools and messages it was an answer to.
 */
export function createHistory(strict: boolean): History {
  const answers = new Map<string, { prefixes: Set<string>; paused: boolean }>();

  return {
    sign: (request, salt) => `sig.${prefixOf(request, request.messages.length)}.${salt}`,
    issued(request, content, paused) {
      const entry = answers.get(contentKey(content)) ?? { prefixes: new Set<string>(), paused };
      entry.prefixes.add(prefixOf(request, request.messages.length));
      answers.set(contentKey(content), entry);
    },
    check(request) {
      for (const [index, message] of request.messages.entries()) {
        if (message.role !== 'assistant') continue;
        const prefix = prefixOf(request, index);
        const bound = checkThinking(blocksOf(message), prefix, index);
        if (bound !== undefined) return bound;
        if (!strict) continue;
        const entry = answers.get(contentKey(blocksOf(message)));
        if (entry === undefined) {
          return invalid(
            `messages.${index}: scripted server: this assistant turn was never sent, or was changed`,
          );
        }
        if (!entry.prefixes.has(prefix)) {
          return invalid(
            `messages.${index}: scripted server: what came before this assistant turn was changed`,
          );
        }
      }
      return undefined;
    },
    endsPaused(request) {
      const last = request.messages.at(-1);
      return last?.role === 'assistant' && (answers.get(contentKey(blocksOf(last)))?.paused ?? false);
    },
  };
}

function checkThinking(
  blocks: readonly RequestBlock[],
  prefix: string,
  index: number,
): ApiProblem | undefined {
  for (const [position, block] of blocks.entries()) {
    const signature = block.type === 'thinking' ? block['signature'] : block['data'];
    if (block.type !== 'thinking' && block.type !== 'redacted_thinking') continue;
    const where = `messages.${index}.content.${position}`;
    const bound = /^sig\.([0-9a-f]{64})\.\d+$/.exec(typeof signature === 'string' ? signature : '');
    if (bound === null) return invalid(`${where}: Invalid \`signature\` in \`thinking\` block`);
    if (bound[1] !== prefix)
      return invalid(`${where}: \`thinking\` block is bound to a different conversation`);
  }
  return undefined;
}

function prefixOf(request: MessagesRequest, until: number): string {
  return fingerprint(request.system, request.tools, request.messages.slice(0, until));
}

/** Key order and the nulls that the API fills in do not matter in an echoed answer; everything else does. */
function contentKey(content: readonly RequestBlock[]): string {
  return fingerprint(content.map(sorted));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== null)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
