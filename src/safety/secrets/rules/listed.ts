import { isPlaceholder, looksLikePassword } from '../randomness.ts';
import type { Span, TextRule } from '../rule.ts';
import { secretNameOf } from './secret-names.ts';

// Secrets whose name does not stand beside them: a column's name at the head of a statement, a list below a word.

const insert = /\binsert\s{1,4}into\s{1,4}[\w."`[\]]{1,80}\s{0,4}\(([^()]{1,600})\)\s{0,4}values\s{0,4}/gi;
/** One row of values; a text in it may hold brackets. */
const row = /[,\s]{0,8}\(((?:'(?:[^'\\\n]|''|\\.){0,600}'|[^'()\n]){1,2000})\)/y;
const value = /\s{0,4}(?:'((?:[^'\\]|''|\\.){0,600})'|[^,']{0,200})\s{0,4}(?:,|$)/dy;
const MAX_ROWS = 200;

function insertedSpans(text: string): Span[] {
  return [...text.matchAll(insert)].flatMap(({ 0: { length }, 1: columns = '', index }) => {
    const secret = columns
      .split(',')
      .flatMap((name, at) => (secretNameOf(name.replace(/\W/g, ' ').trim())?.last === true ? at : []));
    return secret.length === 0 ? [] : rowSpans(text, index + length, secret);
  });
}

function rowSpans(text: string, from: number, secret: readonly number[]): Span[] {
  const spans: Span[] = [];
  row.lastIndex = from;
  for (let rows = 0; rows < MAX_ROWS; rows++) {
    const found = row.exec(text);
    if (found === null) break;
    const values = found[1] as string;
    spans.push(...valueSpans(values, row.lastIndex - 1 - values.length, secret));
  }
  return spans;
}

function valueSpans(values: string, from: number, secret: readonly number[]): Span[] {
  const spans: Span[] = [];
  value.lastIndex = 0;
  for (let at = 0; value.lastIndex < values.length; at++) {
    const found = value.exec(values);
    if (found === null) break;
    const place = found.indices?.[1];
    if (place !== undefined && secret.includes(at) && place[1] > place[0] && !isPlaceholder(found[1] ?? ''))
      spans.push({ start: from + place[0], end: from + place[1] });
  }
  return spans;
}

/** `chpasswd:` of cloud-init, and what a shell hands to chpasswd: `user:password`, a line each. */
const list = /\bchpasswd(?::|[^\n]{0,60}<<-?\s{0,2}["']?\w{1,20}["']?)[^\n]{0,40}\n/gi;
const entry =
  /[ \t]{0,40}(?:- )?(?:[\w.-]{1,64}:([^\s:'"]{3,256})|(?:list|expire|users):[^\n]{0,40}|)[ \t]{0,4}\r?(?:\n|$)/dy;
const MAX_ENTRIES = 100;

function listSpans(text: string): Span[] {
  const spans: Span[] = [];
  for (const {
    0: { length },
    index,
  } of text.matchAll(list)) {
    entry.lastIndex = index + length;
    for (let entries = 0; entries < MAX_ENTRIES && entry.lastIndex < text.length; entries++) {
      const found = entry.exec(text);
      if (found === null) break;
      const [start, end] = found.indices?.[1] ?? [0, 0];
      if (end > start && looksLikePassword(found[1] ?? '')) spans.push({ start, end });
    }
  }
  return spans;
}

export const listedRules: readonly TextRule[] = [
  {
    id: 'inserted-secret',
    category: 'password',
    source: 'SQL: INSERT INTO … (…, password) VALUES (…)',
    // A bracket is rarer than any letter.
    hint: (text) => /\)\s{0,4}values/i.test(text),
    spans: insertedSpans,
  },
  {
    id: 'password-list',
    category: 'password',
    source: 'cloudinit.readthedocs.io: set passwords; chpasswd(8)',
    hint: (text) => text.includes('chpasswd'),
    spans: listSpans,
  },
];
