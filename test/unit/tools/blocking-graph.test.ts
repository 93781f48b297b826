import fc from 'fast-check';
import { expect, test } from 'vitest';
import { blockingGraph } from '../../../src/targets/postgres/read/blocking-graph.ts';

test('several roots, each with everybody behind it, the worst first', () => {
  const graph = blockingGraph([
    { pid: 2, blockedBy: [1] },
    { pid: 3, blockedBy: [2] },
    { pid: 4, blockedBy: [3] },
    { pid: 11, blockedBy: [10] },
  ]);
  expect(graph.roots).toEqual([
    { pid: 1, blocked: [2, 3, 4], direct: 1, inCycle: false },
    { pid: 10, blocked: [11], direct: 1, inCycle: false },
  ]);
  expect([...graph.depth]).toEqual([
    [2, 1],
    [3, 2],
    [4, 3],
    [11, 1],
  ]);
  expect(graph.chains).toEqual([
    [1, 2, 3, 4],
    [10, 11],
  ]);
});

test('one who waits for two roots belongs to both, at the shorter distance', () => {
  const graph = blockingGraph([
    { pid: 2, blockedBy: [1] },
    { pid: 5, blockedBy: [2, 9] },
  ]);
  expect(graph.rootsOf.get(5)).toEqual([1, 9]);
  expect(graph.depth.get(5)).toBe(1);
});

test('a prepared transaction (pid 0) is a root', () => {
  expect(blockingGraph([{ pid: 7, blockedBy: [0, 0] }]).roots).toEqual([
    { pid: 0, blocked: [7], direct: 1, inCycle: false },
  ]);
});

test('a cycle has its members as roots, and who waits behind it is none', () => {
  const graph = blockingGraph([
    { pid: 1, blockedBy: [2] },
    { pid: 2, blockedBy: [1] },
    { pid: 3, blockedBy: [1] },
  ]);
  expect(graph.roots.map(({ pid, inCycle }) => [pid, inCycle])).toEqual([
    [1, true],
    [2, true],
  ]);
  expect(graph.rootsOf.get(3)?.toSorted()).toEqual([1, 2]);
});

test('whoever waits has a root, and nothing loops, whatever waits for whatever', () => {
  const pid = fc.integer({ min: 0, max: 12 });
  fc.assert(
    fc.property(
      fc.uniqueArray(
        fc.record({
          pid: fc.integer({ min: 1, max: 12 }),
          blockedBy: fc.array(pid, { minLength: 1, maxLength: 4 }),
        }),
        { selector: (waiter) => waiter.pid },
      ),
      (waiters) => {
        const graph = blockingGraph(waiters);
        const waiting = waiters.filter((waiter) =>
          waiter.blockedBy.some((blocker) => blocker !== waiter.pid),
        );
        for (const waiter of waiting)
          expect(
            graph.rootsOf.get(waiter.pid)?.length ??
              (graph.roots.some((root) => root.pid === waiter.pid) ? 1 : 0),
          ).toBeGreaterThan(0);
        for (const root of graph.roots)
          if (!root.inCycle) expect(waiting.some((waiter) => waiter.pid === root.pid)).toBe(false);
        for (const chain of graph.chains) expect(new Set(chain).size).toBe(chain.length);
      },
    ),
  );
});
