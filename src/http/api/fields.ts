import { z } from 'zod';
import { inputProblem } from '../../safety/inputs/clean-input.ts';

/** A text that says what it seems to say: nothing in it that nobody sees, which the record could not hold either. */
export const text = (max: number, min = 1) =>
  z
    .string({ error: 'expected a text' })
    .min(min, min === 1 ? 'must not be empty' : `at least ${min} characters`)
    .max(max, `at most ${max.toLocaleString('en')} characters`)
    .refine((value) => inputProblem(value) === undefined, 'holds control or invisible characters');

/** A whole document; what may stand in it the scanner says. */
export const documentText = z
  .string({ error: 'expected a text' })
  .min(1, 'must not be empty')
  .max(50_000, 'at most 50,000 characters')
  .refine((value) => !value.includes('\u0000'), 'holds a NUL character');

/** The same as `text`, on one line. */
export const line = (max: number, min = 1) =>
  text(max, min).refine((value) => !/[\r\n]/.test(value), 'expected one line');

export const wholeNumber = (min: number, max: number) => {
  const error = `expected a whole number from ${min} to ${max.toLocaleString('en')}`;
  return z.int({ error }).min(min, error).max(max, error);
};

export const oneOf = <const Names extends readonly string[]>(names: Names) =>
  z.enum(names, { error: `expected one of ${names.join(', ')}` });

/** A time as it is answered: UTC. */
export const time = z.iso.datetime({ offset: true, error: 'expected a time like 2026-11-25T10:00:00Z' });

export const incidentId = z
  .string({ error: 'expected the number of an incident, like INC-7' })
  .regex(/^INC-[1-9][0-9]{0,17}$/, 'expected the number of an incident, like INC-7')
  .describe('The number of an incident.')
  .meta({ examples: ['INC-7'] });

export const recordId = (what: string) =>
  z
    .string({ error: `expected the id of a ${what}` })
    .regex(/^[\w-]{1,80}$/, `expected the id of a ${what}`)
    .describe(`The id of a ${what}.`);

export const slackUser = z
  .string({ error: 'expected the Slack user id of an admin' })
  .regex(/^[UW][A-Z0-9]{2,20}$/, 'expected the Slack user id of an admin, like U0123ABCD');

export const sha256 = z
  .string({ error: 'expected a SHA-256 in lower-case hex' })
  .regex(/^[0-9a-f]{64}$/, 'expected a SHA-256 in lower-case hex');

/** What of a thing is answered: nothing else of it leaves. */
export const pick = <T extends object, const Name extends keyof T>(
  of: T,
  names: readonly Name[],
): Pick<T, Name> => Object.fromEntries(names.map((name) => [name, of[name]])) as Pick<T, Name>;
