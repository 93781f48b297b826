import { isCompacted } from '../../llm/compaction.ts';
import type { ModelTurn, UserBlock } from '../../llm/types.ts';

/** Characters of one result in the summary: its first lines say what was found. */
const OF_A_RESULT = 300;
/** The same of the results that the model has not answered to yet. */
const OF_A_NEW_RESULT = 3_000;
/** Characters of what people and memory said on the way. */
const OF_NOTES = 4_000;
/** Characters of what the model said last. */
const OF_ITS_WORDS = 2_000;

/** What was asked of a tool and how its answer began, which names the id that it is on record with. */
export interface PastCall {
  readonly tool: unknown;
  readonly input: unknown;
  readonly result: string;
}

/**
 * The history in short, for a new one to begin with: what it was about, word for word, each call with the id its output
 * is on record with, and what the model said last. Made by code, so that nothing in it is made up, and a fresh history,
 * because an edited one would invalidate what the model thought.
 *
 * @param past calls that a server's summary has taken out of the history
 */
export function compacted(
  messages: readonly ModelTurn[],
  prompt: string,
  past: readonly PastCall[] = [],
): ModelTurn {
  const [first] = messages;
  const about = first?.role === 'user' ? first.content : [textBlock(prompt)];
  const said = messages.flatMap((turn) =>
    turn.role === 'assistant'
      ? turn.content.flatMap((block) => (block.type === 'text' ? [String(block['text'])] : []))
      : [],
  );
  const notes = messages
    .slice(1)
    .flatMap((turn) =>
      turn.role === 'user'
        ? turn.content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
        : [],
    )
    // What stands in the summary anyway.
    .filter((text) => text !== prompt && !text.startsWith('<work_so_far>'));
  const written = first?.role === 'assistant' ? first.content[0]?.['content'] : undefined;
  const summary = {
    ...(isCompacted(messages) ? { you_wrote_earlier: written } : {}),
    calls: [...(isCompacted(messages) ? past : []), ...callsOf(messages, messages.at(-1))],
    you_said_last: said.join('\n').slice(-OF_ITS_WORDS),
    you_were_told: notes.join('\n').slice(-OF_NOTES),
  };
  const note = `Your work so far was too long to be kept whole. This is what you did, with the first lines of each result; whole outputs are found again by their ids.`;
  return { role: 'user', content: [...about, textBlock(`${workSoFar(summary)}\n\n${note}`)] };
}

/**
 * What stands beside a summary that the model has written itself: what it is about, word for word, and the calls that
 * are no longer in the history, by code, so that no id of evidence depends on the summary.
 */
export function summaryContext(prompt: string, past: readonly PastCall[]): UserBlock[] {
  const note = `Your work so far was too long to be kept whole: your summary of it comes first. These are the calls it covers, with the first lines of each result; whole outputs are found again by their ids.`;
  return [textBlock(prompt), textBlock(`${workSoFar({ calls: past })}\n\n${note}`)];
}

function workSoFar(data: object): string {
  const quoted = JSON.stringify(data, null, 1).replaceAll('<', '\\u003c');
  return `<work_so_far>\n${quoted}\n</work_so_far>`;
}

function textBlock(text: string): UserBlock {
  return { type: 'text', text };
}

/** All calls of a history, oldest first; more of the results in `fresh`. */
export function callsOf(messages: readonly ModelTurn[], fresh?: ModelTurn): PastCall[] {
  const results = new Map<string, string>();
  for (const turn of messages)
    for (const block of turn.role === 'user' ? turn.content : [])
      if (block.type === 'tool_result') {
        const room = turn === fresh ? OF_A_NEW_RESULT : OF_A_RESULT;
        results.set(block.tool_use_id, block.content.slice(0, room));
      }
  return messages.flatMap((turn) =>
    turn.role === 'assistant'
      ? turn.content.flatMap((block) => {
          if (block.type !== 'tool_use') return [];
          const result = results.get(String(block['id'])) ?? '';
          return [{ tool: block['name'], input: block['input'], result }];
        })
      : [],
  );
}
