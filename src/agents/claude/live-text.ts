import { withoutMarks } from '../../core/model-words.ts';
import type { AgentEvent } from '../loop/types.ts';
import type { WordsKind } from '../ports.ts';

/**
 * What the live message shows of a model at work: the text it is writing, or, as current models put their words
 * between tool calls into thinking summaries, those until text comes.
 */
export function createLiveText(
  say: (words: string, kind: WordsKind) => void,
  unsay: () => void,
): { readonly on: (event: AgentEvent) => void } {
  const show = (words: string, kind: WordsKind): void => say(withoutMarks(words), kind);
  let text = '';
  let thinking = '';
  return {
    on(event) {
      switch (event.type) {
        case 'text':
          text += event.delta;
          show(text, 'writing');
          break;
        case 'thinking':
          thinking += event.delta;
          if (text === '') show(thinking, 'thought');
          break;
        case 'withdrawn':
          text = '';
          thinking = '';
          unsay();
          break;
        case 'message':
          if (text !== '') show(text, 'said');
          text = '';
          thinking = '';
          break;
        case 'summing_up':
          say('Summing up what was found so far.', 'writing');
          break;
        case 'tool_use_started':
        case 'retrying':
        case 'tool_started':
        case 'tool_finished':
          break;
      }
    },
  };
}
