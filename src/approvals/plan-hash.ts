import { createHash } from 'node:crypto';
import { canonicalJson } from '../domain/canonical-json.ts';
import type { Json } from '../domain/tool-call.ts';

/** What a person approves, exactly: anything else is another action. */
export interface Plan {
  readonly tool: string;
  readonly target: string;
  readonly input: Json;
  readonly command: string;
  readonly guard: Json;
}

/** SHA-256 (hex) over the plan as canonical JSON. */
export function planHash({ tool, target, input, command, guard }: Plan): string {
  return createHash('sha256').update(canonicalJson({ tool, target, input, command, guard })).digest('hex');
}
