import { storable, storableJson } from '../../core/storable.ts';
import type { Json } from '../../core/tool-call.ts';
import { findSecrets } from '../secrets/find-secrets.ts';
import { withoutUnseen } from '../secrets/unseen.ts';
import { hideCopies } from './copies.ts';

/** Rounds until a text is quiet; more than two mean that somebody builds texts against us. */
const MAX_ROUNDS = 6;

/**
 * Replaces every secret by `[redacted:<rule>]`; text without one comes back unchanged. Within a text the same secret has the
 * same placeholder, and a second one of the same rule is `[redacted:<rule>#2]`, so that a reader can tell them apart.
 * What one rule found is hidden wherever else it stands, too. `redact(redact(x)) === redact(x)`. Fails closed: a text that does not come to rest is withheld whole. It is made storable
 * first: a NUL in the middle would hide a secret that is whole again when the database has dropped it.
 */
export function redact(text: string): string {
  return redactWith(storable(text), newNames());
}

/** The same in every string of a value; keys are redacted too, since tool results are often keyed by what was found. */
export function redactJson(value: Json): Json {
  const names = newNames();
  const shown = walk(storableJson(value), names);
  // What was found in one string may stand in those before it.
  return names.known.size === 0 ? shown : walk(shown, names);
}

function walk(value: Json, names: Names): Json {
  if (typeof value === 'string') return redactWith(value, names);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value))
    return value.map((item: Json, n) => besideKey(flagBefore(value as readonly Json[], n), item, names));
  const entries = value as Record<string, Json>;
  return Object.fromEntries(
    Object.entries(entries).map(([key, item]) => [
      redactWith(key, names),
      besideKey(/^value$/i.test(key) ? nameIn(entries) : key, item, names),
    ]),
  );
}

/** `{"name": "DB_PASSWORD", "value": "…"}`, as containers list their environment. */
function nameIn(entries: Readonly<Record<string, Json>>): string {
  const name = entries['name'] ?? entries['Name'] ?? entries['key'] ?? entries['Key'];
  return typeof name === 'string' ? name : '';
}

/** `["--password", "…"]`, as containers list their arguments. */
function flagBefore(items: readonly Json[], n: number): string {
  const before = items[n - 1];
  return typeof before === 'string' && /^--?[a-z][\w-]{2,40}$/i.test(before) ? before : '';
}

/** `{"password": "…"}` says only with its key that the value is one. */
function besideKey(key: string, item: Json, names: Names): Json {
  if (typeof item !== 'string') return walk(item, names);
  const before = `${key}="`;
  const shown = redactWith(item, names);
  if (key === '' || shown !== item || /["'\n\\]/.test(item) || key.length > 64) return shown;
  const together = redactWith(`${before}${item}"`, names);
  return together.startsWith(before) && together.endsWith('"') ? together.slice(before.length, -1) : shown;
}

function redactWith(text: string, names: Names): string {
  let shown = text;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const findings = findSecrets(shown);
    if (findings.length === 0) {
      const hidden = hideCopies(shown, names.byValue);
      if (hidden === shown) return shown;
      shown = hidden;
      continue;
    }
    skipTaken(shown, names);
    let out = '';
    let at = 0;
    for (const { start, end, rule } of findings) {
      out += shown.slice(at, start) + nameOf(rule, shown.slice(start, end), names);
      at = end;
    }
    shown = out + shown.slice(at);
  }
  return findSecrets(shown).length === 0 ? shown : '[redacted:unreadable]';
}

/** Which placeholder stands for which secret, while one text or value is redacted. */
interface Names {
  readonly known: Map<string, string>;
  /** The same whatever rule found it: for its copies. */
  readonly byValue: Map<string, string>;
  /** How many placeholders of a rule there are. */
  readonly counts: Map<string, number>;
}

function newNames(): Names {
  return { known: new Map(), byValue: new Map(), counts: new Map() };
}

/** Numbers that are in the text already belong to secrets of an earlier pass. */
function skipTaken(text: string, { counts }: Names): void {
  if (!text.includes('[redacted:')) return;
  for (const [, rule = '', number = '1'] of text.matchAll(/\[redacted:([\w.-]{1,60})(?:#(\d{1,6}))?\]/g))
    counts.set(rule, Math.max(counts.get(rule) ?? 0, Number(number)));
}

function nameOf(rule: string, secret: string, { known, byValue, counts }: Names): string {
  const key = `${rule}\n${secret}`;
  let name = known.get(key);
  if (name === undefined) {
    const number = (counts.get(rule) ?? 0) + 1;
    counts.set(rule, number);
    name = number === 1 ? `[redacted:${rule}]` : `[redacted:${rule}#${number}]`;
    known.set(key, name);
    // Its copies need not be coloured as it is.
    byValue.set(withoutUnseen(secret).text, name);
  }
  return name;
}
