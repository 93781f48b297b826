import type { ActionOutcome } from '../../core/action.ts';
import { canonicalJson } from '../../core/canonical-json.ts';
import { clip } from '../../core/clip.ts';
import { messageOf, OpsError, orThrow, type Refusal, refuse } from '../../core/errors.ts';
import type { Json } from '../../core/tool-call.ts';
import { redactJson } from '../../safety/screen/redact.ts';
import type { ActiveTool, Deadline, ForeignTool, ToolOutput } from '../define.ts';
import { textOf } from './answer-text.ts';
import { type CallLimits, listMs, type McpConnection } from './connection.ts';
import { hashOfTool, type Pin } from './pins.ts';
import type { McpServerConfig } from './server-config.ts';
import type { ShownTool } from './shown-tool.ts';

/** The gate waits longer than the connection, which knows then that it is the server that is late, and ends it. */
const gateMs = (server: McpServerConfig): number => listMs(server) + server.timeoutMs + 2_000;

/** What a tool of a server is made of. */
export interface ForeignParts {
  readonly server: McpServerConfig;
  readonly connection: McpConnection;
  readonly pin: Pin;
  readonly shown: ShownTool;
  /** By which models and cards know it. */
  readonly name: string;
}

/** One that reads, by the operator's word. */
export function foreignRead(parts: ForeignParts): ForeignTool<Json> {
  const { name, shown, server } = parts;
  return {
    name,
    ...shown,
    kind: 'foreign',
    target: 'none',
    domain: 'any',
    timeoutMs: gateMs(server),
    run: ({ signal }, input) => read(parts, input, { signal, timeoutMs: server.timeoutMs }),
  };
}

async function read(parts: ForeignParts, input: Json, limits: CallLimits): Promise<ToolOutput | Refusal> {
  const no = carriesSecret(input) ?? (await changedSince(parts, limits.signal));
  if (no) return no;
  const { server, connection, pin } = parts;
  const result = await connection.call(pin.tool, input, limits);
  const text = textOf(result);
  if (result.isError)
    throw new OpsError('MCP_TOOL_FAILED', `${server.name} says: ${clip(text, 1_000)}`, {
      hint: 'Correct the input by what it says.',
    });
  return { text, data: (result.structuredContent ?? null) as Json };
}

/**
 * One that changes something, by the operator's word. Sentry knows neither what it touches nor the way back, and does not take
 * the server's word for whether it helped: it is of high risk, and only proposed against something that a measure of Sentry's
 * own shows to be wrong on the incident's target, and that has to turn well.
 */
export function foreignAct(parts: ForeignParts): ActiveTool<Json, { readonly sha256: string }> {
  const { name, shown, server, pin } = parts;
  const command = (input: Json): string => `${server.name}: ${pin.tool} ${canonicalJson(input)}`;
  return {
    name,
    ...shown,
    kind: 'active',
    domain: 'any',
    timeoutMs: gateMs(server),
    repairsOnly: true,
    neverUnasked: true,
    verbs: {
      does: 'Call',
      did: 'Called',
      button: `Call ${clip(pin.tool, 60)}`,
      frees: 'What its server says it does; Sentry cannot see it.',
      costs: 'Not known, and no way back is.',
    },
    command,
    async preflight({ signal }) {
      orThrow((await changedSince(parts, signal)) ?? { ok: true });
      return {
        guard: { sha256: pin.sha256 },
        clock: ownClock(),
        lines: [
          `The MCP server ${server.name} answers, and describes ${pin.tool} as ${pin.approvedBy} approved it on ${pin.approvedAt.slice(0, 10)}.`,
        ],
        blastRadius: `Whatever ${server.name} does with it: Sentry cannot see that.`,
        undo: 'Sentry knows no way back.',
        risk: 'high',
      };
    },
    objects: (input) => [{ kind: 'call', key: command(input), label: clip(command(input), 200) }],
    run: ({ signal }, input, _guard, deadline) =>
      act(parts, input, { signal, timeoutMs: server.timeoutMs }, deadline),
    // Asking again would be doing it again.
    look: async () => 'cannot_tell',
    effect: () => ({ steps: [], holdMs: 0, timeoutMs: 0 }),
  };
}

/** Milliseconds that nobody sets, of this very process: the pre-flight right before a run and the run are always one process's. */
const ownClock = (): string => String(performance.now());

async function act(
  parts: ForeignParts,
  input: Json,
  limits: CallLimits,
  { clock, withinMs }: Deadline,
): Promise<ActionOutcome> {
  const { server, connection, pin } = parts;
  try {
    const changed = await changedSince(parts, limits.signal);
    if (changed) return { kind: 'failed', text: `Nothing was done: ${changed.reason}` };
    // A server knows no deadline, so we look right before we ask it: the list may have come late, or we were paused since.
    if (clock === null || performance.now() >= Number(clock) + withinMs)
      return { kind: 'failed', text: 'Nothing was done: the deadline had passed.' };
    const result = await connection.call(pin.tool, input, limits);
    const text = clip(textOf(result), 2_000);
    // Some of it may have been done before it failed.
    return result.isError
      ? { kind: 'unknown', text: `${server.name} says that it failed: ${text}` }
      : { kind: 'succeeded', text };
  } catch (error) {
    if (error instanceof OpsError && error.code === 'MCP_DOWN') throw error;
    // Also where it refuses the call: servers say so of their own output too, when all has been done.
    return { kind: 'unknown', text: messageOf(error) };
  }
}

/** What a server describes otherwise now is another tool than the one that was approved. */
async function changedSince(
  { server, connection, pin }: ForeignParts,
  signal: AbortSignal,
): Promise<Refusal | undefined> {
  const listed = (await connection.tools(signal)).filter(({ name }) => name === pin.tool);
  const [one] = listed;
  if (listed.length === 1 && one && hashOfTool(one) === pin.sha256) return undefined;
  return refuse(
    'MCP_CHANGED',
    `${server.name} describes ${pin.tool} otherwise than it was approved, so it is off. An operator looks at it and approves it again: sentry mcp approve ${server.name}`,
  );
}

/** What leaves the house holds no secret. */
function carriesSecret(input: Json): Refusal | undefined {
  return canonicalJson(redactJson(input)) === canonicalJson(input)
    ? undefined
    : refuse('SECRET_IN_INPUT', 'The input holds what looks like a secret; nothing is carried out that way.');
}
