import { describe, expect, it } from 'vitest';
import { strategicMerge } from '../../../playground/kubernetes/api/strategic-merge.ts';

const env = (...names: readonly string[]) => names.map((name) => ({ name, value: '1' }));

/** What `kubectl apply`, `edit` and `rollout undo` send (Kubernetes, "Update API objects in place using kubectl patch"). */
describe('a strategic merge patch', () => {
  it.each([
    {
      says: 'merges lists by their key, and puts what is new behind',
      target: { env: env('A', 'B') },
      patch: { env: [{ name: 'B', value: '2' }, ...env('C')] },
      result: { env: [...env('A'), { name: 'B', value: '2' }, ...env('C')] },
    },
    {
      says: 'takes one of a list away',
      target: { env: env('A', 'B') },
      patch: { env: [{ name: 'A', $patch: 'delete' }] },
      result: { env: env('B') },
    },
    {
      says: 'brings a list into the order that the sender has',
      target: { env: env('A', 'B') },
      patch: { '$setElementOrder/env': [{ name: 'C' }, { name: 'A' }], env: env('C') },
      result: { env: env('C', 'A', 'B') },
    },
    {
      says: 'replaces a whole list where it says so',
      target: { env: env('A', 'B') },
      patch: { env: [{ $patch: 'replace' }, ...env('C')] },
      result: { env: env('C') },
    },
    {
      says: 'replaces a list that has no key',
      target: { args: ['a', 'b'], tolerations: [{ key: 'a' }] },
      patch: { args: ['c'], tolerations: [{ key: 'b' }] },
      result: { args: ['c'], tolerations: [{ key: 'b' }] },
    },
    {
      says: 'replaces a whole object where it says so, as an undo does',
      target: { template: { metadata: { labels: { a: '1' } }, spec: { nodeName: 'x' } } },
      patch: { template: { $patch: 'replace', metadata: { labels: { b: '2' } } } },
      result: { template: { metadata: { labels: { b: '2' } } } },
    },
    {
      says: 'keeps only what it names, so that one kind of strategy replaces another',
      target: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } },
      patch: { strategy: { $retainKeys: ['type'], type: 'Recreate' } },
      result: { strategy: { type: 'Recreate' } },
    },
    {
      says: 'merges plain values, and takes them away',
      target: { finalizers: ['a', 'b'] },
      patch: { '$deleteFromPrimitiveList/finalizers': ['a'], finalizers: ['c'] },
      result: { finalizers: ['b', 'c'] },
    },
    {
      says: 'tells the ports of a service from those of a container',
      target: { ports: [{ port: 80, targetPort: 1 }] },
      patch: { ports: [{ port: 80, targetPort: 2 }] },
      result: { ports: [{ port: 80, targetPort: 2 }] },
    },
    {
      says: 'takes a field away with null',
      target: { spec: { unschedulable: true, podCIDR: 'x' } },
      patch: { spec: { unschedulable: null } },
      result: { spec: { podCIDR: 'x' } },
    },
  ])('$says', ({ target, patch, result }) => {
    expect(strategicMerge(target, patch)).toEqual(result);
  });
});
