import { canonicalJson } from '../../core/canonical-json.ts';
import type { Json } from '../../core/tool-call.ts';
import { sha256 } from '../../safety/sha256.ts';
import type { ActiveTool } from '../../tools/define.ts';

/**
 * What autonomy is earned for: this tool, by this version of this runbook, with the same arguments but for those that only
 * name the thing. Null: nothing earns it, as for what no known runbook proposes, and for patches.
 */
export function autonomyKey(
  { name, names = [], neverUnasked }: ActiveTool<unknown, Json>,
  input: Json,
  runbook: { readonly id: string; readonly version: string } | null,
): string | null {
  if (runbook === null || neverUnasked === true) return null;
  const fields = Object.entries((input ?? {}) as Readonly<Record<string, Json>>);
  const done = Object.fromEntries(fields.filter(([field]) => !(names as readonly string[]).includes(field)));
  return sha256(canonicalJson([name, runbook.id, runbook.version, done]));
}

/** A runbook as it is now; null when there is none of that id. */
export function versionedRunbook(
  versionOf: (id: string) => string | null,
  id: string | null,
): { readonly id: string; readonly version: string } | null {
  const version = id === null ? null : versionOf(id);
  return id === null || version === null ? null : { id, version };
}
