import { z } from 'zod';
import { codePathFault, revisionFault } from '../../code/inputs.ts';

const faultless = (fault: (text: string) => string | null) => (text: string, context: z.RefinementCtx) => {
  const why = fault(text);
  if (why !== null) context.addIssue(why);
};

export const repository = z
  .string()
  .max(100)
  .nullable()
  .default(null)
  .describe('its name; null where the incident has one only');

/** A version as a deploy names it. */
export const revision = z.string().max(200).superRefine(faultless(revisionFault));

/** From the root of the repository. */
export const codePath = z
  .string()
  .max(500)
  .superRefine(faultless(codePathFault))
  .transform((path) => path.replace(/\/$/, ''));
