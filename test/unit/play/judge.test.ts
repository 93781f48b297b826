import { describe, expect, it } from 'vitest';
import { judge, type Played, type Sight } from '../../play/judge.ts';
import { inOrder } from '../../play/order.ts';

const well: Sight = { at: 60_000, isIll: false, fires: false, end: 'confirmed' };
const ill: Sight = { at: 0, isIll: true, fires: true, end: 'open' };
const aPlayed = (changes: Partial<Played> = {}): Played => ({
  fault: 'service_down',
  needsPeople: false,
  refused: null,
  incident: 'INC-1',
  root: '🟢 HostServiceDown',
  sights: [ill, well],
  said: ['✅ Fixed. ✓ it runs'],
  thread: ['✅ Fixed. ✓ it runs', '🟢 Fixed · after 2 min'],
  openCards: 0,
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
    expect(kindsOf({ sights: [{ ...well, end: 'over' }], thread: ['⚪ Over · after 2 min'] })).toEqual([]);
  });

  it('calls green untrue where the system has been ill for longer than it takes to notice', () => {
    const green = (at: number): Sight => ({ ...ill, at, end: 'confirmed' });
    expect(kindsOf({ sights: [green(0), green(9_000), well] })).toEqual([]);
    expect(kindsOf({ sights: [green(0), green(9_000), green(11_000), well] })).toEqual(['false_fixed']);
    expect(kindsOf({ sights: [green(0), well, green(11_000), well] })).toEqual([]);
  });

  it('takes no cross beside a green mark', () => {
    expect(kindsOf({ said: ['🟢 Fixed · after 2 min', '✗ it does not run'] })).toEqual([]);
    expect(kindsOf({ said: ['✅ Fixed. ✗ it does not run'] })).toEqual(['green_with_cross']);
  });

  it('says what was left ill, and what is well and not said to be', () => {
    const thread = ['🚨 A person is needed'];
    const over = { sights: [{ ...ill, end: 'handed_over' }], thread } as const;
    expect(kindsOf(over)).toEqual(['not_fixed']);
    expect(kindsOf({ ...over, needsPeople: true })).toEqual([]);
    expect(kindsOf({ needsPeople: true, sights: [ill] })).toEqual(['not_fixed']);
    expect(kindsOf({ sights: [{ ...well, end: 'handed_over' }], thread })).toEqual(['not_said']);
    expect(kindsOf({ isOutOfTime: true })).toEqual(['not_ended']);
  });

  it('calls a fault that never was, and an alert that nobody answered, no pass', () => {
    const alone: Partial<Played> = { incident: null, root: '', said: [], thread: [] };
    const open: Sight = { ...well, end: 'open' };
    expect(kindsOf({ ...alone, refused: 'too many clients', sights: [] })).toEqual(['not_caused']);
    expect(kindsOf({ ...alone, sights: [ill, { ...ill, at: 20_000 }, open] })).toEqual(['not_heard']);
    expect(kindsOf({ ...alone, sights: [ill, { ...ill, at: 5_000 }, open] })).toEqual([]);
  });

  it('wants the bottom of the thread to say what its root says, and nothing left to press', () => {
    const sentOut = ['🟢 Fixed · after 2 min', '🚨 A person is needed'];
    expect(kindsOf({ thread: sentOut })).toEqual(['contradicted']);
    expect(kindsOf({ thread: sentOut.toReversed() })).toEqual([]);
    const call = 'I cannot fix this. it is yours.';
    expect(kindsOf({ thread: [...sentOut.slice(0, 1), call] })).toEqual(['contradicted']);
    expect(kindsOf({ thread: [...sentOut.slice(0, 1), `${call} It is over since 10:40.`] })).toEqual([]);
    expect(kindsOf({ openCards: 1 })).toEqual(['card_left']);
    expect(kindsOf({ openCards: 1, sights: [ill], isOutOfTime: true })).toEqual(['not_ended', 'not_fixed']);
  });
});

it('plays a seed’s order again, and all of it', () => {
  const items = ['a', 'b', 'c', 'd', 'e'];
  expect(inOrder(items, 7)).toEqual(inOrder(items, 7));
  expect(inOrder(items, 7).toSorted()).toEqual(items);
  expect(new Set([1, 2, 3, 4, 5, 6].map((seed) => inOrder(items, seed).join(''))).size).toBeGreaterThan(1);
});
