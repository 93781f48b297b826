import { z } from 'zod';
import { closestName } from './closest-name.ts';

// Whoever reads what a schema found wrong has written a file, a request or a setting, and does not know zod: what a schema
// does not say in words of its own is said in these. Imported once, by whatever starts a process.
z.config({ customError: (issue) => inWords(issue) });

type Issue = Parameters<z.core.$ZodErrorMap>[0];

function inWords(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? `is missing: expected ${aType(issue)}` : `expected ${aType(issue)}`;
    case 'invalid_value':
      return `expected ${oneOf(issue.values)}`;
    case 'too_big':
      return `expected at most ${amount(issue.maximum, issue.origin)}`;
    case 'too_small':
      return `expected at least ${amount(issue.minimum, issue.origin)}`;
    case 'unrecognized_keys':
      return issue.keys.map((key) => unknownKey(key, keysOf(issue.inst))).join('; ');
    case 'invalid_union':
      return Array.isArray(issue.options) && issue.options.length > 0
        ? `expected ${oneOf(issue.options)}`
        : 'has none of the forms that are taken';
    case 'invalid_key':
      return 'has a name that is not taken';
    case 'invalid_format':
    case 'invalid_element':
    case 'not_multiple_of':
    case 'custom':
      return 'is not of the form that is taken';
  }
}

const types: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'names with values',
  record: 'names with values',
};

const aType = ({ expected }: Issue & { readonly code: 'invalid_type' }): string =>
  types[expected] ?? 'another value';

const oneOf = (values: readonly unknown[]): string =>
  values.length === 1 ? `"${String(values[0])}"` : `one of ${values.map(String).join(', ')}`;

const units: Readonly<Record<string, string | undefined>> = { string: ' characters', array: ' entries' };

const amount = (limit: number | bigint, origin: string): string => `${limit}${units[origin] ?? ''}`;

function unknownKey(key: string, known: readonly string[]): string {
  const meant = closestName(key, known);
  return `there is no "${key}" here${meant ? `; did you mean "${meant}"?` : ''}`;
}

const keysOf = (schema: unknown): readonly string[] =>
  schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
