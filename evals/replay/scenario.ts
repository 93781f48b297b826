import { z } from 'zod';
import { DomainName } from '../../src/core/incident.ts';

const Words = z.array(z.string().min(1));

/** One recorded tool call, in the order they were made. */
export const RecordedOutput = z.object({
  tool: z.string().min(1),
  args: z.record(z.string(), z.json()).default({}),
  status: z.enum(['success', 'no_data', 'error']).catch('success').default('success'),
  /** As the tool printed it; the reason where it failed. */
  output: z.string(),
  /** Machine-readable form of the output, where the tool has one. */
  data: z.json().optional(),
  /** Of a failure: `POSTGRES_42501`. */
  code: z.string().optional(),
});
export type RecordedOutput = z.infer<typeof RecordedOutput>;

/** What a right answer says. docs/evals.md describes each field. */
const Expected = z.object({
  root_cause: z.string(),
  category: z.string().nullish(),
  /** Left out: `healthy` tells, or the category `unknown` means that nobody could tell. */
  verdict: z.enum(['cause_found', 'healthy', 'cannot_tell']).optional(),
  healthy: z.boolean().default(false),
  keywords: Words.default([]),
  /** One word of each group is enough. */
  keyword_groups: z.array(Words.min(1)).default([]),
  forbidden_keywords: Words.default([]),
  forbidden_categories: Words.default([]),
  /** Each must be quoted or claimed, in one of its wordings. */
  needed_evidence: z.array(Words.min(1)).default([]),
  /** Must not be claimed as evidence of the cause. */
  red_herrings: Words.default([]),
});
export type Expected = z.infer<typeof Expected>;

/** One recorded incident with its expected answer: a line of a scenarios file. Unknown fields are for people. */
export const Scenario = z.object({
  id: z.string().min(1),
  title: z.string(),
  kind: z.string().default('alert'),
  domain: DomainName.optional(),
  /** The name of its target while it was recorded. */
  target: z.string().optional(),
  /** The runbook that is made for it; null: there is none. Left out: not said. */
  runbook: z.string().nullable().optional(),
  /** The alert as its source sent it. */
  incident: z.record(z.string(), z.json()),
  tool_outputs: z.array(RecordedOutput),
  expected: Expected,
  severity: z.string().optional(),
});
export type Scenario = z.infer<typeof Scenario>;

/** What a right answer's verdict is. */
export function expectedVerdict({ verdict, healthy, category }: Expected): Verdict {
  if (verdict !== undefined) return verdict;
  if (healthy) return 'healthy';
  return category === 'unknown' ? 'cannot_tell' : 'cause_found';
}
type Verdict = 'cause_found' | 'healthy' | 'cannot_tell';
