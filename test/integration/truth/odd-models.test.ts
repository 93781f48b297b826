import { createHash } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClaude } from '../../../src/agents/claude/create-claude.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import { createAnthropicBackend } from '../../../src/llm/anthropic.ts';
import { createModelGateway } from '../../../src/llm/gateway.ts';
import { boxAlert, boxTools, type Core, createCore, findsNothing } from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';

/**
 * Servers that speak nearly the Messages API, written beside the playground's: whatever one answers the detective, the
 * incident ends, nobody is shown well while the box is broken, and no request is paid for more than three times.
 */
type Answer = (response: ServerResponse, turn: number) => void;
type Event = readonly [name: string, data: object];

const call = (id: string, name: string, input: object | string): readonly Event[] =>
  block({ type: 'tool_use', id, name, input: {} }, [
    { type: 'input_json_delta', partial_json: typeof input === 'string' ? input : JSON.stringify(input) },
  ]);
const text = (words: string): readonly Event[] =>
  block({ type: 'text', text: '' }, [{ type: 'text_delta', text: words }]);
const block = (start: object, deltas: readonly object[]): readonly Event[] => [
  ['content_block_start', { content_block: start }],
  ...deltas.map((delta): Event => ['content_block_delta', { delta }]),
  ['content_block_stop', {}],
];
const begun = (changes: object = {}): Event => [
  'message_start',
  {
    message: {
      id: 'msg_odd',
      type: 'message',
      role: 'assistant',
      model: 'claude-opus-5-5',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 100, output_tokens: 1 },
      ...changes,
    },
  },
];
const ended = (stop: string, usage: object = { output_tokens: 10 }): readonly Event[] => [
  ['message_delta', { delta: { stop_reason: stop, stop_sequence: null }, usage }],
  ['message_stop', {}],
];

function send(response: ServerResponse, events: readonly Event[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': 'req_odd' });
  let index = -1;
  for (const [name, data] of events) {
    if (name === 'content_block_start') index += 1;
    const own = name.startsWith('content_block') ? { index, ...data } : data;
    response.write(`event: ${name}\ndata: ${JSON.stringify({ type: name, ...own })}\n\n`);
  }
  response.end();
}

const says =
  (...events: readonly Event[]): Answer =>
  (response) =>
    send(response, events);
const page =
  (type: string, body: string | Buffer, status = 200): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': type });
    response.end(body);
  };
/** Looks first, then says it. */
const afterLooking =
  (...events: readonly Event[]): Answer =>
  (response, turn) =>
    send(
      response,
      turn === 0
        ? [begun(), ...call('toolu_look', 'box_state', { target: 'box', why: 'x' }), ...ended('tool_use')]
        : [begun(), ...events, ...ended('tool_use')],
    );

const HEALTHY = { verdict: 'healthy', rootCause: 'The box is whole.', confidence: 0.99 };
const words = text('It is fixed, the box is whole.');

const ODD: Readonly<Record<string, Answer>> = {
  'counts below zero': says(
    begun({ usage: { input_tokens: -5_000_000, cache_read_input_tokens: -1, output_tokens: -1 } }),
    ...words,
    ...ended('end_turn', { output_tokens: -500_000 }),
  ),
  'counts in words': says(
    begun({ usage: { input_tokens: 'many', output_tokens: '5', cache_creation: null } }),
    ...words,
    ...ended('end_turn', { output_tokens: null }),
  ),
  'is another model': says(begun({ model: 'gpt-99' }), ...words, ...ended('end_turn')),
  'begins twice': says(begun(), begun(), ...words, ...ended('end_turn')),
  'goes on with what never began': says(
    begun(),
    ['content_block_delta', { index: 7, delta: { type: 'text_delta', text: 'whole' } }],
    ...ended('end_turn'),
  ),
  'has a kind of block of its own': says(
    begun(),
    ...block({ type: 'hologram', beam: 1 }, []),
    ...ended('end_turn'),
  ),
  'stops for a reason of its own': says(begun(), ...words, ...ended('bored')),
  'asks to sign in': page('text/html', '<html>Sign in</html>'),
  'answers at once': page('application/json', JSON.stringify({ content: [{ type: 'text', text: 'whole' }] })),
  'answers nothing': page('text/plain', '', 204),
  'breaks its characters': page('text/event-stream', Buffer.from([0x65, 0xff, 0xfe, 0xc3, 0x28, 0x0a, 0x0a])),
  'gives two calls one name': says(
    begun(),
    ...call('toolu_same', 'box_state', { target: 'box', why: 'x' }),
    ...call('toolu_same', 'box_state', { target: 'box', why: 'y' }),
    ...ended('tool_use'),
  ),
  'reports one thing and the opposite': afterLooking(
    ...call('toolu_1', 'report_diagnosis', HEALTHY),
    ...call('toolu_2', 'report_diagnosis', {
      ...HEALTHY,
      verdict: 'cause_found',
      rootCause: 'It is broken.',
    }),
  ),
  'reports brackets': afterLooking(
    ...call('toolu_1', 'report_diagnosis', `{"verdict":${'['.repeat(3_000)}${']'.repeat(3_000)}}`),
  ),
  'writes around its report': afterLooking(...text(`The box is whole. ${JSON.stringify(HEALTHY)}`)),
};

