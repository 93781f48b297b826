import { z } from 'zod';
import { toolsOf } from '../../tools/define.ts';
import type { Prometheus } from './system.ts';

/** Offered in incidents of every domain: Prometheus is the neighbour of what it watches. */
export const prometheusTool = toolsOf<Prometheus>('prometheus', 'any');

export const promql = z.string().trim().min(1).max(2_000);

/** Which series of all: each of these labels has exactly this value. */
export const labelValues = z
  .record(z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_]*$/, 'expected the name of a label'), z.string().max(500))
  .refine((labels) => Object.keys(labels).length <= 20, 'at most 20 labels');

/** Up to 31 days. */
export const minutes = z.number().int().min(5).max(44_640);
