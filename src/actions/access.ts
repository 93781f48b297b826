import type { Role } from '../core/incident.ts';
import { type AnyTool, isTargetless } from '../tools/define.ts';

/** The kinds of tools the table speaks of (design.md §5, "Roles × tools"). */
export type ToolKind = AnyTool['kind'];

/**
 * Roles × kinds of tools, as data; what is not here is refused. The supervisor's row is what it may route, not what it
 * runs: it runs nothing, so no credential is ever minted for it.
 */
export const access: Readonly<Record<Role, readonly ToolKind[]>> = {
  supervisor: [
    'read',
    'docs',
    'foreign',
    'diagnostic',
    'active',
    'evidence',
    'changes',
    'usual',
    'memory_read',
    'memory_write',
  ],
  triage: ['read', 'docs', 'evidence', 'changes', 'usual', 'memory_read'],
  detective: [
    'read',
    'docs',
    'foreign',
    'diagnostic',
    'evidence',
    'changes',
    'usual',
    'memory_read',
    'memory_write',
  ],
  surgeon: ['active'],
  validator: ['read', 'diagnostic'],
  // What it calls of the active ones is proposed, as for the surgeon; what is approved runs with a credential of the ledger's.
  mcp: ['read', 'docs', 'diagnostic', 'active', 'evidence', 'changes', 'usual', 'memory_read'],
};

export function mayUse(role: Role, kind: ToolKind): boolean {
  return Object.hasOwn(access, role) && access[role].includes(kind);
}

/** Whether a tool of this kind is called of a system. */
export function isOfTarget(kind: ToolKind): boolean {
  return !isTargetless(kind);
}

/** The table for people: one line a tool, a column a role. */
export function accessTable(tools: readonly AnyTool[]): string {
  const roles = Object.keys(access) as Role[];
  const name = Math.max(4, ...tools.map((tool) => tool.name.length));
  const head = ['tool'.padEnd(name), 'kind'.padEnd(12), ...roles].join('  ');
  const lines = [...tools]
    .sort((a, b) => a.name.localeCompare(b.name))
    .map((tool) =>
      [
        tool.name.padEnd(name),
        tool.kind.padEnd(12),
        ...roles.map((role) => (mayUse(role, tool.kind) ? 'yes' : '-').padEnd(role.length)),
      ]
        .join('  ')
        .trimEnd(),
    );
  return [head, ...lines].join('\n');
}
