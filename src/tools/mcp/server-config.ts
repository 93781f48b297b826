/** `mcp_<server>_<tool>`: of one server alone, for its name has no underscore. */
export const foreignName = (server: string, tool: string): string =>
  `mcp_${server}_${tool.toLowerCase().replace(/[^a-z0-9]+/g, '_')}`;

/** Another program's MCP server, as `sentry.yaml` declares it, with the values of its variables. */
export interface McpServerConfig {
  /** Letters and digits alone, so that no two servers' tools can have one name. */
  readonly name: string;
  readonly transport:
    | {
        readonly kind: 'stdio';
        readonly command: string;
        readonly args: readonly string[];
        readonly env: Readonly<Record<string, string>>;
      }
    | { readonly kind: 'http'; readonly url: string; readonly headers: Readonly<Record<string, string>> };
  /** Its tools that read, by our word: what the server says of them counts for nothing. */
  readonly read: readonly string[];
  /** Those that change something: they are proposed, and a person decides. */
  readonly act: readonly string[];
  readonly timeoutMs: number;
}
