import type { IncomingMessage, ServerResponse } from 'node:http';
import { isRecord } from './validate/rules.ts';

const MAX_BODY_BYTES = 8_000_000;

/** The request cannot be read; `status` is what to answer. */
export class BadRequest extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'BadRequest';
    this.status = status;
  }
}

export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    const chunk = part as Buffer;
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new BadRequest(413, `body is larger than ${MAX_BODY_BYTES} bytes`);
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}

/** A JSON object from a request that says it is JSON: a browser cannot send that across origins unasked. */
export async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  if (!(request.headers['content-type'] ?? '').startsWith('application/json')) {
    throw new BadRequest(415, 'content-type must be application/json');
  }
  const parsed = parseJson(await readBody(request));
  if (!isRecord(parsed)) throw new BadRequest(400, 'the body must be a JSON object');
  return parsed;
}

/** Arguments of an API call: query string, then a form, JSON or multipart body. */
export async function readArguments(request: IncomingMessage, url: URL): Promise<Record<string, unknown>> {
  const query = Object.fromEntries(url.searchParams);
  const body = await readBody(request);
  const type = request.headers['content-type'] ?? '';
  if (body.length === 0) return query;
  if (type.startsWith('application/json')) {
    const parsed = parseJson(body);
    if (!isRecord(parsed)) throw new BadRequest(400, 'json_not_object');
    return { ...query, ...parsed };
  }
  if (type.startsWith('multipart/form-data')) return { ...query, ...(await multipart(body, type)) };
  return { ...query, ...Object.fromEntries(new URLSearchParams(body.toString('utf8'))) };
}

/** Fields as text, files as `Buffer`. */
export async function multipart(body: Buffer, type: string): Promise<Record<string, unknown>> {
  const response = new Response(new Uint8Array(body), { headers: { 'content-type': type } });
  let form: FormData;
  try {
    form = await response.formData();
  } catch (error) {
    throw new BadRequest(
      400,
      `the form cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  const values: Record<string, unknown> = {};
  for (const [name, value] of form) {
    values[name] = typeof value === 'string' ? value : Buffer.from(await value.arrayBuffer());
  }
  return values;
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  sendText(response, status, JSON.stringify(body), {
    'content-type': 'application/json; charset=utf-8',
    ...headers,
  });
}

export function sendText(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    ...headers,
  });
  response.end(body);
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    throw new BadRequest(400, 'invalid_json');
  }
}
