import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a script that knows nothing of the product sees of a request. */
export interface ForeignRequest {
  readonly tools?: readonly { readonly name: string; readonly input_schema: Schema }[];
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

export type ForeignBlock =
  | { readonly text: string }
  | { readonly tool: string; readonly id: string; readonly input: object };

export interface ForeignClaude {
  readonly url: string;
  readonly requests: readonly ForeignRequest[];
  close(): Promise<void>;
}

/**
 * The least that can be called a Messages API, as somebody else may write it for a test: streams, knows the key as
 * `x-api-key`, no model list, no token count, no thinking, no usage numbers, a model name of its own.
 */
export async function startForeignClaude(
  answer: (request: ForeignRequest) => readonly ForeignBlock[],
): Promise<ForeignClaude> {
  const requests: ForeignRequest[] = [];
  const server = createServer((request, response) => {
    void serve(request, response).catch(() => response.destroy());
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    if (request.method !== 'POST' || request.url !== '/v1/messages')
      return refuse(response, 404, 'not_found_error');
    if (request.headers['x-api-key'] === undefined)
      return refuse(response, 401, 'authentication_error', 'x-api-key header is required');
    const body = JSON.parse(text) as ForeignRequest;
    requests.push(body);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of eventsOf(answer(body)))
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function refuse(response: ServerResponse, status: number, type: string, message = type): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ type: 'error', error: { type, message } }));
}

interface ForeignEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

function eventsOf(blocks: readonly ForeignBlock[]): readonly ForeignEvent[] {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'scripted', content: [] };
  return [
    { type: 'message_start', message: { ...message, stop_reason: null, usage: {} } },
    ...blocks.flatMap((block, index) => [
      'text' in block
        ? start(index, { type: 'text', text: '' })
        : start(index, { type: 'tool_use', id: block.id, name: block.tool, input: {} }),
      'text' in block
        ? delta(index, { type: 'text_delta', text: block.text })
        : delta(index, { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }),
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: blocks.some((block) => 'tool' in block) ? 'tool_use' : 'end_turn' },
      usage: {},
    },
    { type: 'message_stop' },
  ];
}

const start = (index: number, block: object) => ({
  type: 'content_block_start',
  index,
  content_block: block,
});
const delta = (index: number, of: object) => ({ type: 'content_block_delta', index, delta: of });

/**
 * A script that only reads: tool names, schemas and what tools answered. It looks at locks, picks the blocking pid out
 * of the answer, fills whatever report it is offered by the names of its fields, and calls what ends a session.
 */
export function naiveScript(): (request: ForeignRequest) => readonly ForeignBlock[] {
  let serial = 0;
  return (request) => {
    const tools = request.tools ?? [];
    const seen = JSON.stringify(request.messages);
    const pid = /root: pid (\d+)/.exec(seen)?.[1];
    const started = /backend_start (\d{4}-[^\s,"\\]+)/.exec(seen)?.[1];
    const call = (name: string, known: Readonly<Record<string, unknown>>): ForeignBlock => {
      const schema = tools.find((tool) => tool.name === name)?.input_schema ?? {};
      return { tool: name, id: `toolu_${(serial += 1)}`, input: fill(schema, known) as object };
    };
    const named = (pattern: RegExp) => tools.find(({ name }) => pattern.test(name))?.name;
    const terminate = named(/terminate/);
    if (terminate !== undefined && pid !== undefined)
      return [{ text: 'Ending it.' }, call(terminate, { pid: Number(pid), backend_start: started })];
    const look = named(/block|lock/);
    const asked = /"id":"(toolu_\d+)"/.exec(seen)?.[1];
    if (asked === undefined && look !== undefined) return [{ text: 'Looking.' }, call(look, {})];
    const report = named(/report|diagnos|conclu/) ?? '';
    return [
      call(report, {
        confidence: 95,
        rootCause: `Session ${pid} blocks the others.`,
        claim: `Session ${pid} is the root.`,
        toolCallIds: [asked],
        quote: `pid ${pid}`,
        extra: 'not asked for',
      }),
    ];
  };
}

/** What a schema requires and what is known by name; for the rest the first choice, or a word. */
function fill(schema: Schema, known: Readonly<Record<string, unknown>>, name = ''): unknown {
  if (name in known && schema.type !== 'object') return known[name];
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.properties !== undefined) {
    const wanted = Object.keys(schema.properties).filter(
      (key) =>
        schema.required?.includes(key) === true || key in known || schema.properties?.[key]?.type === 'array',
    );
    return Object.fromEntries(wanted.map((key) => [key, fill(schema.properties?.[key] ?? {}, known, key)]));
  }
  if (schema.type === 'array') return schema.items === undefined ? [] : [fill(schema.items, known)];
  if (schema.type === 'boolean') return false;
  return schema.type === 'number' || schema.type === 'integer' ? 1 : 'scripted';
}
