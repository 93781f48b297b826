import { readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { messageOf, OpsError } from '../../src/core/errors.ts';
import { whyNot } from '../../src/core/system-fault.ts';

/** Reads a file of JSON lines. Throws OpsError EVALS_FILE that names line and field; nothing is read by halves. */
export async function readLines<T>(path: string, schema: z.ZodType<T>): Promise<readonly T[]> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw fault(`${path} cannot be read: ${whyNot(error)}.`, error);
  });
  return text
    .split('\n')
    .map((line, index) => ({ line, number: index + 1 }))
    .filter(({ line }) => line.trim() !== '')
    .map(({ line, number }) => readLine(`${path}:${number}`, line, schema));
}

function readLine<T>(where: string, line: string, schema: z.ZodType<T>): T {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw fault(`${where}: no JSON (${messageOf(error)}).`, error);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(
    ({ path, message }) => `${path.map(String).join('.') || 'line'}: ${message}`,
  );
  throw fault(`${where}: ${issues.slice(0, 3).join('; ')}.`, parsed.error);
}

const fault = (message: string, cause: unknown): OpsError =>
  new OpsError('EVALS_FILE', message, {
    hint: 'One JSON object a line; docs/evals.md describes the fields.',
    cause,
  });
