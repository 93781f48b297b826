import { OpsError, type Refusal, refuse } from '../../core/errors.ts';
import type { Json } from '../../core/tool-call.ts';

/** What any input may measure; tools' schemas and check 6 are stricter. Beyond it nothing looks at the input at all. */
const MAX_DEPTH = 32;
const MAX_VALUES = 20_000;
const MAX_CHARACTERS = 200_000;

/**
 * A copy of an input that nobody else holds, read once: what is checked, hashed, shown and run is then the same, whatever
 * the caller does with its own in between. Only what JSON carries unchanged: no functions, dates, cycles, holes, NaN or
 * fields called `__proto__`; `-0` becomes 0, and a field that is undefined is not there.
 */
export function plainJson(value: unknown): { readonly ok: true; readonly value: Json } | Refusal {
  try {
    return { ok: true, value: copyOf(value, 'input', 0, { values: 0, characters: 0 }) };
  } catch (error) {
    if (error instanceof OpsError) return refuse(error.code, error.message);
    // A getter or proxy of the caller's that throws.
    return refuse('INPUT_NOT_JSON', 'input: cannot be read.');
  }
}

interface Measure {
  values: number;
  characters: number;
}

function copyOf(item: unknown, where: string, depth: number, measure: Measure): Json {
  measure.values += 1;
  if (depth > MAX_DEPTH)
    throw beyond('INPUT_TOO_DEEP', `${where.slice(0, 80)}: nested more than ${MAX_DEPTH} deep.`);
  if (measure.values > MAX_VALUES) throw beyond('INPUT_TOO_LONG', `input: more than ${MAX_VALUES} values.`);
  if (item === null || typeof item === 'boolean') return item;
  if (typeof item === 'string') return counted(item, measure);
  // -0 + 0 is 0: the database and the hash know only that one.
  if (typeof item === 'number' && Number.isFinite(item)) return item + 0;
  if (Array.isArray(item))
    return Array.from(item, (one: unknown, index) => copyOf(one, `${where}.${index}`, depth + 1, measure));
  if (typeof item === 'object' && isPlain(item)) return copyFields(item, where, depth, measure);
  throw beyond('INPUT_NOT_JSON', `${where.slice(0, 80)}: is not what JSON can carry.`);
}

function copyFields(item: object, where: string, depth: number, measure: Measure): Json {
  const copy: Record<string, Json> = {};
  for (const key of Object.keys(item)) {
    if (key === '__proto__')
      throw beyond('INPUT_NOT_JSON', `${where.slice(0, 80)}: has a field called __proto__.`);
    const field: unknown = (item as Record<string, unknown>)[key];
    if (field !== undefined)
      copy[counted(key, measure)] = copyOf(field, `${where}.${key.slice(0, 40)}`, depth + 1, measure);
  }
  return copy;
}

function counted(text: string, measure: Measure): string {
  measure.characters += text.length;
  if (measure.characters > MAX_CHARACTERS)
    throw beyond('INPUT_TOO_LONG', `input: more than ${MAX_CHARACTERS} characters.`);
  return text;
}

function isPlain(item: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(item);
  return prototype === Object.prototype || prototype === null;
}

function beyond(code: string, message: string): OpsError {
  return new OpsError(code, message, { hint: 'Give less, and only what JSON can carry.' });
}
