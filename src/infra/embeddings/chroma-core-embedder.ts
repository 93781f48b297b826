import { messageOf, OpsError } from '../../domain/errors.ts';
import type { Embedder } from '../../memory/ports.ts';
import { createVectorCache } from './vector-cache.ts';

/** What the packages call theirs, as far as we use it. */
interface EmbeddingFunction {
  generate(texts: string[]): Promise<readonly (readonly number[])[]>;
}

const TIMEOUT_MS = 30_000;
/** Texts a request: providers take at least so many. */
const BATCH = 32;
/** Longer ones are cut: what the shortest-sighted of them read. */
const MAX_CHARACTERS = 8_000;

/**
 * An embedding by one of the `@chroma-core/…` packages, which the operator installs beside Sentry. Loaded when first used.
 * Its fingerprint is its name with its options, but for keys and tokens.
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
      const cut = texts.map((text) => text.slice(0, MAX_CHARACTERS));
      const unknown = [...new Set(cut.filter((text) => cache.get(text) === undefined))];
      const fresh = new Map<string, readonly number[]>();
      for (let at = 0; at < unknown.length; at += BATCH) {
        const some = unknown.slice(at, at + BATCH);
        const vectors = await ask(some);
        some.forEach((text, i) => {
          const vector = vectors[i];
          if (!vector) throw failure(packageName, 'a text got no vector');
          fresh.set(text, vector);
          cache.set(text, vector);
        });
      }
      return cut.map((text) => fresh.get(text) ?? cache.get(text) ?? []);
    },
    close: async () => undefined,
  };

  async function ask(texts: readonly string[]): Promise<readonly (readonly number[])[]> {
    opened ??= open();
    opened.catch(() => {
      opened = undefined;
    });
    const embedding = await opened;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
    });
    try {
      return await Promise.race([embedding.generate([...texts]), late]);
    } catch (error) {
      throw failure(packageName, error);
    } finally {
      clearTimeout(timer);
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

const SECRET = /key|token|secret|password|credential/i;

function fingerprintOf(packageName: string, options: Readonly<Record<string, unknown>>): string {
  const told = Object.entries(options)
    .filter(([name]) => !SECRET.test(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `${packageName} ${JSON.stringify(Object.fromEntries(told))}`;
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
