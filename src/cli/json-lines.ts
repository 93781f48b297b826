import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { isObject } from '../core/json-of.ts';
import { exitCodes } from './fail.ts';

const EXAMPLE = '{"id": 1, "text": "…"}';

/** A text to look at, and what its answer is to be known by. */
export const NamedText = z.object({ id: z.union([z.string(), z.number()]), text: z.string() });

/**
 * Answers each line of standard input with a line on standard output, in order, one at a time, so that memory stays
 * bounded. A line that is no JSON or does not fit the schema is answered with `{id, error}` (which line, which field),
 * the rest goes on, and the exit code is 1.
 */
export async function mapJsonLines<Input>(
  schema: z.ZodType<Input>,
  answer: (input: Input) => object | Promise<object>,
): Promise<void> {
  let number = 0;
  const out = createOutput();
  try {
    for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
      number += 1;
      if (line.trim() === '') continue;
      const read = readLine(schema, line);
      const output =
        'input' in read
          ? await answer(read.input)
          : { ...read, error: `line ${number}: ${read.error}; a line looks like ${EXAMPLE}` };
      if (!('input' in read)) process.exitCode = exitCodes.failed;
      await out.write(`${JSON.stringify(output)}\n`);
    }
  } finally {
    await out.flush();
  }
}

const BLOCK = 65_536;

/** Standard output in blocks: a write a line costs more than most answers. What is there goes out when nothing comes in. */
function createOutput() {
  let waiting = '';
  let soon: NodeJS.Immediate | undefined;
  const send = (): boolean => {
    clearImmediate(soon);
    soon = undefined;
    const block = waiting;
    waiting = '';
    return block === '' || process.stdout.write(block);
  };
  const flush = async (): Promise<void> => {
    if (!send()) await once(process.stdout, 'drain');
  };
  return {
    async write(line: string): Promise<void> {
      waiting += line;
      if (waiting.length >= BLOCK) await flush();
      else soon ??= setImmediate(send);
    },
    flush,
  };
}

function readLine<Input>(
  schema: z.ZodType<Input>,
  line: string,
): { readonly input: Input } | { readonly id: unknown; readonly error: string } {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { id: null, error: `no JSON (${error.message})` };
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return { input: parsed.data };
  const id = isObject(value) ? (value['id'] ?? null) : null;
  const error = parsed.error.issues
    .map(({ path, message }) => `${path.join('.') || 'line'}: ${message}`)
    .join('; ');
  return { id, error };
}
