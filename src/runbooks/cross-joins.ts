/** Two inputs of which a plan joins every row with every other. */
export interface CrossJoin {
  /** Tables (or functions) with their alias: `orders b`. */
  readonly left: string;
  readonly right: string;
  /** As the planner estimates what comes out. */
  readonly rows: number;
  /** The plan's line of the join, as it stands there. */
  readonly line: string;
}

interface PlanNode {
  readonly line: string;
  readonly depth: number;
  readonly does: string;
  readonly rows: number;
  readonly conditions: string[];
  readonly children: PlanNode[];
}

/** Below that a missing condition is nothing to speak of: settings and dates are joined so on purpose. */
const MANY_ROWS = 1_000_000;
const NODE = /^(\s*)(->\s+)?(\S.*?)\s+\(cost=[\d.]+\.\.[\d.]+ rows=(\d+)/;

/**
 * Nested loops of a plan (EXPLAIN's text) that no condition joins: neither a filter of the join nor one inside its inner side
 * that names the outer side. The largest first.
 */
export function crossJoins(planLines: readonly string[]): readonly CrossJoin[] {
  return allNodes(treeOf(planLines))
    .flatMap((node): CrossJoin[] => {
      const [outer, inner] = node.children;
      if (!/^(?:Parallel )?Nested Loop$/.test(node.does) || outer === undefined || inner === undefined)
        return [];
      if (node.rows < MANY_ROWS || node.conditions.some((line) => line.startsWith('Join Filter'))) return [];
      const aliases = relationsOf(outer).flatMap((name) => name.split(' ').slice(-1));
      const asked = allNodes([inner]).flatMap(({ conditions }) => conditions);
      if (asked.some((line) => aliases.some((alias) => mentions(line, alias)))) return [];
      const [left, right] = [relationsOf(outer), relationsOf(inner)];
      if (left.length === 0 || right.length === 0) return [];
      return [{ left: left.join(', '), right: right.join(', '), rows: node.rows, line: node.line }];
    })
    .toSorted((a, b) => b.rows - a.rows);
}

function treeOf(lines: readonly string[]): readonly PlanNode[] {
  const roots: PlanNode[] = [];
  const open: PlanNode[] = [];
  for (const line of lines) {
    const [, indent = '', arrow = '', does, rows] = NODE.exec(line) ?? [];
    if (does === undefined) {
      open.at(-1)?.conditions.push(line.trim());
      continue;
    }
    const depth = indent.length + arrow.length;
    const node: PlanNode = {
      line: line.trim(),
      depth,
      does,
      rows: Number(rows),
      conditions: [],
      children: [],
    };
    while (open.length > 0 && (open.at(-1)?.depth ?? 0) >= depth) open.pop();
    (open.at(-1)?.children ?? roots).push(node);
    open.push(node);
  }
  return roots;
}

const allNodes = (nodes: readonly PlanNode[]): readonly PlanNode[] =>
  nodes.flatMap((node) => [node, ...allNodes(node.children)]);

/** `Index Scan using orders_pkey on orders b` → `orders b`; an alias that is the name itself is said once. */
function relationsOf(node: PlanNode): readonly string[] {
  return allNodes([node]).flatMap(({ does }) => {
    const name = /(?:Scan|Search)(?: Backward)?(?: using \S+)? on (\S+(?: \S+)?)$/.exec(does)?.[1];
    if (name === undefined || / Bitmap Index Scan /.test(` ${does} `)) return [];
    return [name.replace(/^public\./, '')];
  });
}

const mentions = (line: string, alias: string): boolean =>
  new RegExp(`(^|[^\\w.])"?${alias.replace(/[^\w]/g, '\\$&')}"?\\.`).test(line);
