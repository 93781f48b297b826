import type { Entities } from '../documents/document.ts';

const kinds = ['namespace', 'resource', 'environment', 'service'] as const;

/**
 * How much of what the question is about the document is about too: the share of the asked kinds (namespace, resource,
 * environment, service) with a name in common. 0 when the question names none, or the document none of the asked.
 */
export function entityScore(asked: Entities, document: Entities): number {
  const named = kinds.filter((kind) => asked[kind].length > 0);
  if (named.length === 0) return 0;
  const shared = named.filter((kind) => {
    const names = new Set(document[kind].map(plain));
    return asked[kind].some((name) => names.has(plain(name)));
  });
  return shared.length / named.length;
}

/** The instance's own suffix says nothing: `orders-7d9f8c6b5d-x2x9p` and `orders-0` are `orders`. */
function plain(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/-[a-f0-9]{8,10}-[a-z0-9]{5}$/, '')
    .replace(/-\d{1,3}$/, '');
}
