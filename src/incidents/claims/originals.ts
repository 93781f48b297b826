import { isEvidenceToolName, isMemoryToolName, type ToolCall } from '../../core/tool-call.ts';
import { isUnreachable } from '../../core/unreachable.ts';

/** It succeeded, or its very failure shows that the system cannot be reached. */
export function isSound(call: ToolCall, incidentId: string): boolean {
  if (call.incidentId !== incidentId) return false;
  return call.state === 'ok' || (call.state === 'failed' && isUnreachable(call.code));
}

/**
 * The calls that carry a claim which cites this one. What an evidence tool shows again is worth what first showed it, however often it
 * was read again: memory says what was true then and carries nothing, and neither does what failed. Where only a part of a re-read may
 * carry, its originals do instead of it.
 */
export function carriersOf(
  call: ToolCall,
  incidentId: string,
  calls: ReadonlyMap<string, ToolCall>,
): readonly ToolCall[] {
  const originals = originalsOf(call, calls);
  const carrying = originals.filter((each) => isSound(each, incidentId) && !isMemoryToolName(each.tool));
  const isWhole = originals.length > 0 && carrying.length === originals.length;
  return [...new Set(isWhole ? [call, ...carrying] : carrying)];
}

/** Whether it carries a claim by itself. */
export function isCarrier(call: ToolCall, incidentId: string, calls: ReadonlyMap<string, ToolCall>): boolean {
  return carriersOf(call, incidentId, calls).includes(call);
}

/** Whether memory is among what it shows. */
export function showsMemory(call: ToolCall, calls: ReadonlyMap<string, ToolCall>): boolean {
  return originalsOf(call, calls).some(({ tool }) => isMemoryToolName(tool));
}

/** The calls whose outputs it shows, through any number of re-reads: itself, where it shows nothing again. */
function originalsOf(
  call: ToolCall,
  calls: ReadonlyMap<string, ToolCall>,
  seen: ReadonlySet<string> = new Set(),
): readonly ToolCall[] {
  if (seen.has(call.id)) return [];
  const sources = sourcesOf(call);
  if (sources.length === 0) return [call];
  const passed = new Set([...seen, call.id]);
  return sources.flatMap((id) => {
    const source = calls.get(id);
    return source === undefined ? [] : originalsOf(source, calls, passed);
  });
}

function sourcesOf({ tool, result }: ToolCall): readonly string[] {
  if (!isEvidenceToolName(tool) || typeof result !== 'object' || result === null) return [];
  const { sources } = result as { readonly sources?: unknown };
  return Array.isArray(sources) ? sources.map(String) : [];
}
