import { canonicalJson } from '../../core/canonical-json.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { sha256 } from '../../safety/sha256.ts';

/** SHA-256 (hex) over exactly what a read is: whose, with which tool, on what, with which arguments. */
export function readHash({
  id,
  incidentId,
  tool,
  target,
  input,
}: Pick<ToolCall, 'id' | 'incidentId' | 'tool' | 'target' | 'input'>): string {
  return sha256(canonicalJson({ id, incidentId, tool, target, input }));
}

/** Two calls of one incident that ask for the same. */
export function sameRead({ tool, target, input }: Pick<ToolCall, 'tool' | 'target' | 'input'>): string {
  return canonicalJson({ tool, target, input });
}
