import { sha256 } from '../safety/sha256.ts';
import type { Runbook } from './runbook.ts';

/** SHA-256 of all that a runbook says, with the runbooks that it hands over to; null when there is none of that id. */
export function runbookVersion(all: readonly Runbook[], id: string): string | null {
  const said = new Map<string, string>();
  const collect = (each: string): void => {
    const runbook = all.find((one) => one.id === each);
    if (!runbook || said.has(each)) return;
    said.set(each, JSON.stringify({ ...runbook, file: null }));
    for (const other of handsOverTo(runbook)) collect(other);
  };
  collect(id);
  return said.size === 0 ? null : sha256(JSON.stringify([...said]));
}

/** Ids of those that it lets go on (`kind: use`), wherever that stands. */
function handsOverTo(part: unknown): readonly string[] {
  if (typeof part !== 'object' || part === null) return [];
  const { kind, runbook } = part as { readonly kind?: unknown; readonly runbook?: unknown };
  const own = kind === 'use' && typeof runbook === 'string' ? [runbook] : [];
  return [...own, ...Object.values(part).flatMap(handsOverTo)];
}
