import { z } from 'zod';
import { anySignal } from '../../../core/any-signal.ts';
import { messageOf, OpsError } from '../../../core/errors.ts';
import { jsonOf } from '../../../core/json-of.ts';
import { readUpTo } from '../../../core/read-up-to.ts';
import type { Json } from '../../../core/tool-call.ts';
import type { SessionOptions } from '../../../tools/ports.ts';
import type { HttpConfig } from '../config.ts';

/** Prometheus and Loki wrap every answer in this; https://prometheus.io/docs/prometheus/latest/querying/api/#format-overview */
const Answer = z.object({
  status: z.enum(['success', 'error']),
  data: z.unknown().optional(),
  error: z.string().optional(),
  warnings: z.array(z.string()).optional(),
});

export type Params = Readonly<Record<string, string | number>>;

export interface ApiAnswer {
  readonly data: unknown;
  /** What the server says against its own answer: it was cut short, a part of it could not be asked. */
  readonly warnings: readonly string[];
}

/** The reads of an HTTP API. */
export interface HttpApi {
  /**
   * `GET path?params`. Throws OpsError, its code after the system's name: `_AWAY` nobody answered, `_DENIED` the credential is not
   * good for it, `_REDIRECTED`, `_REFUSED` the question is wrong or too much, `_TOO_LARGE`, `_NO_API` it answers as something else,
   * `_<status>`.
   */
  get(path: string, params: Params, options: SessionOptions): Promise<ApiAnswer>;
}

/** Bytes of an answer, unpacked: what is beyond it, nobody would read. */
const MAX_BYTES = 8 * 1024 * 1024;

/** What is asked: `body` is sent as JSON. */
export interface HttpQuestion {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly params?: Params;
  readonly body?: Json;
}

export interface HttpCalls {
  /** Throws OpsError `_AWAY`, `_DENIED`, `_REDIRECTED` and `_TOO_LARGE`, see `HttpApi`; every other status is the caller's to judge. */
  send(
    question: HttpQuestion,
    options: SessionOptions,
  ): Promise<{ readonly status: number; readonly text: string }>;
  /** An OpsError, its code after the system's name. */
  fault(code: string, says: string, hint: string, cause?: unknown): OpsError;
}

/** The calls of a server over HTTP, whatever form its answers have. `system`: as people call it. */
export function httpCalls({ url, headers }: Pick<HttpConfig, 'url' | 'headers'>, system: string): HttpCalls {
  const fault: HttpCalls['fault'] = (code, says, hint, cause) =>
    new OpsError(`${system.toUpperCase()}_${code}`, says, {
      hint,
      retryable: code === 'AWAY' || code.startsWith('5'),
      cause,
    });

  async function answerTo(
    { method, path, params = {}, body }: HttpQuestion,
    { signal, timeoutMs }: SessionOptions,
  ): Promise<Response> {
    const question = new URL(`${url}${path}`);
    for (const [name, value] of Object.entries(params)) question.searchParams.append(name, String(value));
    const sent =
      body === undefined
        ? { headers }
        : { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const within = anySignal([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      // A redirect would take the credential to whatever the server names.
      return await fetch(question, { method, ...sent, signal: within, redirect: 'manual' });
    } catch (error) {
      if (signal.aborted) throw error;
      const why = within.aborted ? `in ${Math.round(timeoutMs / 1_000)} s` : `(${reasonOf(error)})`;
      throw fault('AWAY', `${system} did not answer ${why}.`, 'Look whether it runs, and its url.', error);
    }
  }

  async function bodyOf(response: Response): Promise<string> {
    const read = response.body === null ? Buffer.alloc(0) : await readUpTo(response.body, MAX_BYTES);
    if (read !== null) return read.toString('utf8');
    throw fault(
      'TOO_LARGE',
      `The answer has more than ${MAX_BYTES / 1024 / 1024} MiB.`,
      'Ask for less: name more labels, aggregate (sum by, topk), or take a shorter time.',
    );
  }

  return {
    fault,
    async send(question, options) {
      const response = await answerTo(question, options);
      const { status } = response;
      if (status === 401 || status === 403)
        throw fault(
          'DENIED',
          `${system} does not let Sentry ask it (${status}).`,
          'Check token_env, or username and password_env, of the target in sentry.yaml.',
        );
      if (status >= 300 && status < 400)
        throw fault(
          'REDIRECTED',
          `${system} sends Sentry elsewhere (${status}), and it does not follow.`,
          'Write the address it redirects to as the url of the target in sentry.yaml.',
        );
      return { status, text: await bodyOf(response) };
    },
  };
}

/** `system`: as people call it. */
export function httpApi(config: Pick<HttpConfig, 'url' | 'headers'>, system: string): HttpApi {
  const { send, fault } = httpCalls(config, system);
  return {
    async get(path, params, options) {
      const { status, text } = await send({ method: 'GET', path, params }, options);
      const answer = Answer.safeParse(jsonOf(text));
      if (answer.data?.status === 'success')
        return { data: answer.data.data, warnings: answer.data.warnings ?? [] };
      // Loki says what is wrong with a question as plain text.
      const said = (answer.data?.error ?? text).slice(0, 500).trim();
      if (status === 400 || status === 422 || status === 429 || (status === 503 && answer.success))
        throw fault(
          'REFUSED',
          `${system} refuses it: ${said || status}`,
          'Correct the question, or ask for less.',
        );
      if (status >= 400)
        throw fault(String(status), `${system} answered ${status}.`, 'Look into its own log.');
      throw fault(
        'NO_API',
        `What answers is not the API of ${system}.`,
        'Check the url of the target in sentry.yaml.',
      );
    },
  };
}

/** `fetch` itself says only that it failed. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : messageOf(cause ?? error);
}
