import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { jsonOf } from '../../src/core/json-of.ts';
import { type ApiProblem, ERROR_TYPES, invalid, notFound } from './api-error.ts';
import { type Bedrock, checkDoor } from './bedrock-wire.ts';
import { checkMessages } from './check-messages.ts';
import { checkParameters } from './check-parameters.ts';
import { createCompactions, isCompaction, plainSummary } from './compaction.ts';
import { createHistory } from './history.ts';
import { createHolds } from './holds.ts';
import { modelInfo, playedModel } from './models.ts';
import { type CacheUse, countTokens, createPromptCache } from './prompt-cache.ts';
import type { MessagesRequest, Scenario, ScriptedFault, ScriptedReply } from './scenario.ts';
import { believing, isSceptic } from './sceptic.ts';
import { sendEvents } from './send.ts';
import { type Call, callOf, isChat, MESSAGES, type Wire } from './wires.ts';

/** One request to `/v1/messages` and what became of it. */
export interface RecordedRequest {
  readonly body: MessagesRequest;
  readonly headers: IncomingMessage['headers'];
  /** Performance clock, milliseconds. */
  readonly at: number;
  /** The 4xx or 5xx answered, if any. */
  problem?: ApiProblem;
  /** What the message cost, as `message_delta` says; also set when the stream was then spoilt. */
  usage?: Record<string, unknown>;
  /** Bytes of the whole answer, whether or not they were sent. */
  bytes?: number;
  /** The whole answer was sent. */
  complete: boolean;
  /** When it was, performance clock. */
  doneAt?: number;
  /** When the connection of an unfinished answer went away, performance clock. */
  goneAt?: number;
}

export interface ScriptedClaude {
  /** Base URL for `ANTHROPIC_BASE_URL`. */
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  /** Those for a second look at a diagnosis; the scenario is not asked for them. */
  readonly doubts: readonly RecordedRequest[];
  /** Replaces what is said from now on. */
  play(scenario: Scenario): void;
  /** Spoils the next requests, one fault each, before the scenario is asked; the turn is not used up. */
  failNext(...faults: readonly ScriptedFault[]): void;
  /** Lets every held or stalled stream go on. */
  release(): void;
  /** Resolves when a stream is being held. */
  held(): Promise<void>;
  close(): Promise<void>;
}

export interface ScriptedClaudeOptions {
  readonly scenario: Scenario;
  /** Default: any free port of 127.0.0.1. */
  readonly port?: number;
  /** Refuse every change of history, not only those the real API can notice. Default true. */
  readonly strict?: boolean;
  /** Takes the key as `x-api-key` only, as gateways made for older SDKs do. Default false. */
  readonly apiKeyHeaderOnly?: boolean;
  /** What stands before every path, as behind a gateway: `/anthropic`. */
  readonly prefix?: string;
  /** Plays Bedrock: takes only its requests, has no list of models, no token count and no compaction. */
  readonly bedrock?: Bedrock;
  /**
   * What becomes of requests for a summary. Default: it is written. `unlisted`: models say they have none; `refused`:
   * they say they do, and the parameter is refused; `ignored`: the scenario answers as if it were not there.
   */
  readonly compaction?: 'unlisted' | 'refused' | 'ignored';
  /** What a summary says, or what comes instead of one. Default: what was said in the conversation. */
  readonly summary?: (request: MessagesRequest) => ScriptedReply;
  /** What a second look at a diagnosis finds. Default: all of it supported. */
  readonly sceptic?: (request: MessagesRequest) => ScriptedReply;
}

