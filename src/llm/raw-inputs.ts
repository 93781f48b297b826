import type Anthropic from '@anthropic-ai/sdk';
import { isObject, jsonOf } from '../core/json-of.ts';

/**
 * Keeps the text of every tool input as it was streamed. The SDK's own parser is lenient: an input that breaks off
 * (`{"limit":`) comes out of it as `{}`, which looks like a call the model never made.
 */
export function createRawInputs(): {
  readonly take: (event: Anthropic.MessageStreamEvent) => void;
  /** True when every tool input is one whole JSON object, or was left empty. */
  readonly whole: () => boolean;
} {
  const texts = new Map<number, string>();
  return {
    take(event) {
      if (event.type !== 'content_block_delta' || event.delta.type !== 'input_json_delta') return;
      texts.set(event.index, (texts.get(event.index) ?? '') + event.delta.partial_json);
    },
    whole: () => [...texts.values()].every((text) => text === '' || isObject(jsonOf(text))),
  };
}
