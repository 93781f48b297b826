import type { Registry } from 'prom-client';
import { createClaude } from '../agents/claude/create-claude.ts';
import { recordingUsage, withinBudget } from '../agents/claude/guarded-stream.ts';
import { screenedStream } from '../agents/claude/screened-stream.ts';
import type { Investigator } from '../agents/ports.ts';
import type { Config } from '../config/config.ts';
import type { Incident } from '../core/incident.ts';
import { live } from '../core/live.ts';
import type { Target } from '../core/target.ts';
import { auditedBackend } from '../llm/audited-backend.ts';
import { createBackend, modelName } from '../llm/create-backend.ts';
import { createModelGateway, type ModelGateway } from '../llm/gateway.ts';
import type { IncidentRecords } from '../record/record.ts';
import type { Runbook } from '../runbooks/runbook.ts';
import type { AuditLog } from '../safety/audit/audit-chain.ts';
import type { CostBreaker } from '../safety/limits/cost-breaker.ts';
import type { ModelGuard } from '../safety/model-guard/model-guard.ts';
import type { AnyTool } from '../tools/define.ts';
import { countingErrors } from './model-metrics.ts';

interface ModelDeps {
  readonly records: IncidentRecords;
  readonly metrics: Registry;
  readonly audit: AuditLog;
  readonly breaker: CostBreaker;
  readonly guard: ModelGuard;
  readonly targets: ReadonlyMap<string, Target>;
  /** What it is offered. */
  readonly tools: readonly AnyTool[];
  readonly runbooks: (incident: Incident) => readonly Runbook[];
}

/** The model as the rest uses it; nulls: none is configured, and the runbooks investigate. */
export interface Model {
  readonly investigator: Investigator | null;
  /** For what belongs to no incident. */
  readonly outside: ModelGateway | null;
}

/** The configured model behind the guard, the cost breaker and the audit log. */
export async function openModel(config: Config, deps: ModelDeps): Promise<Model> {
  const { llm: choice } = config;
  if (!choice) return { investigator: null, outside: null };
  const { records, audit, breaker, guard, targets } = deps;
  const llm = createModelGateway({
    backend: countingErrors(auditedBackend(createBackend(choice), audit), deps.metrics),
    model: modelName(choice, config.model),
  });
  const investigator = createClaude({
    llm,
    breaker,
    guard,
    tools: deps.tools,
    runbooks: deps.runbooks,
    sceptic: config.sceptic,
    targets: live(() => targets.keys()),
    fallbackModel: config.fallbackModel ? modelName(choice, config.fallbackModel) : undefined,
    kindOf: (name) => targets.get(name)?.kind,
    neighboursOf: (name) => targets.get(name)?.neighbours ?? [],
    refusesOf: (name) => targets.get(name)?.refuses,
    toolCalls: async (id) => (await records.load(id))?.toolCalls ?? [],
  });
  return { investigator, outside: modelOutside(llm, { records, breaker, guard, audit }) };
}

interface OutsideDeps extends Pick<ModelDeps, 'breaker' | 'audit' | 'guard'> {
  readonly records: Pick<IncidentRecords, 'addUsage'>;
}

/** The model for what belongs to no incident (memory's rules of thumb): behind the same guards, paid for as "memory". */
export function modelOutside(
  llm: ModelGateway,
  { records, breaker, guard, audit }: OutsideDeps,
): ModelGateway {
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
