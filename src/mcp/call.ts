import { messageOf, type Refusal, refuse } from '../core/errors.ts';
import type { IncidentId } from '../core/ids.ts';
import { isObject } from '../core/json-of.ts';
import type { Json, ToolCallResult } from '../core/tool-call.ts';
import type { Outsider } from '../incidents/outside-calls.ts';
import { inputProblem } from '../safety/inputs/clean-input.ts';
import type { AnyTool } from '../tools/define.ts';
import { nameOf } from './offer.ts';
import { type OwnTool, ownTools, readableIncident } from './own-tools.ts';
import type { McpDeps } from './ports.ts';

/** What a client reads: one JSON object, with what others wrote as quoted strings in `output`. */
export interface Answer {
  readonly text: string;
  readonly isError: boolean;
}

/** To clients, of a fault of ours: what is wrong inside is not for them. */
export const NOT_NOW = 'It could not be done now. Try again, or look into the log of Sentry.';
/** Characters of one output; the whole of a read stays on record. */
const MAX_OUTPUT = 20_000;

interface Ended {
  readonly incidentId: IncidentId | null;
  readonly status: 'ok' | 'proposed' | 'refused' | 'failed';
  readonly head: { readonly [key: string]: Json };
  /** Of others: alerts, systems, people, memory. */
  readonly output: Json;
}

/** One call, whoever makes it and whatever it says: screened, and in the audit log under the client's name. */
export async function answerCall(
  deps: McpDeps,
  caller: Outsider,
  tool: AnyTool | OwnTool<unknown>,
  input: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<Answer> {
  const ended = await run(deps, caller, tool, input, signal).catch((error: unknown): Ended => {
    deps.log.error({ tool: tool.name, by: caller.principal, error: messageOf(error) }, 'an MCP call failed');
    return failed('FAILED', NOT_NOW);
  });
  await deps.audit.append({
    kind: 'mcp.called',
    actor: caller.principal,
    ...(ended.incidentId === null ? {} : { incidentId: ended.incidentId }),
    details: {
      tool: tool.name,
      status: ended.status,
      code: ended.head['code'] ?? null,
      toolCall: ended.head['tool_call_id'] ?? null,
    },
  });
  return screened(deps, tool.name, ended);
}

async function run(
  deps: McpDeps,
  caller: Outsider,
  tool: AnyTool | OwnTool<unknown>,
  input: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<Ended> {
  const no = await deps.access.mayAct(caller);
  if (no) return refused(no);
  if (!('kind' in tool)) return runOwn(deps, caller, tool, input);
  const { incident: named, ...own } = input;
  const incident = await readableIncident(deps, caller, named);
  if ('ok' in incident) return refused(incident);
  return fromGate(incident.id, await call(deps, caller, incident.id, tool, own, signal));
}

async function runOwn(
  deps: McpDeps,
  caller: Outsider,
  tool: OwnTool<unknown>,
  input: unknown,
): Promise<Ended> {
  const parsed = tool.input.safeParse(input);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return refused(
      refuse('BAD_INPUT', `${issue?.path.join('.') || 'input'}: ${issue?.message ?? 'not understood'}`),
    );
  }
  const said = await tool.run(deps, caller, parsed.data);
  if (!said.ok) return refused(said);
  return { incidentId: said.incidentId, status: 'ok', head: {}, output: said.output };
}

function call(
  { calls }: McpDeps,
  caller: Outsider,
  incidentId: IncidentId,
  { kind, name: tool }: AnyTool,
  own: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<ToolCallResult | Refusal> {
  if (kind !== 'active') return calls.read(caller, { incidentId, tool, input: own as Json }, signal);
  const { why, ...input } = own;
  if (typeof why !== 'string' || why.trim() === '' || why.length > 600)
    return Promise.resolve(refuse('BAD_INPUT', 'why: expected one or two sentences, at most 600 characters'));
  const hides = inputProblem(why, 'why');
  if (hides) return Promise.resolve(hides);
  return calls.propose(caller, { incidentId, tool, input: input as Json, why });
}

function fromGate(incidentId: IncidentId, result: ToolCallResult | Refusal): Ended {
  if ('ok' in result) return { ...refused(result), incidentId };
  const id = { tool_call_id: result.toolCallId };
  switch (result.kind) {
    case 'ok':
      return {
        incidentId,
        status: 'ok',
        head: { ...id, ...(result.truncated ? { truncated: true } : {}) },
        output: result.text,
      };
    case 'proposed':
      return {
        incidentId,
        status: 'proposed',
        head: { ...id, action_id: result.actionId, decides: 'a card in Slack decides; nothing has run' },
        output: result.text,
      };
    case 'failed':
    case 'refused':
      return {
        incidentId,
        status: result.kind,
        head: { ...id, code: result.code },
        output: result.reason,
      };
  }
}

const failed = (code: string, reason: string): Ended => ({
  incidentId: null,
  status: 'failed',
  head: { code },
  output: reason,
});

const refused = ({ code, reason }: Refusal): Ended => ({ ...failed(code, reason), status: 'refused' });

/** What reads like instructions is named beside it, or withheld where the operator says so, as for Sentry's own model. */
async function screened(deps: McpDeps, tool: string, ended: Ended): Promise<Answer> {
  const { incidentId, status, head, output } = ended;
  const { data, found } = deps.guard.history(incidentId ?? '').inspect(output, tool);
  if (incidentId !== null && found.length > 0) await deps.guard.report(incidentId, 'mcp', found);
  const suspicious = [...new Set(found.flatMap(({ kinds }) => kinds))];
  return {
    isError: status === 'refused' || status === 'failed',
    text: JSON.stringify({
      ...(incidentId === null ? {} : { incident: incidentId }),
      tool,
      status,
      ...head,
      ...(suspicious.length > 0 ? { suspicious } : {}),
      ...cut(data),
    }),
  };
}

function cut(output: Json): { readonly output: Json; readonly cut?: string } {
  const story = isObject(output) ? output['story'] : undefined;
  if (Array.isArray(story)) {
    const { output: shown, ...rest } = cut(story.join('\n'));
    return { output: { ...(output as object), story: shown }, ...rest };
  }
  if (typeof output !== 'string' || output.length <= MAX_OUTPUT) return { output };
  const end = output.lastIndexOf('\n', MAX_OUTPUT);
  const shown = output.slice(0, end > MAX_OUTPUT / 2 ? end : MAX_OUTPUT);
  return {
    output: shown,
    cut: `${output.length - shown.length} characters; evidence_read shows all of a read`,
  };
}

/** By the name that clients call them by. Throws when two have one name: a mistake of ours. */
export function toolsByName(tools: readonly AnyTool[]): ReadonlyMap<string, AnyTool | OwnTool<unknown>> {
  const named = new Map<string, AnyTool | OwnTool<unknown>>(ownTools.map((tool) => [tool.name, tool]));
  for (const tool of tools) {
    if (named.has(nameOf(tool))) throw new Error(`two MCP tools are called ${nameOf(tool)}`);
    named.set(nameOf(tool), tool);
  }
  return named;
}
