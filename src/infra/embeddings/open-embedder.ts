import { createRequire } from 'node:module';
import type { Log } from '../../core/log.ts';
import type { Embedder } from '../../search/ports.ts';
import { createChromaCoreEmbedder } from './chroma-core-embedder.ts';
import { createEmbedder, OFFLINE } from './embedder.ts';

export interface EmbeddingChoice {
  /** `offline`, `all-minilm-l6-v2`, or what follows `@chroma-core/`. */
  readonly name: string;
  readonly options: Readonly<Record<string, unknown>>;
}

/** Names that people know better than the packages'. */
const packages: Readonly<Record<string, string>> = { 'all-minilm-l6-v2': '@chroma-core/default-embed' };

/** The embedding of the configuration. A package that is missing is told at the first use. */
export function openEmbedder({ name, options }: EmbeddingChoice, log: Log): Embedder {
  if (name === 'offline') return createEmbedder({ log });
  return createChromaCoreEmbedder({ packageName: packageOf(name), options });
}

const packageOf = (name: string): string => packages[name] ?? `@chroma-core/${name}`;

/** The package that is not installed beside Sentry; null: none is missing. What else is wrong with one is told at the first use. */
export function missingPackage({ name }: Pick<EmbeddingChoice, 'name'>): string | null {
  if (name === 'offline') return null;
  try {
    createRequire(import.meta.url).resolve(packageOf(name));
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND' ? packageOf(name) : null;
  }
}

/** The embedding a collection says it was made with, as far as it can be had without its keys; null when it cannot. */
export function embedderOf(fingerprint: string, log: Log): Embedder | null {
  if (fingerprint === OFFLINE) return createEmbedder({ log });
  const made = /^(@chroma-core\/[a-z0-9-]+) (\{.*\})$/s.exec(fingerprint);
  if (!made) return null;
  const [, packageName = '', options = '{}'] = made;
  return createChromaCoreEmbedder({ packageName, options: JSON.parse(options) as Record<string, unknown> });
}
