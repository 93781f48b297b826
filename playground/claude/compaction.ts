import type { IncomingHttpHeaders } from 'node:http';
import { type ApiProblem, invalid } from './api-error.ts';
import { playedModel } from './models.ts';
import { blocksOf, type MessagesRequest, type RequestBlock, type RequestMessage } from './scenario.ts';

const BETA = 'compact-2026-09-04';

/** Summaries that were handed out, and what each stands for. */
export interface Compactions {
  check(request: MessagesRequest, headers: IncomingHttpHeaders): ApiProblem | undefined;
  /** The conversation with the messages that its block sums up in the block's place. */
  expand(request: MessagesRequest): MessagesRequest;
  /** The signature of a summary of all of an expanded request's messages. */
  sign(request: MessagesRequest, content: string): string;
}

/** Compaction on demand as the API's guide describes it (build-with-claude/compaction-on-demand, 2026-11). */
export function createCompactions(): Compactions {
  const made = new Map<string, { readonly content: string; readonly messages: readonly RequestMessage[] }>();
  return {
    check(request, headers) {
      const known = String(headers['anthropic-beta'] ?? '').includes(BETA);
      return (
        checkBlock(request, known, (signature) => made.get(signature)?.content) ?? checkAsked(request, known)
      );
    },
    expand(request) {
      const [first, ...later] = request.messages;
      const [block, ...rest] = first === undefined ? [] : blocksOf(first);
      const before = made.get(String(block?.['signature']));
      if (first === undefined || block?.type !== 'compaction' || before === undefined) return request;
      const own = rest.length === 0 ? [] : [{ ...first, content: rest }];
      return { ...request, messages: [...before.messages, ...own, ...later] };
    },
    sign(request, content) {
      const signature = `summary.${made.size + 1}`;
      made.set(signature, { content, messages: request.messages });
      return signature;
    },
  };
}

export const isCompaction = (request: MessagesRequest): boolean => request['compaction'] !== undefined;

function checkBlock(
  request: MessagesRequest,
  betaKnown: boolean,
  contentOf: (signature: string) => string | undefined,
): ApiProblem | undefined {
  const found = request.messages.flatMap((message, index) =>
    blocksOf(message).flatMap((block, at) => (block.type === 'compaction' ? [{ block, index, at }] : [])),
  );
  const [first] = found;
  if (first === undefined) return undefined;
  const { block, index, at } = first;
  const where = `messages.${index}.content.${at}`;
  if (!betaKnown)
    return invalid(
      `${where}: Input tag 'compaction' found using 'type' does not match any of the expected tags`,
    );
  if (found.length > 1)
    return invalid('messages: more than one `compaction` block', 'compaction_block_ambiguous');
  if (index + at > 0)
    return invalid(`${where}: a \`compaction\` block must come first`, 'compaction_block_misplaced');
  return checkSigned(block, where, contentOf(String(block['signature'])));
}

function checkSigned(
  block: RequestBlock,
  where: string,
  content: string | undefined,
): ApiProblem | undefined {
  const stray = Object.keys(block).find(
    (name) => !['type', 'content', 'signature', 'cache_control'].includes(name),
  );
  if (stray !== undefined) return invalid(`${where}.compaction.${stray}: Extra inputs are not permitted`);
  if (content === undefined)
    return invalid(`${where}: the signature does not verify`, 'compaction_signature_invalid');
  return block['content'] === content
    ? undefined
    : invalid(`${where}: the content was changed`, 'compaction_content_mismatch');
}

/** What a request for a summary may not have besides. */
function checkAsked(request: MessagesRequest, betaKnown: boolean): ApiProblem | undefined {
  if (!isCompaction(request)) return undefined;
  const { type, instructions = '' } = request['compaction'] as { type?: string; instructions?: string };
  if (!betaKnown) return invalid(`compaction: requires anthropic-beta: ${BETA}`);
  if (playedModel(request.model)?.compacts !== true)
    return invalid(`compaction: not supported by ${request.model}`);
  if (type !== 'summarize') return invalid("compaction.type: Input should be 'summarize'");
  if (instructions.length > 16_384)
    return invalid('compaction.instructions: String should have at most 16384 characters');
  const choice = (request['tool_choice'] as { type?: string } | undefined)?.type;
  const stray =
    (choice === 'any' || choice === 'tool' ? 'tool_choice' : undefined) ??
    ['stop_sequences', 'context_management'].find((name) => request[name] !== undefined);
  return stray === undefined ? undefined : invalid(`${stray}: cannot be combined with compaction`);
}

/** What the server writes where a scenario says nothing of it: the words that were said, and how much there was. */
export function plainSummary({ messages }: MessagesRequest): string {
  const said = messages.flatMap((message) =>
    message.role === 'assistant'
      ? blocksOf(message).flatMap((block) =>
          block.type === 'text' || block.type === 'compaction'
            ? [String(block['text'] ?? block['content'])]
            : [],
        )
      : [],
  );
  return `Summary of ${messages.length} messages. Said so far: ${said.join(' ') || 'nothing'}`;
}
