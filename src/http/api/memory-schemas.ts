import { z } from 'zod';
import { docTypes, memoryScopes, trustLevels } from '../../memory/documents/document.ts';
import { time } from './fields.ts';

const facts = z.record(z.string(), z.string()).describe('What the system runs, by name.');
const texts = z.array(z.string());
const sources = z.array(z.object({ kind: z.string(), ref: z.string() })).describe('What it came from.');

const content = {
  sha256: z.string().describe('Of the content.'),
  title: z.string(),
  content: z.string(),
  docType: z.enum(docTypes),
  trust: z.enum(trustLevels).describe('Who vouches for it.'),
  domain: z.string().nullable(),
  entities: z.object({ namespace: texts, resource: texts, environment: texts, service: texts }),
  system: facts.nullable().describe('What it was learnt on.'),
  author: z.string(),
};

export const MemoryDocument = z.object({
  id: z.string(),
  store: z.string(),
  incidentId: z.string().nullable(),
  scope: z.enum(memoryScopes),
  owner: z.string().nullable(),
  path: z.string(),
  version: z.int(),
  createdAt: time,
  updatedAt: time,
  retiredAt: time.nullable(),
  ...content,
});

export const MemoryVersion = z.object({
  number: z.int(),
  writer: z.string(),
  at: time,
  sources,
  ...content,
});

export const Written = z.object({
  document: MemoryDocument,
  kind: z.enum(['created', 'updated', 'unchanged']),
  warning: z.string().optional().describe('Parts of it read like orders to a model.'),
});

export const Promotion = z.object({
  jobId: z.string(),
  state: z.enum(['pending', 'approved', 'rejected']),
  incidentId: z.string().nullable(),
  domain: z.string(),
  rationale: z.string(),
  proposedBy: z.string(),
  proposedAt: time,
  decidedBy: z.string().nullable(),
  decidedAt: time.nullable(),
  reason: z.string().nullable(),
  documentId: z.string(),
  version: z.int().describe('The proposed one.'),
  title: z.string(),
  docType: z.enum(docTypes),
  content: z.string(),
  sha256: z.string(),
  system: facts.nullable(),
  sources,
  target: z.object({ store: z.string(), path: z.string() }),
  current: z
    .object({ sha256: z.string(), content: z.string() })
    .nullable()
    .describe('What stands in the workspace under that path now.'),
  currentSha256AtProposal: z.string().nullable(),
  result: z.object({ documentId: z.string(), version: z.int() }).nullable(),
  edited: z.boolean().describe('What was approved is not what was proposed.'),
});

export const Review = z.object({
  promotion: Promotion,
  findings: texts.describe('Kinds of what the safety scanner finds in it.'),
  suspicious: z.boolean().describe('Parts of it may be orders to a model.'),
  runbook: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('prose') }),
    z.object({ kind: z.literal('steps'), id: z.string(), steps: z.int() }),
    z.object({ kind: z.literal('wrong'), reason: z.string() }),
  ]),
  dryRun: z
    .object({
      passed: z.boolean(),
      target: z.string().nullable(),
      lines: texts,
      sha256: z.string(),
      at: time,
    })
    .nullable()
    .describe('What came of trying its steps.'),
  mayApprove: z.boolean().describe('Nothing is in the way of approving it as it is.'),
});

export const MemoryOverview = z.object({
  summary: z.object({
    episodes: z.object({
      total: z.int(),
      succeeded: z.int(),
      failed: z.int(),
      unknown: z.int(),
      archived: z.int(),
    }),
    documents: z.array(z.object({ scope: z.string(), trust: z.string(), count: z.int() })),
    versions: z.int(),
    proposalsWaiting: z.int(),
    systems: z.array(z.object({ target: z.string(), facts, seenAt: time, changedAt: time })),
    outbox: z.int().describe('What has not reached Chroma, or not left it, yet.'),
  }),
  episodes: z
    .array(
      z.object({
        id: z.int(),
        timestamp: time,
        incident: z.string().nullable(),
        error: z.string(),
        diagnosis: z.string(),
        command: z.string(),
        result: z.string(),
        success: z.boolean().nullable().describe('Null: nobody can tell.'),
      }),
    )
    .describe('What was tried, newest first.'),
});

export const SearchResult = z.object({
  found: z
    .array(
      z.object({
        kind: z.enum(['runbook', 'incident', 'document']),
        id: z.string(),
        store: z.string(),
        path: z.string(),
        title: z.string(),
        heading: z.string().describe('Above the passage; may be empty.'),
        content: z.string().describe('The passage that fits best, at most 2,000 characters.'),
        type: z.enum(docTypes),
        trust: z.enum(trustLevels),
        version: z.int().describe('0 for what has no versions.'),
        updatedAt: time,
      }),
    )
    .describe('Best first.'),
  missing: z.string().nullable().describe('What could not be asked.'),
});
