import type Anthropic from '@anthropic-ai/sdk';
import { BYTES_PER_TOKEN, type Iteration, pricedModel, usageOf } from './message-usage.ts';
import { spentOn } from './pricing.ts';
import { NOTHING_SPENT, type Spent } from './types.ts';

/** What a message has used while it streams: the only account there is of one that never ends. */
export interface StreamedUsage {
  take(event: Anthropic.MessageStreamEvent): void;
  readonly iterations: readonly Iteration[];
  /** So far: input as the message began with, output as the server counted it last, or as much as was seen of it. */
  spent(asked: string): Spent;
}

export function createStreamedUsage(): StreamedUsage {
  let began: Anthropic.Message | undefined;
  let usage: Partial<Anthropic.Usage> = {};
  let iterations: readonly Iteration[] = [];
  let bytes = 0;

  return {
    get iterations() {
      return iterations;
    },
    take(event) {
      if (event.type === 'message_start') {
        began = event.message;
        usage = event.message.usage ?? {};
      }
      if (event.type === 'message_delta') {
        usage = { ...usage, ...given(event.usage) };
        iterations = iterationsOf(event.usage) ?? iterations;
        // The server's count covers all that came before it.
        bytes = 0;
      }
      if (event.type === 'content_block_delta') bytes += sizeOf(event.delta);
    },
    spent(asked) {
      if (began === undefined) return NOTHING_SPENT;
      const counted = usageOf(usage, iterations);
      const output = Math.max(counted.output, Math.ceil(bytes / BYTES_PER_TOKEN));
      return spentOn(pricedModel(began, asked), { ...counted, output });
    },
  };
}

/** Gateways leave numbers out, or null: that takes back nothing that was said before. */
function given(usage: Anthropic.MessageDeltaUsage | undefined): Partial<Anthropic.Usage> {
  return Object.fromEntries(Object.entries(usage ?? {}).filter(([, value]) => value != null));
}

/** A field of the beta, which the stable types leave out. */
function iterationsOf(
  usage: Anthropic.MessageDeltaUsage | undefined,
): readonly Iteration[] | null | undefined {
  return (usage as { readonly iterations?: readonly Iteration[] | null } | undefined)?.iterations;
}

/** Of the words, thoughts and tool inputs in it; a signature is none of them. Of kinds unknown here: nothing. */
function sizeOf(delta: Anthropic.RawContentBlockDelta): number {
  switch (delta.type) {
    case 'text_delta':
      return Buffer.byteLength(delta.text);
    case 'thinking_delta':
      return Buffer.byteLength(delta.thinking);
    case 'input_json_delta':
      return Buffer.byteLength(delta.partial_json);
    case 'citations_delta':
    case 'signature_delta':
    default:
      return 0;
  }
}
