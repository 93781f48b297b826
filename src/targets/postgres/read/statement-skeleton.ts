/** What stands in a statement where a value does. */
export type Hole =
  | { readonly kind: 'parameter' }
  /** `value` null: written in a way that is not read here. */
  | { readonly kind: 'literal'; readonly value: string | null };

/** A statement without its strings. */
export interface Skeleton {
  /** The text between the holes, and by their index the holes: `$1` is index 0. */
  readonly pieces: readonly (string | number)[];
  readonly holes: readonly Hole[];
}

/**
 * Takes the strings out of a statement, so that the server can say what it means before it has read one of them: reading a
 * string as a value may already run somebody's function (the check of a domain in `'{…}'::somebody.type[]`). Equal strings
 * become one hole when `share` is set: as PostgreSQL compares them in GROUP BY. Undefined when something is left of which
 * it is not certain that it is no string; that is looked at in the result, whatever the reading before made of the text.
 */
export function statementSkeleton(sql: string, share: boolean): Skeleton | undefined {
  const pieces: (string | number)[] = [];
  const holes: Hole[] = [];
  const known = new Map<string, number>();
  const text = (more: string): void => {
    const last = pieces.at(-1);
    if (typeof last === 'string') pieces[pieces.length - 1] = last + more;
    else pieces.push(more);
  };
  const hole = (key: string | null, made: Hole): void => {
    const index = (key === null ? undefined : known.get(key)) ?? holes.length;
    if (index === holes.length) holes.push(made);
    if (key !== null) known.set(key, index);
    const typed = typeBefore(pieces);
    text(typed === undefined ? ' ' : ' CAST(');
    pieces.push(index);
    text(typed === undefined ? ' ' : ` AS pg_catalog.${typed}) `);
  };
  for (const [token] of sql.matchAll(tokens)) {
    if (/^(--|\/\*)/.test(token)) text(' ');
    else if (/^\$\d/.test(token)) hole(token, { kind: 'parameter' });
    else if (token.length > 1 && /^['$]|^[a-z&]{1,2}'/i.test(token)) {
      const value = valueOf(token);
      hole(share && value !== null ? `'${value}` : null, { kind: 'literal', value });
    } else text(token);
  }
  const left = pieces.filter((piece) => typeof piece === 'string').join(' ');
  return /'|--|\/\*|\$(?!\d)/.test(left) ? undefined : { pieces, holes };
}

/** The statement with something in each hole. */
export function filled({ pieces }: Skeleton, fill: (hole: number) => string): string {
  return pieces.map((piece) => (typeof piece === 'string' ? piece : fill(piece))).join('');
}

/**
 * A string in place of a hole. Null where it could end something else: in a statement with quoted names, should a hole lie
 * in one of them after all, a string without `"` stays in it.
 */
export function stringIn({ pieces }: Skeleton, value: string): string | null {
  const quotes = pieces.some((piece) => typeof piece === 'string' && piece.includes('"'));
  return quotes && value.includes('"') ? null : `'${value.replaceAll("'", "''")}'`;
}

const word = String.raw`[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*`;
const tokens = new RegExp(
  [
    String.raw`--[^\n\r]*`,
    String.raw`\/\*(?:[^*/]|\*(?!\/)|\/(?!\*))*\*\/`,
    String.raw`"(?:[^"]|"")*"`,
    String.raw`[eE]'(?:[^'\\]|''|\\[\s\S])*'`,
    String.raw`(?:[bBxXnN]|[uU]&)?'(?:[^']|'')*'`,
    String.raw`\$\d+`,
    String.raw`\$(?<tag>(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?)\$[\s\S]*?\$\k<tag>\$`,
    word,
    String.raw`\d[\w.]*`,
    String.raw`[\s\S]`,
  ].join('|'),
  'g',
);

/** What a string says; null for kinds with a meaning of their own (bits, escapes). */
function valueOf(token: string): string | null {
  if (token.startsWith('$')) {
    const tag = token.indexOf('$', 1) + 1;
    return token.slice(tag, -tag);
  }
  const plain = /^[eEnN]?'([\s\S]*)'$/.exec(token)?.[1]?.replaceAll("''", "'");
  if (plain === undefined) return null;
  return /^e/i.test(token) && plain.includes('\\') ? null : plain;
}

const typeNames: Readonly<Record<string, string>> = {
  'timestamp with time zone': 'timestamptz',
  'timestamp without time zone': 'timestamp',
  'time with time zone': 'timetz',
  'time without time zone': 'time',
};
const typeAtEnd =
  /(?<![\w$."])(date|interval|timestamptz|timetz|timestamp(?:\s+with(?:out)?\s+time\s+zone)?|time(?:\s+with(?:out)?\s+time\s+zone)?|jsonb?|uuid|inet|cidr|numeric|bytea)\s*$/i;

/** `interval '5 minutes'` is a type before a string, which no parameter may follow: takes the type out, and says it. */
function typeBefore(pieces: (string | number)[]): string | undefined {
  const last = pieces.at(-1);
  if (typeof last !== 'string') return undefined;
  const found = typeAtEnd.exec(last);
  if (found === null) return undefined;
  pieces[pieces.length - 1] = last.slice(0, found.index);
  const name = (found[1] ?? '').toLowerCase().replace(/\s+/g, ' ');
  return typeNames[name] ?? name;
}
