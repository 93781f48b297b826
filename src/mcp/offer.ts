import type { Tool as McpTool, ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { AnyTool } from '../tools/define.ts';

/** How a tool that proposes is called: nobody is to take it for the act itself. */
export const PROPOSE = 'propose_';

/** Beside a tool's own input, in one flat object. */
const incident = {
  type: 'string',
  description: 'The incident it belongs to, like INC-7; its target is the system that is read.',
  pattern: '^INC-[1-9][0-9]*$',
} as const;
const why = {
  type: 'string',
  description: 'For the people who decide: why this fixes the cause, in one or two sentences.',
  minLength: 1,
  maxLength: 600,
} as const;

/** Memory's writes are for roles that Sentry runs itself. */
export const isOffered = ({ kind }: AnyTool): boolean => kind !== 'memory_write';

export const nameOf = ({ kind, name }: AnyTool): string => (kind === 'active' ? `${PROPOSE}${name}` : name);

/** A tool of the gate as an MCP client sees it. */
export function describeTool(tool: AnyTool): McpTool {
  const { $schema: _, ...schema } = z.toJSONSchema(tool.input, { io: 'input' }) as ObjectSchema;
  const active = tool.kind === 'active';
  return {
    name: nameOf(tool),
    description: active
      ? `Proposes, never runs: a card in the incident's Slack thread asks people, and they decide. What it would do: ${tool.description}`
      : tool.description,
    inputSchema: {
      ...schema,
      type: 'object',
      properties: { incident, ...schema.properties, ...(active ? { why } : {}) },
      required: ['incident', ...(schema.required ?? []), ...(active ? ['why'] : [])],
    },
    annotations: annotationsOf(tool),
  };
}

interface ObjectSchema {
  readonly [key: string]: unknown;
  readonly properties?: Record<string, object>;
  readonly required?: readonly string[];
}

/**
 * By what a call of it does, not by what might come of it: a proposal adds a card and destroys nothing, and the same again,
 * once the first is decided, is another card. Only documentation is read from outside of the systems under care.
 */
function annotationsOf({ kind }: AnyTool): ToolAnnotations {
  return kind === 'active'
    ? { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false }
    : { readOnlyHint: true, openWorldHint: kind === 'docs' };
}
