/** Longer ones are written by programs; whoever writes one may make its reading slow. */
const MAX_LENGTH = 32_768;

/**
 * The statement as EXPLAIN may take it, or why not. The text comes from the server's own statistics, but a client wrote
 * it: only plain statements that EXPLAIN plans and does not run, never one cut by track_activity_query_size.
 */
export function explainable(
  query: string,
  maxBytes: number,
): { readonly sql: string } | { readonly why: string } {
  if (query.length > MAX_LENGTH) return { why: `it has more than ${MAX_LENGTH} characters` };
  if (Buffer.byteLength(query) >= maxBytes - 1)
    return {
      why: `the server keeps only ${maxBytes} bytes of a statement (track_activity_query_size), and this one is cut`,
    };
  const sql = query.trim().replace(/;\s*$/, '');
  const bare = withoutLeadingComments(sql);
  if (/^explain\b/i.test(bare)) return { why: 'it is an EXPLAIN itself' };
  if (!/^(select|with|insert|update|delete|merge|values|table)\b|^\(+\s*select\b/i.test(bare))
    return {
      why: `only SELECT, INSERT, UPDATE, DELETE, MERGE, VALUES and WITH have a plan; this begins with "${bare.slice(0, 20)}"`,
    };
  return { sql };
}

export function withoutLeadingComments(sql: string): string {
  let rest = sql.trimStart();
  for (;;) {
    const next = rest
      .replace(/^--[^\n]*(\n|$)/, '')
      .replace(/^\/\*[\s\S]*?\*\//, '')
      .trimStart();
    if (next === rest) return rest;
    rest = next;
  }
}
