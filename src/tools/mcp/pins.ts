import { canonicalJson } from '../../core/canonical-json.ts';
import type { Sql, Tx } from '../../core/sql.ts';
import type { Json } from '../../core/tool-call.ts';
import { sha256 } from '../../safety/sha256.ts';
import type { ListedTool } from './connection.ts';

/** A tool of a server as an operator has approved it. */
export interface Pin {
  readonly tool: string;
  /** Of name, description and schema as the server gave them then. */
  readonly sha256: string;
  readonly description: string;
  readonly inputSchema: Json;
  readonly approvedBy: string;
  readonly approvedAt: string;
}

/** What a change of is another tool, for whoever approved it. */
export const hashOfTool = ({ name, description, inputSchema }: ListedTool): string =>
  sha256(canonicalJson({ name, description, inputSchema }));

export async function loadPins(sql: Sql, server: string): Promise<readonly Pin[]> {
  const rows = await sql<{
    tool: string;
    sha256: string;
    description: string;
    input_schema: Json;
    approved_by: string;
    approved_at: string;
  }>`SELECT tool, sha256, description, input_schema, approved_by, approved_at FROM mcp_pin WHERE server = ${server} ORDER BY tool`;
  return rows.map((row) => ({
    tool: row.tool,
    sha256: row.sha256,
    description: row.description,
    inputSchema: row.input_schema,
    approvedBy: row.approved_by,
    approvedAt: row.approved_at,
  }));
}

/** From now on it is this that was approved. */
export async function storePin(tx: Tx, server: string, tool: ListedTool, by: string): Promise<void> {
  await tx`
    INSERT INTO mcp_pin (server, tool, sha256, description, input_schema, approved_by)
    VALUES (${server}, ${tool.name}, ${hashOfTool(tool)}, ${tool.description}, ${tx.json(tool.inputSchema)}, ${by})
    ON CONFLICT (server, tool) DO UPDATE SET sha256 = excluded.sha256, description = excluded.description,
      input_schema = excluded.input_schema, approved_by = excluded.approved_by, approved_at = clock_timestamp()`;
}
