import type { Log } from '../../core/log.ts';
import type { Sql } from '../../core/sql.ts';
import type { ActiveTool, ForeignTool } from '../define.ts';
import { createMcpConnection, type ListedTool, type McpConnection } from './connection.ts';
import { foreignAct, foreignRead } from './foreign-tools.ts';
import { hashOfTool, loadPins, type Pin } from './pins.ts';
import { foreignName, type McpServerConfig } from './server-config.ts';
import { type ShownTool, showTool } from './shown-tool.ts';

/** The tools of other programs that an operator has allowed by name and approved as they are. */
export interface ForeignServers {
  /** In one order for as long as this process lives: a model's cached tool list depends on it. */
  readonly tools: readonly (ForeignTool | ActiveTool)[];
  close(): Promise<void>;
}

/** Asks no server: what models are shown is what was approved. */
export async function openForeignServers(
  servers: readonly McpServerConfig[],
  { sql, log }: { readonly sql: Sql; readonly log: Log },
): Promise<ForeignServers> {
  const opened = await Promise.all(
    servers.map(async (server) => {
      const connection = createMcpConnection(server, { log });
      const found = judgeTools(server, await loadPins(sql, server.name), null);
      for (const { tool, state, why } of found)
        if (state === 'off') log.warn({ server: server.name, tool, why }, 'a tool of an MCP server is off');
      return { connection, tools: found.flatMap((one) => toolOf(server, connection, one)) };
    }),
  );
  return {
    tools: opened.flatMap(({ tools }) => tools),
    async close() {
      await Promise.all(opened.map(({ connection }) => connection.close()));
    },
  };
}

const ASK_MS = 30_000;

/** What a server lists now, and how that stands to what was approved. Throws OpsError MCP_DOWN. */
export async function askServer(
  server: McpServerConfig,
  { sql, log }: { readonly sql: Sql; readonly log: Log },
): Promise<{ readonly listed: readonly ListedTool[]; readonly judged: readonly JudgedTool[] }> {
  const connection = createMcpConnection(server, { log });
  try {
    const listed = await connection.tools(AbortSignal.timeout(ASK_MS));
    return { listed, judged: judgeTools(server, await loadPins(sql, server.name), listed) };
  } finally {
    await connection.close();
  }
}

/** How one allowed tool stands. */
export interface JudgedTool {
  /** As its server calls it. */
  readonly tool: string;
  /** As models and cards know it. */
  readonly name: string;
  readonly acts: boolean;
  readonly state: 'on' | 'off';
  /** Why it is off; null when it is on. */
  readonly why: string | null;
  readonly pin: Pin | null;
  readonly shown: ShownTool | null;
  /** What an operator may approve, as its server lists it now; null: nothing new, or nothing that could be offered. */
  readonly awaits: ListedTool | null;
}

/**
 * All that a server's entry allows, in its order.
 *
 * @param listed what the server lists now; null: it was not asked
 */
export function judgeTools(
  server: McpServerConfig,
  pins: readonly Pin[],
  listed: readonly ListedTool[] | null,
): readonly JudgedTool[] {
  return allowedOf(server).map((tool) => {
    const here = listed?.filter((one) => one.name === tool) ?? null;
    const pin = pins.find((one) => one.tool === tool) ?? null;
    const clash = clashOf(server, tool) ?? absenceOf(here);
    const [now] = here ?? [];
    const isNew = clash === null && now !== undefined && hashOfTool(now) !== pin?.sha256;
    const unfit = isNew ? unfitness(showTool(server.name, now.description, now.inputSchema)) : null;
    const shown = pin && showTool(server.name, pin.description, pin.inputSchema);
    const why = clash ?? unfit ?? changeOf(pin, isNew) ?? unfitness(shown);
    return {
      tool,
      name: foreignName(server.name, tool),
      acts: server.act.includes(tool),
      state: why === null ? 'on' : 'off',
      why,
      pin,
      shown: typeof shown === 'string' ? null : shown,
      awaits: isNew && unfit === null ? now : null,
    };
  });
}

const allowedOf = ({ read, act }: McpServerConfig): readonly string[] => [...read, ...act];

/** Neither of two tools that models could not tell apart is offered. */
function clashOf(server: McpServerConfig, tool: string): string | null {
  const name = foreignName(server.name, tool);
  const twin = allowedOf(server).find((other) => other !== tool && foreignName(server.name, other) === name);
  if (twin !== undefined) return `${twin} would have the same name, ${name}`;
  return name.length > LONGEST_NAME ? `its name would be longer than ${LONGEST_NAME} characters` : null;
}

/** @param here what the server lists under its name; null: it was not asked */
function absenceOf(here: readonly ListedTool[] | null): string | null {
  if (here === null || here.length === 1) return null;
  return here.length === 0 ? 'the server has no such tool' : 'the server lists it more than once';
}

function changeOf(pin: Pin | null, isNew: boolean): string | null {
  if (pin === null) return 'it waits to be approved';
  return isNew ? `the server describes it otherwise than ${pin.approvedBy} approved it` : null;
}

const unfitness = (shown: ShownTool | string | null): string | null =>
  typeof shown === 'string' ? shown : null;

const LONGEST_NAME = 64;

function toolOf(
  server: McpServerConfig,
  connection: McpConnection,
  { state, pin, shown, name, acts }: JudgedTool,
): readonly (ForeignTool | ActiveTool)[] {
  if (state === 'off' || pin === null || shown === null) return [];
  const parts = { server, connection, pin, shown, name };
  // The registry holds tools of every input type together.
  return [acts ? (foreignAct(parts) as ActiveTool) : (foreignRead(parts) as ForeignTool)];
}
