import type { z } from 'zod';
import type { BadInput } from './ports.ts';

/** The first thing zod found wrong, as the sender should read it. */
export function badInput(error: z.ZodError): BadInput {
  const [issue] = error.issues;
  return {
    ok: false,
    field: issue?.path.map(String).join('.') ?? '',
    reason: issue?.message ?? 'not what was expected',
  };
}
