import type { ModelTurn } from '../../llm/types.ts';

/** Characters of one result in the summary: its first lines say what was found. */
const OF_A_RESULT = 300;
/** The same of the results that the model has not answered to yet. */
const OF_A_NEW_RESULT = 3_000;
/** Characters of what people and memory said on the way. */
const OF_NOTES = 4_000;
/** Characters of what the model said last. */
const OF_ITS_WORDS = 2_000;

/**
 * The history in short, for a new one to begin with: what it was about, word for word, each call with the id its output
 * is on record with, and what the model said last. Made by code, so that nothing in it is made up, and a fresh history,
 * because an edited one would invalidate what the model thought.
 */
export function compacted(messages: readonly ModelTurn[]): ModelTurn {
  const [first] = messages;
  const about = first?.role === 'user' ? first.content : [];
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
    );
  const summary = {
    calls: callsOf(messages),
    you_said_last: said.join('\n').slice(-OF_ITS_WORDS),
    you_were_told: notes.join('\n').slice(-OF_NOTES),
  };
  const quoted = JSON.stringify(summary, null, 1).replaceAll('<', '\\u003c');
  const note = `Your work so far was too long to be kept whole. This is what you did, with the first lines of each result; whole outputs are found again by their ids.`;
  return {
    role: 'user',
    content: [...about, { type: 'text', text: `<work_so_far>\n${quoted}\n</work_so_far>\n\n${note}` }],
  };
}

function callsOf(messages: readonly ModelTurn[]): object[] {
  const results = new Map<string, string>();
  for (const turn of messages)
    for (const block of turn.role === 'user' ? turn.content : [])
      if (block.type === 'tool_result') {
        const room = turn === messages.at(-1) ? OF_A_NEW_RESULT : OF_A_RESULT;
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
