import type { AttemptOptions } from './backend.ts';
import type { AssistantBlock } from './types.ts';

const OPEN = '<think>';
const CLOSE = '</think>';

/**
 * Takes thinking out of a text into which a gateway has folded it as `<think>…</think>`: it is shown while it comes, and
 * never sent back, since without its signature it is nothing but text of unknown origin.
 */
export function splitThinking(onEvent: AttemptOptions['onEvent']): {
  readonly take: (delta: string) => void;
  /** The text blocks, without the thinking. */
  readonly end: () => AssistantBlock[];
} {
  let pending = '';
  let thinking = false;
  let text = '';
  const give = (part: string): void => {
    if (part === '') return;
    if (!thinking) text += part;
    onEvent({ type: thinking ? 'thinking' : 'text', delta: part });
  };
  return {
    take(delta) {
      pending += delta;
      for (;;) {
        const tag = thinking ? CLOSE : OPEN;
        const at = pending.indexOf(tag);
        if (at < 0) break;
        give(pending.slice(0, at));
        pending = pending.slice(at + tag.length);
        thinking = !thinking;
      }
      // The end of what is here may be the beginning of a tag.
      const held = partOf(thinking ? CLOSE : OPEN, pending);
      give(pending.slice(0, pending.length - held));
      pending = pending.slice(pending.length - held);
    },
    end() {
      give(pending);
      const whole = text.trim();
      return whole === '' ? [] : [{ type: 'text', text: whole }];
    },
  };
}

function partOf(tag: string, text: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length--)
    if (text.endsWith(tag.slice(0, length))) return length;
  return 0;
}
