import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitWords } from '../../../src/search/text/split-words.ts';
import { termsOf } from '../../../src/search/text/terms.ts';
import { cpuClock } from '../../support/cpu-clock.ts';

const of = (text: string, kind: string) =>
  termsOf(text)
    .filter((term) => term.kind === kind)
    .map((term) => term.text);

describe('identifiers', () => {
  test.each([
    ['KubePodCrashLooping', ['kube', 'pod', 'crash', 'looping']],
    ['pg_stat_activity', ['pg', 'stat', 'activity']],
    ['etcdGRPCRequestsSlow', ['etcd', 'grpc', 'requests', 'slow']],
    ['container-cpu-usage', ['container', 'cpu', 'usage']],
    ['node.disk.io', ['node', 'disk', 'io']],
    ['PVCs', ['pvcs']],
    ['CNPGClusterHASingleReplica', ['cnpg', 'cluster', 'ha', 'single', 'replica']],
  ])('%s is taken apart', (identifier, parts) => {
    expect(splitWords(identifier)).toEqual(parts);
  });

  test('stay findable in one piece', () => {
    expect(of('see pg_stat_activity', 'whole')).toEqual(of('pgStatActivity', 'whole'));
    expect(of('KubePodCrashLooping', 'whole')).toHaveLength(1);
    expect(of('crash looping', 'whole')).toEqual([]);
  });
});

describe('two words', () => {
  test('are what others write as one', () => {
    expect(of('a dead lock was found', 'pair')).toContain(of('deadlocks', 'word')[0]);
  });

  test('are no phrase across the end of a sentence', () => {
    expect(of('The disk. Full backups run.', 'pair')).not.toContain('diskfull');
    expect(of('The disk full', 'pair')).toContain('diskfull');
  });
});

describe('a condition is the same in any words', () => {
  test.each([
    ['OOMKilled', 'exit code 137'],
    ['the container ran out of memory', 'OOM'],
    ['CrashLoopBackOff', 'the pod is crash looping'],
    ['no space left on device', 'the disk is filling up'],
    ['transaction ID wraparound', 'datfrozenxid'],
    ['too many connections', 'remaining connection slots are reserved'],
    ['connection timed out', 'context deadline exceeded'],
    ['replica is lagging', 'the standby is falling behind'],
  ])('%s, %s', (one, other) => {
    const shared = new Set(of(one, 'concept'));
    expect(of(other, 'concept').some((concept) => shared.has(concept))).toBe(true);
  });

  test('and no other', () => {
    expect(of('memory usage report', 'concept')).not.toContain('~oom');
    expect(of('exit code 1', 'concept')).toEqual([]);
  });
});

test('words that say nothing, hashes and long numbers are left out', () => {
  expect(of(`the alert is firing 1700000000 ${'a'.repeat(64)}`, 'word')).toEqual([]);
});

test('any text has terms in time linear to its length', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 500, unit: 'binary' }), (text) => {
      for (const term of termsOf(text)) expect(term.text).not.toBe('');
    }),
  );
  const cpuMs = cpuClock();
  for (const piece of ['a_', 'aB', '. ', '-', 'A', 'not ', '#'])
    termsOf(piece.repeat(200_000 / piece.length));
  expect(cpuMs()).toBeLessThan(10_000);
});
