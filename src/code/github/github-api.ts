import { anySignal } from '../../core/any-signal.ts';
import { messageOf, OpsError } from '../../core/errors.ts';
import { jsonOf } from '../../core/json-of.ts';
import { readUpTo } from '../../core/read-up-to.ts';
import type { GitHubPlace, Reading } from '../repository.ts';

/** Bytes of an answer. */
const MAX_BYTES = 16 * 1024 * 1024;
/** https://docs.github.com/en/rest/about-the-rest-api/api-versions */
const VERSION = '2022-11-28';

export interface GitHubApi {
  /**
   * `GET path?params` below the repository; null: there is no such thing (404), or it is no such thing's name (422). Throws OpsError
   * `CODE_AWAY` and `CODE_TOO_MUCH`.
   */
  get(path: string, params: Readonly<Record<string, string>>, reading: Reading): Promise<unknown>;
  /** A question in GraphQL; null: it was not answered as asked. */
  query(question: string, variables: Readonly<Record<string, string>>, reading: Reading): Promise<unknown>;
}

export function createGitHubApi({ owner, repo, api, token }: GitHubPlace): GitHubApi {
  const name = `${owner}/${repo}`;

  async function ask(url: string, init: RequestInit, { signal, timeoutMs }: Reading): Promise<unknown> {
    const within = anySignal([signal, AbortSignal.timeout(timeoutMs)]);
    let answer: Response;
    let body: Buffer | null;
    try {
      answer = await fetch(url, {
        ...init,
        signal: within,
        // A redirect would take the token to whatever it names.
        redirect: 'manual',
        headers: {
          accept: 'application/vnd.github+json',
          'content-type': 'application/json',
          'user-agent': 'sentry-oncall',
          'x-github-api-version': VERSION,
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        },
      });
      body = answer.body === null ? Buffer.alloc(0) : await readUpTo(answer.body, MAX_BYTES);
    } catch (error) {
      if (signal.aborted) throw error;
      const why = within.aborted ? `in ${Math.round(timeoutMs / 1_000)} s` : `(${reasonOf(error)})`;
      throw away(
        `GitHub did not answer ${why}.`,
        'Look whether this machine reaches it, and at `api_url`.',
        error,
      );
    }
    if (body === null)
      throw new OpsError('CODE_TOO_MUCH', `GitHub answers with more than ${MAX_BYTES / 1024 / 1024} MiB.`, {
        hint: 'Ask for less: name paths, or two versions that are closer to each other.',
      });
    if (answer.ok) return jsonOf(body.toString('utf8')) ?? notUnderstood(name);
    if (answer.status === 404 || answer.status === 422) return null;
    throw refusedBy(answer, name);
  }

  return {
    get(path, params, reading) {
      const query = new URLSearchParams(params).toString();
      const below = `${api}/repos/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}${path}`;
      return ask(query === '' ? below : `${below}?${query}`, { method: 'GET' }, reading);
    },
    // GitHub Enterprise has its REST API at /api/v3 and this one beside it.
    query: (question, variables, reading) =>
      ask(
        `${api.replace(/\/v3$/, '')}/graphql`,
        {
          method: 'POST',
          body: JSON.stringify({ query: question, variables: { owner, repo, ...variables } }),
        },
        reading,
      ),
  };
}

const away = (says: string, hint: string, cause?: unknown): OpsError =>
  new OpsError('CODE_AWAY', says, { hint, retryable: true, cause });

function refusedBy({ status, headers }: Response, name: string): OpsError {
  if (status >= 300 && status < 400)
    return away(`GitHub has ${name} elsewhere (${status}).`, 'Write its name as it is now into sentry.yaml.');
  // https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
  const isLimited =
    status === 429 || headers.get('x-ratelimit-remaining') === '0' || headers.has('retry-after');
  if (status === 429 || (status === 403 && isLimited)) {
    const reset = Number(headers.get('x-ratelimit-reset'));
    const until = reset > 0 ? ` until ${new Date(reset * 1_000).toISOString()}` : '';
    return away(
      `GitHub answers no more questions of this token${until}.`,
      'Wait, or name a token of its own.',
    );
  }
  if (status === 401 || status === 403)
    return away(
      `GitHub does not let Sentry read ${name} (${status}).`,
      'Its token needs the right to read Contents (fine-grained), or the scope repo (classic).',
    );
  return away(`GitHub answered ${status}.`, 'Try again later.');
}

function notUnderstood(name: string): never {
  throw away(`What answers for ${name} is not the API of GitHub.`, 'Look at `api_url` in sentry.yaml.');
}

/** `fetch` itself says only that it failed. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : messageOf(cause ?? error);
}
