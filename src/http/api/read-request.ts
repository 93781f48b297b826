import { z } from 'zod';
import { isObject, jsonOf } from '../../core/json-of.ts';
import type { HttpAnswer, HttpRequest } from '../route.ts';
import { schemaOf } from './open-api.ts';
import type { Described } from './operation.ts';

/** The parts of a request as the operation's schemas make them, or what is wrong with the first that is not so. */
export type ReadRequest = (
  request: HttpRequest,
) =>
  | { readonly params: unknown; readonly query: unknown; readonly headers: unknown; readonly body: unknown }
  | HttpAnswer;

export function createReadRequest({ params, query, headers, body }: Described): ReadRequest {
  const kinds = query ? kindsOf(query) : new Map<string, unknown>();
  return (request) => {
    const given = [...request.query.keys()];
    const twice = given.find((name, at) => given.indexOf(name) !== at);
    if (twice !== undefined) return badRequest(twice.slice(0, 80), 'given twice');
    const raw = {
      params: request.params,
      query: Object.fromEntries(
        [...request.query].map(([name, text]) => [name, typed(text, kinds.get(name))]),
      ),
      headers: request.headers,
      body: body && jsonOf(request.body.toString('utf8')),
    };
    if (body && !isObject(raw.body)) return NO_OBJECT;
    const read: Record<string, unknown> = {};
    for (const [part, schema] of Object.entries({ params, query: query ?? NOTHING, headers, body })) {
      if (schema === undefined) continue;
      const parsed = schema.safeParse(raw[part as keyof typeof raw]);
      if (!parsed.success) return wrong(parsed.error);
      read[part] = parsed.data;
    }
    return read as Exclude<ReturnType<ReadRequest>, HttpAnswer>;
  };
}

/** What each field is in JSON: a query is texts alone. */
function kindsOf(fields: z.ZodObject): ReadonlyMap<string, unknown> {
  const { properties = {} } = schemaOf(fields, 'input') as {
    readonly properties?: Readonly<Record<string, { readonly type?: unknown }>>;
  };
  return new Map(Object.entries(properties).map(([name, { type }]) => [name, type]));
}

function typed(text: string, kind: unknown): unknown {
  if (kind === 'integer' && /^\d{1,16}$/.test(text)) return Number(text);
  if (kind === 'boolean' && /^(?:true|false)$/.test(text)) return text === 'true';
  return text;
}

function wrong(error: z.ZodError): HttpAnswer {
  const [issue] = error.issues;
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys[0]?.slice(0, 80) : undefined;
  const field = unknown ?? issue?.path.map(String).join('.') ?? '';
  return badRequest(
    field,
    unknown === undefined ? (issue?.message ?? 'not understood') : 'there is no such field',
  );
}

const NO_OBJECT: HttpAnswer = { status: 400, body: { error: 'expected a JSON object', field: '' } };

const badRequest = (field: string, says: string): HttpAnswer => ({
  status: 400,
  body: { error: `${field}: ${says}`, field },
});

/** A request that takes no query. */
const NOTHING = z.strictObject({});
