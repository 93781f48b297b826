import { z } from 'zod';
import { severities } from '../../core/alert.ts';

const Name = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,63}$/, 'snake_case, at most 64 characters')
  .nullable()
  .default(null);
const Sentence = z.string().trim().min(1).max(1_000);
const Sentences = z.array(z.string().trim().min(1).max(600)).max(12).default([]);
const MaybeSentence = z.string().trim().max(1_000).nullable().default(null);

const CallIds = z.array(z.string().max(100)).max(8).default([]);

export const TriageReport = z.object({
  severity: z.enum(severities),
  incidentType: Name,
  routine: z.boolean(),
  ignore: z.boolean().default(false),
  reason: Sentence,
});
export type TriageReport = z.infer<typeof TriageReport>;

const Claim = z.object({
  claim: Sentence,
  toolCallIds: z.array(z.string()).max(8).describe('tool_call_id of the results that show it'),
  quote: z.string().max(600).describe('a whole line of one of their outputs, copied literally'),
});

export const ExplanationsReport = z.object({
  explanations: z
    .array(
      z.object({
        cause: z.string().trim().min(1).max(300),
        disprovedBy: Sentence.describe('the read, and what it would show if this were wrong'),
      }),
    )
    .min(1)
    .max(6),
});
export type ExplanationsReport = z.infer<typeof ExplanationsReport>;

export const TestReport = z.object({
  end: z.enum(['disproved', 'stands', 'open']),
  says: Sentence.describe('what the reads show, in one or two sentences'),
  evidence: z.array(Claim).max(6).default([]),
  unknown: Sentences.describe('what could not be read'),
});
export type TestReport = z.infer<typeof TestReport>;

export const DiagnosisReport = z.object({
  verdict: z.enum(['cause_found', 'healthy', 'cannot_tell']),
  rootCause: Sentence.describe(
    'The cause in one or two sentences; for the other verdicts what was seen instead.',
  ),
  unexplained: MaybeSentence,
  category: Name.describe('snake_case kind of cause, null when none was found'),
  confidence: z.number().min(0).max(1).describe('of the cause'),
  fixConfidence: z.number().min(0).max(1).nullable().default(null).describe('that remedy ends it'),
  evidence: z.array(Claim).max(12).default([]),
  hypotheses: z
    .array(
      z.object({
        cause: z.string().trim().min(1).max(300),
        for: CallIds,
        against: CallIds,
        end: z.enum(['ruled_in', 'ruled_out', 'open']),
      }),
    )
    .max(6)
    .default([])
    .describe('the cause and what else could look the same, at least two'),
  onset: z.string().max(40).nullable().default(null).describe('ISO 8601, when it began'),
  chain: Sentences.describe('from what started it to the symptom, a link each'),
  symptomNow: z
    .object({
      present: z.boolean(),
      toolCallId: z.string().max(100),
      bound: z
        .object({ value: z.number(), unit: z.string().max(20) })
        .nullable()
        .default(null)
        .describe('healthy limit, only if stricter than usual'),
    })
    .nullable()
    .default(null)
    .describe('is the symptom there now, and the call that shows it'),
  changes: z
    .array(
      z.object({
        ref: z.string().trim().min(1).max(20),
        part: z.enum(['cause', 'suspect', 'unrelated']),
        toolCallIds: CallIds,
      }),
    )
    .max(8)
    .default([])
    .describe('cite what_changed and live reads; unrelated needs a claim on its read'),
  ruledOut: Sentences,
  unknown: Sentences.describe('what could not be read, and how to grant it'),
  missed: z
    .array(z.string().max(100))
    .max(8)
    .default([])
    .describe('tool_call_id of failed reads you would need'),
  wouldChangeMyMind: MaybeSentence,
  blastRadius: MaybeSentence,
  remedy: MaybeSentence,
  runbookId: z.string().max(200).nullable().default(null).describe('id of the runbook that fits'),
});
export type DiagnosisReport = z.infer<typeof DiagnosisReport>;

export const NoActionReport = z.object({
  reason: Sentence.describe('Why nothing is proposed, and what a person should do.'),
});
export type NoActionReport = z.infer<typeof NoActionReport>;
