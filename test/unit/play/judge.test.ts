import { describe, expect, it } from 'vitest';
import { judge, type Played, type Sight } from '../../play/judge.ts';
import { inOrder } from '../../play/order.ts';

const well: Sight = { at: 60_000, isIll: false, end: 'confirmed' };
const aPlayed = (changes: Partial<Played> = {}): Played => ({
  fault: 'service_down',
  incident: 'INC-1',
  root: '🟢 HostServiceDown',
  sights: [{ at: 0, isIll: true, end: 'open' }, well],
  said: ['✅ Fixed. ✓ it runs'],
  approvals: 1,
  isOutOfTime: false,
  tookMs: 30_000,
  ...changes,
});
const kindsOf = (changes: Partial<Played>): readonly string[] =>
  judge(aPlayed(changes)).map(({ kind }) => kind);

describe('the judge of a played fault', () => {
  it('finds nothing where the thread and the system agree', () => {
    expect(kindsOf({})).toEqual([]);
    expect(kindsOf({ sights: [{ ...well, end: 'over' }] })).toEqual([]);
  });

  it('calls green untrue where the system has been ill for longer than it takes to notice', () => {
    const ill = (at: number): Sight => ({ at, isIll: true, end: 'confirmed' });
    expect(kindsOf({ sights: [ill(0), ill(9_000), well] })).toEqual([]);
    expect(kindsOf({ sights: [ill(0), ill(9_000), ill(11_000), well] })).toEqual(['false_fixed']);
    expect(kindsOf({ sights: [ill(0), well, ill(11_000), well] })).toEqual([]);
  });

  it('takes no cross beside a green mark', () => {
    expect(kindsOf({ said: ['🟢 INC-1 is resolved', '✗ it does not run'] })).toEqual([]);
    expect(kindsOf({ said: ['✅ Fixed. ✗ it does not run'] })).toEqual(['green_with_cross']);
  });

  it('says what was left ill, and what is well and not said to be', () => {
    expect(kindsOf({ sights: [{ at: 0, isIll: true, end: 'handed_over' }] })).toEqual(['not_fixed']);
    expect(kindsOf({ sights: [{ at: 0, isIll: false, end: 'handed_over' }] })).toEqual(['not_said']);
    expect(kindsOf({ isOutOfTime: true })).toEqual(['not_ended']);
  });
});

it('plays a seed’s order again, and all of it', () => {
  const items = ['a', 'b', 'c', 'd', 'e'];
  expect(inOrder(items, 7)).toEqual(inOrder(items, 7));
  expect(inOrder(items, 7).toSorted()).toEqual(items);
  expect(new Set([1, 2, 3, 4, 5, 6].map((seed) => inOrder(items, seed).join(''))).size).toBeGreaterThan(1);
});
