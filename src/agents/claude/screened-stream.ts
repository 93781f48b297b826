import { OpsError } from '../../core/errors.ts';
import { jsonOf } from '../../core/json-of.ts';
import type { Json } from '../../core/tool-call.ts';
import { LlmError } from '../../llm/llm-error.ts';
import type { FinishedMessage, ModelStream, ModelTurn, UserBlock } from '../../llm/types.ts';
import type { GuardedHistory, ModelGuard, Suspicion } from '../../safety/model-guard/model-guard.ts';

/**
 * A stream whose model sees no secret and no person, only placeholders, and is told which data reads like instructions;
 * what it calls comes back with the values. Assistant turns go back exactly as they came. A block leaves as the same
 * bytes every time, also after a restart: what it becomes depends on nothing but itself and the incident.
 *
 * @param carriesOut tools whose input leaves the house: they get no value back
 */
export function screenedStream(
  stream: ModelStream,
  guard: ModelGuard,
  call: {
    readonly incidentId: string;
    readonly role: string;
    readonly carriesOut: (tool: string) => boolean;
  },
): ModelStream {
  const history = guard.history(call.incidentId);
  const blocks = new WeakMap<UserBlock, UserBlock>();

  return async (request, options) => {
    const found: Suspicion[] = [];
    const outgoing = (block: UserBlock): UserBlock => {
      const known = blocks.get(block);
      if (known) return known;
      const made: UserBlock =
        block.type === 'text'
          ? { ...block, text: history.hide(inspectedPrompt(block.text, history, found)) }
          : { ...block, content: history.hide(inspectedResult(block.content, history, found)) };
      blocks.set(block, made);
      return made;
    };
    const messages = screened(() =>
      request.messages.map(
        (turn): ModelTurn =>
          turn.role === 'user' ? { role: 'user', content: turn.content.map(outgoing) } : turn,
      ),
    );
    if (found.length > 0) await guard.report(call.incidentId, call.role, found);
    const message = await stream({ ...request, messages }, options);
    return restored(message, history, call.carriesOut);
  };
}

/** Fails closed: what cannot be screened is not sent. */
function screened<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    // Not its message: it may quote what was to be hidden.
    throw new LlmError(
      'LLM_WITHHELD',
      'a text could not be screened for secrets, so the model was not asked',
      {
        cause: new OpsError('SCREEN', error instanceof Error ? error.name : 'unknown', {
          hint: 'Report this.',
        }),
      },
    );
  }
}

/** Text and calls with the values; `content` is what goes back to the model, and stays. */
function restored(
  message: FinishedMessage,
  history: GuardedHistory,
  carriesOut: (tool: string) => boolean,
): FinishedMessage {
  return {
    ...message,
    text: String(history.restore(message.text)),
    toolUses: message.toolUses.map((use) =>
      carriesOut(use.name) ? use : { ...use, input: history.restore(use.input as Json) },
    ),
  };
}

/** A tool's answer is one JSON object (role-tools.ts): marked in its first field. Anything else is a note of the loop's. */
function inspectedResult(content: string, history: GuardedHistory, found: Suspicion[]): string {
  const parsed = objectIn(content);
  if (!parsed) return content;
  const seen = history.inspect(parsed, String(parsed['tool'] ?? 'tool result'));
  found.push(...seen.found);
  if (seen.found.length === 0) return content;
  return JSON.stringify({ suspicious: kindsOf(seen.found), ...(seen.data as object) });
}

/** Labelled data in our own words: `<incident_data>`, `<person_said>`, memory's blocks. Nothing inside can close its tag. */
const LABELLED = /<([a-z_]+)([^<>]*)>([\s\S]*?)<\/\1>/g;

/** A user turn: what stands in labels is inspected, the words around are ours. */
function inspectedPrompt(text: string, history: GuardedHistory, found: Suspicion[]): string {
  return text.replace(LABELLED, (whole, tag: string, more: string, inside: string) => {
    const parsed = objectIn(inside.trim());
    const where = tag === 'incident_data' ? '' : tag;
    const seen = history.inspect(parsed ?? inside, where);
    found.push(...seen.found);
    if (seen.found.length === 0) return whole;
    if (!parsed)
      return `<${tag}${more}>${String(seen.data)}</${tag}>\n<suspicious in="${tag}">${kindsOf(seen.found).join(', ')}</suspicious>`;
    const marks = seen.found.map(({ where: place, kinds }) => ({ in: place, kinds: [...kinds] }));
    const json = JSON.stringify({ suspicious: marks, ...(seen.data as object) }, null, 1);
    return `<${tag}${more}>\n${json.replaceAll('<', '\\u003c')}\n</${tag}>`;
  });
}

function objectIn(text: string): Readonly<Record<string, Json>> | undefined {
  return text.startsWith('{') ? (jsonOf(text) as Readonly<Record<string, Json>> | undefined) : undefined;
}

const kindsOf = (found: readonly Suspicion[]): string[] => [...new Set(found.flatMap(({ kinds }) => kinds))];
