import { z } from 'zod';
import { jsonOf } from '../../core/json-of.ts';
import type { ModelStream } from '../../llm/types.ts';
import { askModel } from '../loop/ask-model.ts';
import type { StillAsked, StillSaid, StillWork } from '../ports.ts';
import { stillSoPrompt } from './load-prompt.ts';

const MAX_PROMPT_BYTES = 8_000;
const MAX_ANSWER_TOKENS = 600;
const DEADLINE_MS = 15_000;
const MAX_WHY = 160;

const Answer = z.object({ verdict: z.enum(['stands', 'falls', 'cannot_tell']), why: z.string() });

/** One short call without tools over the difference alone. A durable step; null where there is no answer that can be read. */
export async function askStillSo(
  stream: ModelStream,
  work: StillWork,
  asked: StillAsked,
  prompts?: string,
): Promise<StillSaid | null> {
  const text = `<news>\n${JSON.stringify(asked, null, 1).replaceAll('<', '\\u003c')}\n</news>`;
  if (Buffer.byteLength(text) > MAX_PROMPT_BYTES) return null;
  const answered = await askModel(
    `claude:still-so:r${work.incident.round}`,
    stream,
    {
      system: stillSoPrompt(prompts),
      tools: [],
      messages: [{ role: 'user', content: [{ type: 'text', text }] }],
      effort: 'low',
      maxTokens: MAX_ANSWER_TOKENS,
    },
    {
      durably: (name, fn) => work.durably(name, fn),
      signal: work.signal,
      deadlineMs: DEADLINE_MS,
      onEvent: () => undefined,
    },
  );
  if (!answered.ok || answered.message.stop.kind !== 'end_turn') return null;
  const body = /\{[\s\S]*\}/.exec(answered.message.text)?.[0];
  const read = Answer.safeParse(body === undefined ? undefined : jsonOf(body));
  return read.success ? { verdict: read.data.verdict, why: read.data.why.slice(0, MAX_WHY) } : null;
}
