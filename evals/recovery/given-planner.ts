import type { Investigator } from '../../src/agents/ports.ts';
import type { Evidence } from '../../src/core/diagnosis.ts';
import type { GivenPlan, RecoveryCase } from './recovery-case.ts';

/**
 * A planner that says and proposes what a case gives it, sure of itself whatever it reads. It has the playbook's place, whose
 * words are held against the least: what is truthful beside it is the gate's and the verification's doing.
 */
export function givenPlanner({ changes }: RecoveryCase, plan: GivenPlan): Investigator {
  return {
    name: 'playbook',
    triage: async ({ incident }) => ({
      severity: incident.severity,
      incidentType: null,
      routine: true,
      ignore: false,
      reason: 'Given.',
    }),
    diagnose: async (work) => {
      const evidence: Evidence[] = [];
      for (const { tool, input } of plan.reads) {
        const seen = await work.callTool({ tool, target: work.incident.target, input });
        const quote = seen.kind === 'ok' ? (seen.text.split('\n')[0] ?? null) : null;
        evidence.push({ claim: plan.cause, toolCallIds: [seen.toolCallId], quote });
      }
      return {
        verdict: plan.healthy ? 'healthy' : 'cause_found',
        rootCause: plan.cause,
        category: 'given',
        confidence: 0.99,
        evidence,
        ruledOut: [],
        unknown: [],
        wouldChangeMyMind: null,
        blastRadius: null,
        remedy: plan.cause,
        runbookId: null,
        suggested: [],
      };
    },
    plan: async (work) => {
      const refusals: string[] = [];
      for (const names of plan.proposes) {
        const [first, ...later] = names.flatMap((name) => {
          const { tool, input } = changes[name] ?? {};
          return tool === undefined || input === undefined ? [] : [{ tool, input, why: plan.cause }];
        });
        if (first === undefined) continue;
        const asked = await work.callTool({
          tool: first.tool,
          target: work.incident.target,
          input: first.input,
          proposal: {
            why: first.why,
            runbookId: null,
            verify: null,
            ...(later.length === 0 ? {} : { andThen: later }),
          },
        });
        if (asked.kind === 'proposed') return { kind: 'proposed', actionId: asked.actionId };
        if (asked.kind !== 'ok') refusals.push(asked.reason);
      }
      return { kind: 'none', reason: refusals.join(' ') || 'There is nothing to do.' };
    },
  };
}
