import { recordingUsage, withinBudget } from '../agents/claude/guarded-stream.ts';
import { screenedStream } from '../agents/claude/screened-stream.ts';
import type { ModelGateway } from '../llm/gateway.ts';
import type { IncidentRecords } from '../record/record.ts';
import type { AuditLog } from '../safety/audit/audit-chain.ts';
import type { CostBreaker } from '../safety/limits/cost-breaker.ts';
import type { ModelGuard } from '../safety/model-guard/model-guard.ts';

/** The model for what belongs to no incident (memory's rules of thumb): behind the same guards, paid for as "memory". */
export function modelOutside(
  llm: ModelGateway,
  deps: {
    readonly records: Pick<IncidentRecords, 'addUsage'>;
    readonly breaker: CostBreaker;
    readonly guard: ModelGuard;
    readonly audit: AuditLog;
  },
): ModelGateway {
  const { records, breaker, guard, audit } = deps;
  const paid = recordingUsage(llm, (usage) => records.addUsage(null, 'memory', usage));
  const budgeted = withinBudget(paid, breaker, { incidentId: null, model: llm.model });
  const stream = screenedStream(
    budgeted,
    {
      ...guard,
      report: async (_, role, found) => {
        for (const { where, kinds } of found)
          await audit.append({ kind: 'injection.found', actor: role, details: { where, kinds: [...kinds] } });
      },
    },
    { incidentId: 'memory', role: 'memory', carriesOut: () => false },
  );
  return { ...llm, stream };
}
