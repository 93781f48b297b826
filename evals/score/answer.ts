import { z } from 'zod';
import type { Diagnosis } from '../../src/core/diagnosis.ts';

/** What an investigator says about one scenario: what is scored. */
export interface Answer {
  readonly id: string;
  readonly verdict: Diagnosis['verdict'];
  readonly rootCause: string;
  readonly category: string | null;
  /** 0–1. */
  readonly confidence: number;
  readonly evidence: readonly { readonly claim: string; readonly quote: string | null }[];
  /** From what started it to the symptom. */
  readonly chain: readonly string[];
  readonly ruledOut: readonly string[];
  readonly unknown: readonly string[];
  readonly remedy: string | null;
}

const Text = z.string().nullish();
const Texts = z
  .union([z.string(), z.array(z.string())])
  .nullish()
  .transform((value) => (typeof value === 'string' ? [value] : (value ?? [])));

const Given = z.object({
  verdict: Text,
  healthy: z.boolean().nullish(),
  abstain: z.boolean().nullish(),
  root_cause: Text,
  rootCause: Text,
  cause: Text,
  category: Text,
  confidence: z.number().min(0).max(1).nullish(),
  evidence: z
    .array(z.union([z.string(), z.object({ claim: Text, quote: Text })]))
    .nullish()
    .transform((list) =>
      (list ?? []).map((item) =>
        typeof item === 'string'
          ? { claim: item, quote: null }
          : { claim: item.claim ?? '', quote: item.quote ?? null },
      ),
    ),
  chain: Texts,
  causal_chain: Texts,
  ruledOut: Texts,
  ruled_out: Texts,
  unknown: Texts,
  remedy: Text,
});

/** A diagnosis under a name of its own; a bare text there is its cause. */
const Nested = z
  .union([z.string().transform((text): Record<string, unknown> => ({ cause: text })), z.looseObject({})])
  .optional();

/**
 * A line of an answers file: `id` and, flat or under `diagnosis` or `answer`, a diagnosis in our names or in snake case. Only the
 * cause is needed; without a verdict the category `healthy` or `unknown` tells, and a missing cause is an abstention.
 * A missing confidence counts as full.
 */
export const AnswerLine = z
  .looseObject({ id: z.string().min(1), diagnosis: Nested, answer: Nested })
  .transform((line, context): Answer => {
    const { diagnosis, answer } = line;
    const parsed = Given.safeParse({ ...line, ...diagnosis, ...answer });
    if (!parsed.success) {
      for (const issue of parsed.error.issues)
        context.addIssue({ code: 'custom', message: issue.message, path: [...issue.path] });
      return z.NEVER;
    }
    const given = parsed.data;
    const rootCause = given.rootCause ?? given.root_cause ?? given.cause ?? '';
    const verdict = verdictOf(given, rootCause);
    return {
      id: line.id,
      verdict,
      rootCause,
      category: given.category ?? null,
      confidence: given.confidence ?? (verdict === 'cannot_tell' ? 0 : 1),
      evidence: given.evidence,
      chain: [...given.chain, ...given.causal_chain],
      ruledOut: [...given.ruledOut, ...given.ruled_out],
      unknown: given.unknown,
      remedy: given.remedy ?? null,
    };
  });

function verdictOf(given: z.infer<typeof Given>, rootCause: string): Answer['verdict'] {
  const said = given.verdict?.toLowerCase().replace(/[\s-]+/g, '_');
  if (said === 'cause_found' || said === 'healthy' || said === 'cannot_tell') return said;
  const category = given.category?.toLowerCase();
  if (given.abstain === true || rootCause.trim() === '' || category === 'unknown') return 'cannot_tell';
  if (given.healthy === true || category === 'healthy') return 'healthy';
  if (given.category || given.healthy === false) return 'cause_found';
  // Nothing but a text: how it begins tells.
  const opening = rootCause.slice(0, 160);
  if (/\bcannot (?:tell|say|be told|determine)|\bcould not (?:tell|determine)/i.test(opening))
    return 'cannot_tell';
  return /\b(?:healthy|no (?:active )?(?:failure|fault|problem|issue)|nothing (?:is )?wrong)\b/i.test(
    opening,
  ) && !/\bunhealthy\b|\bnot healthy\b/i.test(opening)
    ? 'healthy'
    : 'cause_found';
}

export function answerOf(id: string, diagnosis: Diagnosis): Answer {
  return {
    id,
    verdict: diagnosis.verdict,
    rootCause: diagnosis.rootCause,
    category: diagnosis.category,
    confidence: diagnosis.confidence,
    evidence: diagnosis.evidence.map(({ claim, quote }) => ({ claim, quote })),
    chain: diagnosis.chain ?? [],
    ruledOut: diagnosis.ruledOut,
    unknown: diagnosis.unknown,
    remedy: diagnosis.remedy,
  };
}
