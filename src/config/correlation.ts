import { z } from 'zod';
import type { ConfigFile } from './config-file.ts';

/** Whether, and how close together, incidents of related systems are taken for one problem. */
export interface CorrelationConfig {
  readonly enabled: boolean;
  readonly windowMinutes: number;
}

/** Of `sentry.yaml`. */
export const correlationFields = {
  correlation: z
    .strictObject({
      enabled: z.boolean().default(true),
      window_minutes: z.number().min(1, 'at least 1').max(120, 'at most 120').default(15),
    })
    .nullish()
    .transform((given) => given ?? { enabled: true, window_minutes: 15 }),
};

/** Of a file that has been found to be right. */
export function correlationOf({ raw }: ConfigFile): CorrelationConfig {
  const { enabled, window_minutes: windowMinutes } = z.object(correlationFields).parse(raw ?? {}).correlation;
  return { enabled, windowMinutes };
}