/** Starts a Messages API that says what it is told and checks requests as the real one does. */
export async function createScriptedClaude(options: ScriptedClaudeOptions): Promise<ScriptedClaude> {
  const playing = startPlaying(options);
  const server = createServer((request, response) => {
    route(playing, request, response).catch((error: unknown) => {
      sendProblem(response, { status: 500, type: 'api_error', message: `scripted server: ${String(error)}` });
    });
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const { requests, doubts, faults, holds } = playing;
  return {
    url: `http://127.0.0.1:${port}${options.prefix ?? ''}`,
    requests,
    doubts,
    play(replacement) {
      playing.scenario = replacement;
      playing.turn = 0;
    },
    failNext: (...more) => void faults.push(...more),
    release: holds.release,
    held: holds.held,
    async close() {
      holds.release();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** What is played, and what has happened so far. */
type Playing = ReturnType<typeof startPlaying>;

function startPlaying(options: ScriptedClaudeOptions) {
  return {
    options,
    scenario: options.scenario,
    /** Of a scenario that is a list: the next one. */
    turn: 0,
    /** Of the last answer; ids are made with it. */
    serial: 0,
    requests: [] as RecordedRequest[],
    doubts: [] as RecordedRequest[],
    faults: [] as ScriptedFault[],
    history: createHistory(options.strict ?? true),
    cache: createPromptCache(),
    compactions: createCompactions(),
    holds: createHolds(),
  };
}

async function route(playing: Playing, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { prefix = '', bedrock } = playing.options;
  const asked = (request.url ?? '/').split('?')[0] ?? '/';
  const text = await readBody(request);
  if (asked.startsWith('/control/')) return control(playing, asked, text, response);
  if (!asked.startsWith(prefix)) return sendProblem(response, notFound(asked));
  const path = asked.slice(prefix.length);
  const closed = bedrock && checkDoor(request, text, bedrock);
  if (closed) return sendProblem(response, closed);
  if (request.method === 'GET' && path.startsWith('/v1/models/') && !bedrock)
    return sendModel(playing, path, request.headers, response);
  if (request.method !== 'POST') return sendProblem(response, notFound(path));
  const body = jsonOf(text) as MessagesRequest | undefined;
  if (body === undefined) return sendProblem(response, invalid('body is not valid JSON'));
  if (path === '/v1/messages/count_tokens' && !bedrock)
    return sendJson(response, { input_tokens: countTokens(body) });
  const call = callOf(path, body, bedrock);
  if (call === undefined) return sendProblem(response, notFound(path));
  const record: RecordedRequest = {
    body: call.request,
    headers: request.headers,
    at: performance.now(),
    complete: false,
  };
  playing[isSceptic(record.body) ? 'doubts' : 'requests'].push(record);
  response.once('close', () => {
    if (!response.writableFinished) record.goneAt = performance.now();
  });
  const problem = call.problem ?? refused(playing, record, call);
  if (problem !== undefined) return fail(record, response, problem, call.wire);
  await reply(playing, record, response, call.wire);
}

/** Why the real API would refuse it. */
function refused(playing: Playing, { body, headers }: RecordedRequest, call: Call): ApiProblem | undefined {
  if (isChat(call)) return checkMessages(body, false) ?? checkContext(body);
  const { options, history, compactions } = playing;
  return (
    (options.bedrock ? undefined : checkCredentials(headers, options.apiKeyHeaderOnly ?? false)) ??
    checkParameters(body) ??
    checkCompaction(playing, body, headers) ??
    checkMessages(body, history.endsPaused(body)) ??
    history.check(compactions.expand(body)) ??
    checkContext(body)
  );
}

function checkCompaction(
  { options: { compaction, bedrock }, compactions }: Playing,
  body: MessagesRequest,
  headers: IncomingHttpHeaders,
): ApiProblem | undefined {
  const unknown = compaction === 'unlisted' || compaction === 'refused' || bedrock;
  if (unknown && isCompaction(body)) return invalid('compaction: Extra inputs are not permitted');
  return compaction === 'ignored' ? undefined : compactions.check(body, headers);
}

async function reply(
  playing: Playing,
  record: RecordedRequest,
  response: ServerResponse,
  wire: Wire,
): Promise<void> {
  const { body } = record;
  const cached = playing.cache.use(body);
  const said = nextReply(playing, body);
  if (said === undefined) {
    const message = 'the scenario has no turn left';
    return fail(record, response, { status: 500, type: 'api_error', message }, wire);
  }
  if (said.delayMs !== undefined) await sleep(said.delayMs);
  if (said.fault?.kind === 'http') {
    const { status, type = ERROR_TYPES[status] ?? 'api_error', message = type, headers } = said.fault;
    return fail(record, response, { status, type, message }, wire, headers);
  }
  await answer(playing, record, response, { said, cached, wire });
}

const compacts = ({ options }: Playing, request: MessagesRequest): boolean =>
  isCompaction(request) && options.compaction !== 'ignored';

/** What a request is answered; undefined when the scenario has come to its end. */
function nextReply(playing: Playing, request: MessagesRequest): ScriptedReply | undefined {
  const { options, scenario, turn } = playing;
  if (isSceptic(request)) return (options.sceptic ?? believing)(request);
  const fault = playing.faults.shift();
  const spoilt = fault === undefined ? {} : { fault };
  if (compacts(playing, request)) {
    const summary = options.summary?.(request) ?? { blocks: [{ summary: plainSummary(request) }] };
    return { ...summary, ...spoilt };
  }
  const scripted = typeof scenario === 'function' ? scenario : scenario[turn];
  // A spoilt request leaves its turn in place for the retry.
  if (fault === undefined) playing.turn += 1;
  const said = typeof scripted === 'function' ? scripted(request) : scripted;
  return said === undefined && fault === undefined ? undefined : { ...said, ...spoilt };
}

async function answer(
  playing: Playing,
  record: RecordedRequest,
  response: ServerResponse,
  { said, cached, wire }: { readonly said: ScriptedReply; readonly cached: CacheUse; readonly wire: Wire },
): Promise<void> {
  const { body } = record;
  const { render, errorEvent, contentType, requestIdHeader } = wire;
  const { history, compactions } = playing;
  const whole = compactions.expand(body);
  playing.serial += 1;
  const { serial } = playing;
  let salt = 0;
  const rendered = render(said, {
    model: body.model,
    messageId: `msg_scripted_${serial}`,
    input: cached.usage,
    showThinking: (body['thinking'] as { display?: string } | undefined)?.display === 'summarized',
    sign: () => history.sign(whole, salt++),
    ...(compacts(playing, body) ? { signSummary: (content) => compactions.sign(whole, content) } : {}),
    toolUseId: () => `toolu_${serial}_${salt++}`,
  });
  record.usage = rendered.usage as Record<string, unknown>;
  record.bytes = rendered.events.reduce((sum, event) => sum + event.bytes.length, 0);
  cached.write();
  response.writeHead(200, {
    'content-type': contentType,
    'cache-control': 'no-cache',
    [requestIdHeader]: `req_scripted_${serial}`,
  });
  record.complete = await sendEvents(response, rendered.events, said, playing.holds, errorEvent);
  record.doneAt = performance.now();
  if (record.complete && !compacts(playing, body))
    history.issued(whole, rendered.content, rendered.stop === 'pause_turn');
}

function fail(
  record: RecordedRequest,
  response: ServerResponse,
  problem: ApiProblem,
  wire: Wire,
  headers: Readonly<Record<string, string>> = {},
): void {
  record.problem = problem;
  sendProblem(response, problem, wire, headers);
}

/** Whether a model compacts is told only to who knows the beta. */
function sendModel(
  { options }: Playing,
  path: string,
  headers: IncomingHttpHeaders,
  response: ServerResponse,
): void {
  const id = decodeURIComponent(path.slice('/v1/models/'.length));
  const model = playedModel(id);
  if (model === undefined)
    return sendProblem(response, { status: 404, type: 'not_found_error', message: `model: ${id}` });
  const told = String(headers['anthropic-beta'] ?? '').includes('compact-');
  const lists = options.compaction !== 'unlisted' && model.compacts;
  sendJson(response, modelInfo(model, told ? lists : undefined));
}

function control({ holds, faults, requests }: Playing, path: string, text: string, response: ServerResponse) {
  if (path === '/control/release') holds.release();
  else if (path === '/control/fail') faults.push(JSON.parse(text) as ScriptedFault);
  else if (path !== '/control/requests') return sendProblem(response, notFound(path));
  sendJson(response, {
    held: holds.count(),
    requests: requests.map((record) => ({ ...record, headers: undefined })),
  });
}

function checkCredentials(
  headers: IncomingMessage['headers'],
  apiKeyHeaderOnly: boolean,
): ApiProblem | undefined {
  const bearer = !apiKeyHeaderOnly && (headers.authorization?.startsWith('Bearer ') ?? false);
  if (!bearer && headers['x-api-key'] === undefined) {
    return { status: 401, type: 'authentication_error', message: 'x-api-key header is required' };
  }
  if (headers['anthropic-version'] === undefined) {
    return { status: 400, type: 'invalid_request_error', message: 'anthropic-version: header is required' };
  }
  return undefined;
}

function checkContext(body: MessagesRequest): ApiProblem | undefined {
  const limit = playedModel(body.model)?.maxInputTokens ?? 0;
  const tokens = countTokens(body);
  return tokens <= limit
    ? undefined
    : {
        status: 400,
        type: 'invalid_request_error',
        message: `prompt is too long: ${tokens} tokens > ${limit} maximum`,
      };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function sendJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json', 'request-id': 'req_scripted' });
  response.end(JSON.stringify(body));
}

function sendProblem(
  response: ServerResponse,
  problem: ApiProblem,
  wire: Wire = MESSAGES,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const requestId = 'req_scripted_error';
  response.writeHead(problem.status, {
    'content-type': 'application/json',
    [wire.requestIdHeader]: requestId,
    ...headers,
  });
  response.end(wire.problem(problem, requestId));
}
