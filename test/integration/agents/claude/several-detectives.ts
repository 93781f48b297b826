import { z } from 'zod';
import type { MessagesRequest, ScriptedReply } from '../../../../playground/claude/scenario.ts';
import { type ClaudeDeps, createClaude } from '../../../../src/agents/claude/create-claude.ts';
import type { Investigator } from '../../../../src/agents/ports.ts';
import type { IncidentId } from '../../../../src/core/ids.ts';
import { createAnthropicBackend } from '../../../../src/llm/anthropic.ts';
import { createModelGateway } from '../../../../src/llm/gateway.ts';
import { createAuditLog } from '../../../../src/safety/audit/audit-chain.ts';
import { type CostLimits, createCostBreaker } from '../../../../src/safety/limits/cost-breaker.ts';
import { type AnyTool, defineReadTool } from '../../../../src/tools/define.ts';
import { boxTools, type Core, type CoreOptions, createCore, type Machine } from '../../../support/core.ts';
import { quiet } from '../../../support/quiet.ts';

/** Several detectives of a broken box on the real engine, gate, record and breaker, in this process or in one that is killed. */
export const CAUSES = ['part 0 is worn', 'part 1 is worn', 'part 2 is worn'];
export const LIMITS: CostLimits = { usd: 50, windowMs: 600_000, perIncidentUsd: 10, perDayUsd: 100 };
/** Has several look at once. */
export const POLICY =
  'rules: [{ name: everything }]\neffort: [{ match: alertname="BoxBroken", effort: full }]\n';

const boxPart = defineReadTool({
  name: 'box_part',
  description: 'Looks at one part of the box.',
  kind: 'read',
  domain: 'postgres',
  input: z.strictObject({ part: z.int() }),
  timeoutMs: 10_000,
  run: async (_, { part }) => ({ text: `part ${part} of the box is worn`, data: { part } }),
});

export async function startDetectives(options: {
  readonly url: string;
  /** Of the Messages API. */
  readonly api: string;
  readonly policyPath: string;
  readonly machine: Machine;
  readonly limits?: CostLimits;
  readonly tools?: readonly AnyTool[];
  readonly core?: Partial<CoreOptions>;
  readonly claude?: Partial<ClaudeDeps>;
  readonly as?: (claude: Investigator) => Investigator;
}): Promise<Core> {
  const { url, policyPath, limits = LIMITS, as = (same) => same } = options;
  const tools = [...boxTools(options.machine), boxPart, ...(options.tools ?? [])];
  const started: Core = await createCore({
    url,
    tools,
    policyPath,
    claude: as(
      createClaude({
        llm: createModelGateway({
          backend: createAnthropicBackend({ apiKey: 'test-key', baseUrl: options.api }),
          retry: { baseDelayMs: 1 },
        }),
        tools,
        targets: ['box'],
        breaker: {
          reserve: (call) => {
            const { sql } = started;
            return createCostBreaker({ sql, audit: createAuditLog(sql), limits, log: quiet }).reserve(call);
          },
        },
        toolCalls: async (id: IncidentId) => (await started.records.load(id))?.toolCalls ?? [],
        ...options.claude,
      }),
    ),
    ...options.core,
  });
  await started.start();
  return started;
}

export const offers = (request: MessagesRequest, tool: string): boolean =>
  (request.tools ?? []).some(({ name }) => name === tool);
export const firstTurn = (request: MessagesRequest): string => JSON.stringify(request.messages[0]);
export const testOf = (request: MessagesRequest): string =>
  /\\"explanation\\": \\"([^"\\]+)/.exec(firstTurn(request))?.[1] ?? '';

/** A request whose answer does not come before `release()`. */
export const STALLED = { fault: { kind: 'stall', afterBytes: 0 } } as const;

/** A triage, a lead, three who each read a part and say that it is worn, and a detective who believes the first. */
export function box(request: MessagesRequest, invented: readonly object[] = []): ScriptedReply {
  const says = (tool: string, input: object): ScriptedReply => ({ blocks: [{ tool, input }] });
  if (offers(request, 'report_triage'))
    return says('report_triage', { severity: 'critical', reason: 'broken' });
  if (offers(request, 'report_explanations'))
    return says('report_explanations', {
      explanations: CAUSES.map((cause, part) => ({ cause, disprovedBy: `box_part ${part}` })),
    });
  if (offers(request, 'report_test')) return test(request);
  if (offers(request, 'report_no_action'))
    return { blocks: [{ text: 'Mend.' }, { tool: 'box_mend', input: { how: 'glue', why: 'It mends it.' } }] };
  // The first id in what they found.
  const tested = /\\"tested\\"[\s\S]*/.exec(firstTurn(request))?.[0] ?? '';
  const id = /tc_[a-z0-9]{12}/.exec(tested)?.[0] ?? '';
  const part = new RegExp(`${id}[^}]*part (\\d) of the box`).exec(tested)?.[1] ?? '';
  return says('report_diagnosis', {
    verdict: 'cause_found',
    rootCause: `Part ${part} of the box is worn.`,
    confidence: 0.95,
    evidence: [
      { claim: `Part ${part} is worn.`, toolCallIds: [id], quote: `part ${part} of the box is worn` },
      ...invented,
    ],
  });
}

function test(request: MessagesRequest): ScriptedReply {
  const part = CAUSES.indexOf(testOf(request));
  if (request.messages.length === 1) return { blocks: [{ tool: 'box_part', input: { part } }] };
  const id = /tc_[a-z0-9]{12}/.exec(JSON.stringify(request.messages.at(-1)))?.[0] ?? '';
  const evidence = [{ claim: 'It is worn.', toolCallIds: [id], quote: `part ${part} of the box is worn` }];
  return { blocks: [{ tool: 'report_test', input: { end: 'stands', says: 'It is worn.', evidence } }] };
}
