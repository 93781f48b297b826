/** Who waits for whom, as PostgreSQL's pg_blocking_pids() says; pid 0 is a prepared transaction. */
export interface Waiter {
  readonly pid: number;
  readonly blockedBy: readonly number[];
}

export interface BlockingGraph {
  /** Blockers that wait for nobody (or, in a cycle, its members), the one that holds up most first. */
  readonly roots: readonly {
    readonly pid: number;
    readonly blocked: readonly number[];
    readonly direct: number;
    readonly inCycle: boolean;
  }[];
  /** Distance to the nearest root: 1 waits for a root itself. */
  readonly depth: ReadonlyMap<number, number>;
  readonly rootsOf: ReadonlyMap<number, readonly number[]>;
  /** One path from a root to each waiter that holds up nobody, longest first. */
  readonly chains: readonly (readonly number[])[];
  /** Everybody who waits behind this one, directly or not. */
  behind(pid: number): readonly number[];
}

/** Turns waits into a forest with its roots. Never loops: a deadlock that is not yet detected is a cycle. */
export function blockingGraph(waiters: readonly Waiter[]): BlockingGraph {
  const blockersOf = new Map(
    waiters.map((waiter) => [waiter.pid, [...new Set(waiter.blockedBy)].filter((pid) => pid !== waiter.pid)]),
  );
  const waitersOf = new Map<number, number[]>();
  for (const [pid, blockers] of blockersOf)
    for (const blocker of blockers) waitersOf.set(blocker, [...(waitersOf.get(blocker) ?? []), pid]);
  const free = [...waitersOf.keys()].filter((pid) => (blockersOf.get(pid) ?? []).length === 0);
  const reached = new Set([...free, ...free.flatMap((pid) => [...distances(pid, waitersOf).keys()])]);
  const cyclic = [...waitersOf.keys()].filter(
    (pid) => !reached.has(pid) && distances(pid, waitersOf).has(pid),
  );
  const roots = [...free, ...cyclic].map((pid) => {
    const blocked = [...distances(pid, waitersOf).keys()].filter((other) => other !== pid);
    return { pid, blocked, direct: (waitersOf.get(pid) ?? []).length, inCycle: cyclic.includes(pid) };
  });
  const depth = new Map<number, number>();
  const rootsOf = new Map<number, number[]>();
  for (const { pid: root } of roots)
    for (const [pid, far] of distances(root, waitersOf)) {
      if (pid === root) continue;
      depth.set(pid, Math.min(far, depth.get(pid) ?? far));
      rootsOf.set(pid, [...(rootsOf.get(pid) ?? []), root]);
    }
  return {
    behind: (pid) => [...distances(pid, waitersOf).keys()].filter((other) => other !== pid),
    roots: roots.sort((a, b) => b.blocked.length - a.blocked.length || b.direct - a.direct || a.pid - b.pid),
    depth,
    rootsOf,
    chains: longestFirst(
      [...blockersOf.keys()].filter((pid) => !waitersOf.has(pid)).map((pid) => pathTo(pid, blockersOf)),
    ),
  };
}

/** Steps from `start` to everything that waits behind it; `start` itself only when it waits for itself in a cycle. */
function distances(start: number, waitersOf: ReadonlyMap<number, readonly number[]>): Map<number, number> {
  const found = new Map<number, number>();
  let edge: readonly number[] = waitersOf.get(start) ?? [];
  for (let step = 1; edge.length > 0; step += 1) {
    const fresh = [...new Set(edge)].filter((pid) => !found.has(pid));
    for (const pid of fresh) found.set(pid, step);
    edge = fresh.flatMap((pid) => waitersOf.get(pid) ?? []);
  }
  return found;
}

function pathTo(pid: number, blockersOf: ReadonlyMap<number, readonly number[]>): readonly number[] {
  const path = [pid];
  for (
    let next = blockersOf.get(pid)?.[0];
    next !== undefined && !path.includes(next);
    next = blockersOf.get(next)?.[0]
  )
    path.unshift(next);
  return path;
}

function longestFirst(chains: readonly (readonly number[])[]): readonly (readonly number[])[] {
  return [...chains].sort((a, b) => b.length - a.length);
}
