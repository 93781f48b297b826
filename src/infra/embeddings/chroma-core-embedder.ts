import { messageOf, OpsError } from '../../core/errors.ts';
import { within } from '../../core/within.ts';
import type { Embedder } from '../../search/ports.ts';
import { createVectorCache } from './vector-cache.ts';

/** What the packages call theirs, as far as we use it. */
interface EmbeddingFunction {
  generate(texts: string[]): Promise<readonly unknown[]>;
}

const TIMEOUT_MS = 30_000;
/** Texts a request: providers take at least so many. */
const BATCH = 32;
/** Longer ones are cut. OpenAI refuses more than 8,192 tokens, which may be little more than one character each. */
const MAX_CHARACTERS = 5_000;
/** For a text without any: providers refuse it, and with it all that are asked in the same request. */
const BLANK = '-';

/**
 * An embedding by one of the `@chroma-core/…` packages, which the operator installs beside Sentry. Loaded when first used.
 * Its fingerprint is its name with its options, but for keys, tokens and logins.
 */
export function createChromaCoreEmbedder({
  packageName,
  options,
  load = (name) => import(name),
}: {
  readonly packageName: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly load?: (name: string) => Promise<unknown>;
}): Embedder {
  const cache = createVectorCache();
  let opened: Promise<EmbeddingFunction> | undefined;

  return {
    fingerprint: fingerprintOf(packageName, options),
    async embed(texts) {
      const cut = texts.map((text) => (text.trim() === '' ? BLANK : text.slice(0, MAX_CHARACTERS)));
      const unknown = [...new Set(cut.filter((text) => cache.get(text) === undefined))];
      const fresh = new Map<string, readonly number[]>();
      for (let at = 0; at < unknown.length; at += BATCH) {
        const some = unknown.slice(at, at + BATCH);
        const vectors = await ask(some);
        some.forEach((text, i) => {
          const vector = plainVector(packageName, vectors[i]);
          fresh.set(text, vector);
          cache.set(text, vector);
        });
      }
      return cut.map((text) => fresh.get(text) ?? cache.get(text) ?? []);
    },
    close: async () => undefined,
  };

  async function ask(texts: readonly string[]): Promise<readonly unknown[]> {
    opened ??= open();
    opened.catch(() => {
      opened = undefined;
    });
    const embedding = await opened;
    try {
      return await within(TIMEOUT_MS, embedding.generate([...texts]));
    } catch (error) {
      throw failure(packageName, error);
    }
  }

  async function open(): Promise<EmbeddingFunction> {
    let module: unknown;
    try {
      module = await load(packageName);
    } catch (cause) {
      throw new OpsError(
        'EMBEDDINGS_MISSING',
        `the package ${packageName} cannot be loaded: ${messageOf(cause)}`,
        {
          hint: `Install it beside Sentry (npm install ${packageName}), or set SENTRY_EMBEDDING=offline.`,
          cause,
        },
      );
    }
    const Embedding = Object.entries(module as object).find(
      ([name, value]) => name.endsWith('EmbeddingFunction') && typeof value === 'function',
    )?.[1] as (new (options: object) => EmbeddingFunction) | undefined;
    if (!Embedding) throw failure(packageName, 'it exports no embedding function');
    try {
      return new Embedding({ ...options });
    } catch (error) {
      throw failure(packageName, error);
    }
  }
}

/** Typed arrays too; the sparse vectors that some packages make are no place in a space. */
function plainVector(packageName: string, given: unknown): readonly number[] {
  const vector = ArrayBuffer.isView(given) ? Array.from(given as Float32Array) : given;
  if (Array.isArray(vector) && vector.length > 0 && vector.every((one) => Number.isFinite(one)))
    return vector;
  throw failure(
    packageName,
    given === undefined ? 'a text got no vector' : 'what it makes are no dense vectors',
  );
}

const SECRET = /key|token|secret|password|credential/i;

function fingerprintOf(packageName: string, options: Readonly<Record<string, unknown>>): string {
  const told = Object.entries(options)
    .filter(([name]) => !SECRET.test(name))
    .map(([name, value]) => [name, withoutLogin(value)] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `${packageName} ${JSON.stringify(Object.fromEntries(told))}`;
}

/** A gateway's address may carry one. */
function withoutLogin(value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1') : value;
}

function failure(packageName: string, cause: unknown): OpsError {
  return new OpsError(
    'EMBEDDINGS_FAILED',
    `texts could not be embedded by ${packageName}: ${messageOf(cause)}`,
    {
      hint: 'Check SENTRY_EMBEDDING_OPTIONS and the variable that the package reads its key from. Search works by words until then.',
      retryable: true,
      cause,
    },
  );
}
