import { z } from 'zod';
import { jsonOf } from '../../core/json-of.ts';
import { storableJson } from '../../core/storable.ts';
import type { ModelTool, ToolUse } from '../../llm/types.ts';
import type { ReportTool } from './types.ts';

/** The report tool as the model sees it. */
export function reportModelTool<T>(report: ReportTool<T>): ModelTool {
  return {
    name: report.name,
    description: report.description,
    inputSchema: inputSchemaOf(report.schema),
  };
}

/** JSON Schema for a model: no `$schema`, which only costs tokens. */
export function inputSchemaOf(schema: z.ZodType): Readonly<Record<string, unknown>> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' }) as Record<string, unknown>;
  return rest;
}

export type ReportRead<T> =
  | { readonly kind: 'none' }
  | { readonly kind: 'valid'; readonly value: T }
  /** By tool call id: what is wrong, for the model to correct. */
  | { readonly kind: 'invalid'; readonly problems: ReadonlyMap<string, string> };

/** Reads the reports among a message's calls; the first valid one counts. */
export function readReport<T>(report: ReportTool<T> | undefined, uses: readonly ToolUse[]): ReportRead<T> {
  if (report === undefined) return { kind: 'none' };
  const problems = new Map<string, string>();
  for (const use of uses) {
    if (use.name !== report.name) continue;
    const parsed = parse(report, use.input);
    if (parsed.success) return { kind: 'valid', value: parsed.data };
    problems.set(use.id, `The report was not accepted:\n${z.prettifyError(parsed.error)}`);
  }
  return problems.size === 0 ? { kind: 'none' } : { kind: 'invalid', problems };
}

/** A report becomes rows and events: what the database would refuse is gone before anything is made of it. */
function parse<T>(report: ReportTool<T>, given: unknown) {
  const input = storableJson(given);
  return report.schema.safeParse(report.tidy === undefined ? input : report.tidy(input));
}

/** A report written as text, which models do that cannot be forced to call a tool: the message is one JSON object, fenced or not. */
export function readWrittenReport<T>(report: ReportTool<T>, text: string): T | undefined {
  const body = /^\s*(?:```(?:json)?\s*)?(\{[\s\S]*\})\s*(?:```)?\s*$/.exec(text)?.[1];
  const written = body === undefined ? undefined : jsonOf(body);
  return written === undefined ? undefined : parse(report, written).data;
}
