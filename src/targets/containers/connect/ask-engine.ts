import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isObject, jsonOf } from '../../../core/json-of.ts';

export interface EngineAddress {
  readonly socket?: string;
  readonly host?: string;
  readonly port?: number;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

export interface EngineQuestion {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** What is no text is written as JSON, as the API has it. */
  readonly query?: object;
  readonly body?: object;
}

/** What an engine refuses, by its status. */
export class EngineRefusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** 304: it is so already, which whoever looks afterwards sees. */
const ANSWERS: ReadonlySet<number> = new Set([200, 201, 204, 304]);
/** Of the words of a refusal; what is more is not waited for. */
const REFUSAL_BYTES = 16 * 1024;

/**
 * Asks an engine, and gives its answer as it comes. The client library is not asked: it follows redirects to wherever they lead,
 * keeps a refusal of any size, and throws where nobody can catch it. Throws EngineRefusal, or what the connection throws.
 */
export function askEngine(
  { socket, ...remote }: EngineAddress,
  { method, path, query = {}, body }: EngineQuestion,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const sent = body === undefined ? undefined : JSON.stringify(body);
  const headers =
    sent === undefined
      ? { 'content-length': 0 }
      : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) };
  const asked = queryOf(query);
  const options = {
    ...(socket === undefined ? remote : { socketPath: socket, host: 'localhost' }),
    method,
    path: asked === '' ? path : `${path}?${asked}`,
    headers: method === 'GET' ? {} : headers,
    signal,
  };
  return new Promise((resolve, reject) => {
    const request = (socket === undefined ? httpsRequest : httpRequest)(options, (answer) => {
      const status = answer.statusCode ?? 0;
      // Whoever reads it hears of its end; so must whoever no longer does.
      answer.on('error', () => undefined);
      if (ANSWERS.has(status)) resolve(answer);
      else wordsOf(answer).then((words) => reject(new EngineRefusal(status, words)), reject);
    });
    request.on('error', reject);
    request.end(sent);
  });
}

function queryOf(query: object): string {
  const words = Object.entries(query).map(([name, value]): [string, string] => [
    name,
    typeof value === 'object' ? JSON.stringify(value) : String(value),
  ]);
  return new URLSearchParams(words).toString();
}

async function wordsOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > REFUSAL_BYTES) break;
  }
  const text = Buffer.concat(chunks).subarray(0, REFUSAL_BYTES).toString('utf8').trim();
  const said = jsonOf(text);
  const message = isObject(said) ? said['message'] : undefined;
  return (typeof message === 'string' ? message : text) || (answer.statusMessage ?? 'no reason given');
}
