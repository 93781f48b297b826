/** `/documents/:id` against `/documents/doc_1`: `{ id: 'doc_1' }`; null when it is another path. One segment a name, never empty. */
export function matchPath(pattern: string, path: string): Readonly<Record<string, string>> | null {
  const wanted = pattern.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [n, part] of wanted.entries()) {
    const found = given[n] ?? '';
    if (!part.startsWith(':')) {
      if (part !== found) return null;
      continue;
    }
    const value = decoded(found);
    if (value === null || value === '') return null;
    params[part.slice(1)] = value;
  }
  return params;
}

function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null; // Half an escape is no path of ours.
  }
}
