import { z } from 'zod';
import type { ApiScope } from '../../core/api-token.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { HttpAnswer } from '../route.ts';
import type { Api } from './ports.ts';

/** What an operation asks of its caller; `admin`: SENTRY_ADMIN_TOKEN. */
export type Scope = Extract<ApiScope, 'read' | 'trigger' | 'changes'> | 'admin';

/** Who calls, by its token. */
export interface Caller {
  /** On record, and under which its requests are counted. */
  readonly principal: string;
  readonly scopes: readonly (ApiScope | 'admin')[];
}

/** One request that can be made, as the OpenAPI document, docs/api.md and the tests tell of it. */
export interface Described {
  /** Unique; a name for programs. */
  readonly id: string;
  readonly method: 'GET' | 'POST';
  /** `{incident}` stands for one segment, named in `params`. */
  readonly path: string;
  /** Null: anybody may. */
  readonly scope: Scope | null;
  /** One line, and what one has to know beside it. */
  readonly summary: string;
  readonly description?: string;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodType;
  /** `text`: text/plain. */
  readonly response: z.ZodType | 'text';
  /** Statuses besides 200 and those that follow from the rest; without a scope they answer with what 200 does. */
  readonly others?: Readonly<Record<number, string>>;
}

/** One that a token opens. */
export interface Operation extends Described {
  readonly scope: Scope;
  /** Where it was before it moved here; answered there as well. */
  readonly formerPath?: string;
  readonly bodyLimit?: number;
  /** The kind of its entry in the audit log; each request that may be made leaves one, also one that fails. */
  readonly audited?: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- inputs of every type; `defineOperation` holds each to its schemas
  handle(api: Api, call: Call<any, any, any, any>): Promise<ApiAnswer<any>>;
}

/** A request whose parts are what their schemas say. */
interface Call<Params, Query, Headers, Body> {
  readonly caller: Caller;
  readonly params: Params;
  readonly query: Query;
  readonly headers: Headers;
  readonly body: Body;
}

/** What is wrong, in a sentence; `field`: with which part of the request. */
export const Problem = z.looseObject({
  error: z.string().describe('What is wrong, in words.'),
  field: z.string().optional().describe('Which part of the request.'),
  code: z.string().optional().describe('A name for it that stays.'),
});
type Problem = z.infer<typeof Problem>;

export type ApiAnswer<R> =
  | (Pick<HttpAnswer, 'headers'> & {
      readonly status: 200 | 201;
      readonly body: Unchanging<R>;
      /** What it was about, for the audit log. */
      readonly incidentId?: IncidentId;
    })
  | (Pick<HttpAnswer, 'headers'> & { readonly status: Refused; readonly body: Problem });
type Refused = 400 | 403 | 404 | 409 | 422 | 429 | 503;

/** Nobody changes what they answer with. */
type Unchanging<T> = T extends readonly (infer Item)[]
  ? readonly Unchanging<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Unchanging<T[Key]> }
    : T;

type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : unknown;

/** An operation whose handler gets what its schemas make of a request, and answers with what its response says. */
export function defineOperation<
  Response extends z.ZodType | 'text',
  Params extends z.ZodObject | undefined = undefined,
  Query extends z.ZodObject | undefined = undefined,
  Headers extends z.ZodObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
>(
  operation: Omit<Operation, 'params' | 'query' | 'headers' | 'body' | 'response' | 'handle'> & {
    readonly params?: Params & z.ZodObject;
    readonly query?: Query & z.ZodObject;
    readonly headers?: Headers & z.ZodObject;
    readonly body?: Body & z.ZodType;
    readonly response: Response;
    handle(
      api: Api,
      call: Call<Output<Params>, Output<Query>, Output<Headers>, Output<Body>>,
    ): Promise<ApiAnswer<Response extends z.ZodType ? z.output<Response> : string>>;
  },
): Operation {
  return operation;
}

export const ok = <R>(body: R) => ({ status: 200, body }) as const;

export const problem = (status: Refused, error: string, field?: string) =>
  ({ status, body: { error, ...(field === undefined ? {} : { field }) } }) as const;
