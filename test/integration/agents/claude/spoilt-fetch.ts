import { modelInfo, playedModel } from '../../../../playground/claude/models.ts';
import { renderMessage } from '../../../../playground/claude/render.ts';
import type { ScriptedReply } from '../../../../playground/claude/scenario.ts';

export const SPOILS = ['cut', 'eof', 'garbage', 'error_event', 'stall'] as const;
export type Spoil = (typeof SPOILS)[number];

/** The bytes of one answer, and from where on a client may take it for whole. */
export interface Answer {
  readonly bytes: Uint8Array;
  /** Where the event ends that says how the message ended. */
  readonly wholeFrom: number;
}

export function answerOf(reply: ScriptedReply): Answer {
  let serial = 0;
  const { events } = renderMessage(reply, {
    model: 'claude-opus-5-5',
    messageId: 'msg_1',
    input: { input_tokens: 10, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
    showThinking: true,
    sign: () => 'sig.x',
    toolUseId: () => `toolu_${serial++}`,
  });
  const bytes = Buffer.concat(events.map((event) => event.bytes));
  return { bytes, wholeFrom: bytes.length - (events.at(-1)?.bytes.length ?? 0) };
}

/** A `fetch` that needs no sockets: each call gets the next answer, spoilt after so many bytes. */
export function spoiltFetch(
  next: () => { readonly answer: Answer; readonly spoil?: Spoil | undefined; readonly at?: number },
): typeof fetch {
  return (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    const model = playedModel('claude-opus-5-5');
    if (url.includes('/v1/models/') && model)
      return Promise.resolve(Response.json(modelInfo(model), { headers: { 'request-id': 'r' } }));
    const { answer, spoil, at = 0 } = next();
    const headers = { 'content-type': 'text/event-stream', 'request-id': 'req_1' };
    return Promise.resolve(new Response(bodyOf(answer.bytes, spoil, at, init?.signal), { headers }));
  };
}

function bodyOf(
  bytes: Uint8Array,
  spoil: Spoil | undefined,
  at: number,
  signal: AbortSignal | null | undefined,
): ReadableStream<Uint8Array> {
  let sent = false;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (!sent) {
        sent = true;
        const part = spoil === undefined ? bytes : bytes.subarray(0, at);
        if (part.length > 0) return controller.enqueue(part);
      }
      switch (spoil) {
        case undefined:
        case 'eof':
          break;
        case 'cut':
          return controller.error(new TypeError('terminated'));
        case 'garbage':
          controller.enqueue(Buffer.from('\n\n\u0000event: nonsense\ndata: {"type": <<<\n\n'));
          break;
        case 'error_event':
          controller.enqueue(
            Buffer.from(
              '\n\nevent: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"x"}}\n\n',
            ),
          );
          break;
        case 'stall':
          await new Promise<void>((resolve) =>
            signal?.addEventListener('abort', () => resolve(), { once: true }),
          );
          return controller.error(new DOMException('aborted', 'AbortError'));
      }
      return controller.close();
    },
  });
}
