-- What an operator has approved of the tools of other programs' MCP servers: each as its server described it then. A tool
-- whose description or schema has another hash now is off.
CREATE TABLE mcp_pin (
  server       text NOT NULL,
  tool         text NOT NULL,
  sha256       text NOT NULL,
  description  text NOT NULL,
  input_schema jsonb NOT NULL,
  approved_by  text NOT NULL,
  approved_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (server, tool)
);
