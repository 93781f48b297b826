import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from './product.ts';

/** A statement as it stands in the source, with `$1` for each value. */
export interface SourceStatement {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

const VERB = /^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\s/;

/**
 * Every statement that Sentry sends to its own database. Whoever sends one has the `Sql` port, whose values are parameters and never
 * text, so what stands between backticks is all of it. What `src/targets` asks goes to the systems under care.
 */
export function sourceStatements(): readonly SourceStatement[] {
  return readdirSync(join(repository, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.startsWith('targets/'))
    .flatMap((file) => {
      const source = readFileSync(join(repository, 'src', file), 'utf8');
      return statementsIn(source).map(({ at, text }) => ({
        file: `src/${file}`,
        line: source.slice(0, at).split('\n').length,
        text,
      }));
    });
}

function statementsIn(source: string): { readonly at: number; readonly text: string }[] {
  const found: { readonly at: number; readonly text: string }[] = [];
  for (const { index } of source.matchAll(/`/g)) {
    if (!VERB.test(source.slice(index + 1, index + 200))) continue;
    found.push({ at: index, text: templateAt(source, index + 1) });
  }
  return found;
}

/** The template that begins at `from`; a value may hold braces and templates of its own. */
function templateAt(source: string, from: number): string {
  let text = '';
  let values = 0;
  for (let at = from; source[at] !== '`'; at++) {
    if (source.startsWith('${', at)) {
      values += 1;
      text += `$${values}`;
      at = endOfValue(source, at + 2);
    } else if (source[at] === '\\') {
      at += 1;
      text += source[at];
    } else text += source[at];
  }
  return text;
}

function endOfValue(source: string, from: number): number {
  let depth = 1;
  let quote: string | null = null;
  for (let at = from; at < source.length; at++) {
    const char = source[at] as string;
    if (char === '\\') at += 1;
    else if (quote !== null) quote = char === quote ? null : quote;
    else if (char === "'" || char === '"') quote = char;
    else if (char === '`') quote = char;
    else if (char === '{') depth += 1;
    else if (char === '}' && --depth === 0) return at;
  }
  throw new Error('a value in a template has no end');
}
