import type { Sql } from '../../src/core/sql.ts';

/** A table of which a plan reads all rows, however many there are. */
export interface WholeRead {
  readonly table: string;
  /** As EXPLAIN calls it, with the index and what it filters by. */
  readonly how: string;
}

/**
 * Tables that do not grow with use: a row a target, a role, a setting, a process, a person, a document that somebody wrote, or kept for minutes
 * (reservations), or so many at most (ends of alerts). Every other table does, so that a new one is watched without being named here.
 */
const STAYS_SMALL = new Set([
  '_prisma_migrations',
  'alert_end',
  'audit_head',
  'cost_breaker',
  'identity',
  'mcp_pin',
  'memory_store',
  'on_call',
  'pg_namespace',
  'placeholder_key',
  'process',
  'seen_setting',
  'slack_cursor',
  'slack_home',
  'spend_reservation',
  'switch',
  'target_identity',
  'target_system',
  'watch_position',
  'watch_state',
]);

/** Partial indexes of what is under way: reading all of one is reading what waits for somebody now. */
const UNDER_WAY = new Set([
  'action_held',
  'action_identity_busy',
  'action_one_pending',
  'action_queued',
  'action_target_busy',
  'dream_job_pending',
  'escalation_page_open',
  'escalation_page_waiting',
  'idx_workflow_status_delayed',
  'idx_workflow_status_pending',
  'incident_at_work',
  'mute_open',
  'search_entry_not_embedded',
  'slack_inbox_unprocessed',
  'slack_lease_approvals',
  'slack_lease_undrawn',
]);

export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly Schema?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Filter?: string;
  readonly Plans?: readonly PlanNode[];
}

/** What a plan, made with `enable_seqscan = off`, reads as a whole. `leading`: of each index, what its first column is. */
export function wholeReads(plan: PlanNode, leading: ReadonlyMap<string, string>): readonly WholeRead[] {
  const found: WholeRead[] = [];
  visit(plan, null, false);
  return found;

  /** `few`: only so many rows as a LIMIT above asks for are taken from it. */
  function visit(node: PlanNode, table: string | null, few: boolean): void {
    const kind = node['Node Type'];
    const of = node['Relation Name'] ?? table;
    const index = node['Index Name'];
    if (kind.endsWith('Scan') && of !== null && !STAYS_SMALL.has(of)) {
      const how = `${kind}${index ? ` using ${index}` : ''}${node.Filter ? ` where ${node.Filter}` : ''}`;
      if (kind === 'Seq Scan' || kind === 'Tid Range Scan') found.push({ table: of, how });
      else if (index && !isBounded(node, index, leading, few)) found.push({ table: of, how });
    }
    const passes = kind === 'Limit' || (few && LAZY.has(kind) && node.Filter === undefined);
    for (const part of node.Plans ?? []) visit(part, of ?? null, passes);
  }
}

/** Hands on a row when it is asked for one, without reading on. */
const LAZY = new Set(['LockRows', 'Subquery Scan', 'Result', 'Append', 'Merge Append']);

function isBounded(
  node: PlanNode,
  index: string,
  leading: ReadonlyMap<string, string>,
  few: boolean,
): boolean {
  const cond = node['Index Cond'];
  // PostgreSQL 18 also calls it a condition when it has to skip through the whole index for a later column.
  if (cond !== undefined) return leading.get(index) === undefined || cond.includes(leading.get(index) ?? '');
  return UNDER_WAY.has(index) || (few && node.Filter === undefined);
}

/** The first column, or the expression that stands for one, of every index. GIN and the like have no first. */
export async function leadingColumns(sql: Sql): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ readonly name: string; readonly first: string }>`
    SELECT c.relname AS name, coalesce(a.attname, '') AS first
      FROM pg_index x JOIN pg_class c ON c.oid = x.indexrelid JOIN pg_am m ON m.oid = c.relam AND m.amname = 'btree'
      LEFT JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = x.indkey[0] AND a.attnum > 0`;
  return new Map(rows.map(({ name, first }) => [name, first]));
}
