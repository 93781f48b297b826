import { z } from 'zod';
import type { Point } from '../system.ts';

export const Labels = z.record(z.string(), z.string());
/** `"NaN"`, `"+Inf"` and `"-Inf"` are values, too. */
export const Sample = z
  .tuple([z.number(), z.string()])
  .transform(([at, value]): Point => [at, Number(value.replace('Inf', 'Infinity'))]);

/** Several series over time, as Loki has them, too. */
export const Matrix = z.object({
  resultType: z.literal('matrix'),
  result: z.array(z.object({ metric: Labels, values: z.array(Sample).default([]) })),
});