const names = Object.keys(ODD);
const asked = new Map<string, Map<string, number>>();
let database: ScratchDatabase;
let server: Server;
let core: Core;

/** Which of them is asked stands in the incident's title. */
function answer(body: string, response: ServerResponse): void {
  const { messages, tools = [] } = JSON.parse(body) as {
    messages: readonly { role: string }[];
    tools?: readonly { name: string }[];
  };
  const name = names[Number(/odd (\d+) of/.exec(JSON.stringify(messages[0]))?.[1])] ?? '';
  const times = asked.get(name) ?? new Map<string, number>();
  const request = createHash('sha256').update(body).digest('hex');
  asked.set(name, times.set(request, (times.get(request) ?? 0) + 1));
  if (tools.some((tool) => tool.name === 'report_triage')) {
    const report = call('toolu_t', 'report_triage', { severity: 'critical', reason: 'x' });
    return send(response, [begun(), ...report, ...ended('tool_use')]);
  }
  ODD[name]?.(response, messages.filter(({ role }) => role === 'assistant').length);
}

beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method === 'POST') answer(Buffer.concat(chunks).toString(), response);
      else response.writeHead(404).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const tools = boxTools({ broken: true, generation: 1, effects: 0, helps: true });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  core = await createCore({
    url: database.url,
    tools,
    investigator: {
      name: 'playbook',
      triage: async ({ incident: { severity } }) => ({
        severity,
        incidentType: null,
        routine: false,
        ignore: false,
        reason: 'x',
      }),
      diagnose: async () => findsNothing,
      plan: async () => ({ kind: 'none', reason: 'nothing' }),
    },
    claude: createClaude({
      llm: createModelGateway({
        backend: createAnthropicBackend({ apiKey: 'k', baseUrl }),
        retry: { baseDelayMs: 1 },
      }),
      tools,
      targets: ['box'],
      toolCalls: async (id: IncidentId) => (await core.records.load(id))?.toolCalls ?? [],
    }),
  });
  await core.start();
});
afterAll(async () => {
  await core.stop();
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  await database.drop();
});

it.each(names)('a model that %s ends nothing but its own part', async (name) => {
  const title = `The box is broken: odd ${names.indexOf(name)} of ${names.length}`;
  const { incidentId } = await core.accept(boxAlert({ title }));
  if (!incidentId) throw new Error('not accepted');
  let seen: unknown;
  await waitFor(
    'the end',
    async () => {
      seen = (await core.records.incident(incidentId))?.state;
      return seen === 'reported';
    },
    { seen: () => seen, timeoutMs: 60_000 },
  );
  const record = await core.records.load(incidentId);
  const last = record?.events.findLast(({ type }) => type === 'diagnosis.concluded');
  expect(last).toMatchObject({ diagnosis: { verdict: 'cannot_tell', rootCause: findsNothing.rootCause } });
  expect(record?.events.some(({ type }) => type === 'investigator.fallback')).toBe(true);
  expect(Math.max(...(asked.get(name)?.values() ?? []))).toBeLessThanOrEqual(3);
  const booked = await core.sql`SELECT * FROM usage WHERE incident_id = ${incidentId}`;
  for (const row of booked)
    for (const [column, value] of Object.entries(row))
      if (/_tokens$|_usd$/.test(column)) expect(Number(value), column).toBeGreaterThanOrEqual(0);
});
