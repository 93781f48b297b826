import { z } from 'zod';
import { DomainName } from '../../core/incident.ts';
import { defineMemoryTool } from '../define.ts';
import { documentFields, readerOf, refOf } from './inputs.ts';

export const memoryProposePromotion = defineMemoryTool({
  name: 'memory_propose_promotion',
  description:
    'Asks the admins to make a draft of this conversation part of what everybody’s memory says. They read it first; nothing changes until they approve.',
  kind: 'memory_write',
  toolset: 'memory',
  input: z.strictObject({
    id: documentFields.id,
    path: documentFields.path,
    rationale: z.string().min(1).max(1_000).describe('Why it will help with other incidents.'),
    domain: DomainName.describe('Which incidents it is for.'),
  }),
  timeoutMs: 10_000,
  async run(context, { rationale, domain, ...named }) {
    const ref = refOf(context, named);
    if ('ok' in ref) return ref;
    const proposed = await context.memory.promotions.propose(readerOf(context), {
      ref,
      rationale,
      domain,
      by: context.role,
    });
    if (!proposed.ok) return proposed;
    return {
      text: proposed.again
        ? `${proposed.jobId} waits for the admins already.`
        : `${proposed.jobId} now waits for the admins.`,
      data: { job_id: proposed.jobId },
    };
  },
});
