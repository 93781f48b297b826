import { expect, it } from 'vitest';
import { hashOf } from '../../../src/slack/outbound/message.ts';
import { nextCalls } from '../../../src/slack/outbound/plan.ts';
import type { PostRow } from '../../../src/slack/outbound/store.ts';
import type { Slot } from '../../../src/slack/views/blocks/slot.ts';

const slot = (name: string, text = name, live = false): Slot => ({
  slot: name,
  inThread: name !== 'root',
  text,
  blocks: [],
  live,
});
const standing = (...slots: readonly Slot[]): Map<string, PostRow> =>
  new Map(
    slots.map((each) => [
      each.slot,
      {
        slot: each.slot,
        channel: 'C0',
        ts: '1',
        sentHash: hashOf(each),
        postingForMs: null,
        editedMsAgo: null,
      },
    ]),
  );
const next = (slots: readonly Slot[], posts: ReadonlyMap<string, PostRow>) => {
  const call = nextCalls(slots, posts)[0];
  return call ? `${call.kind} ${call.slot.slot}` : null;
};

it('posts what is missing in its order, before any edit', () => {
  const slots = [slot('root', 'new'), slot('live:1', 'new', true), slot('headsup:2')];
  expect(next(slots, new Map())).toBe('post root');
  expect(next(slots, standing(slot('root', 'old')))).toBe('post live:1');
  expect(next(slots, standing(slot('root', 'old'), slot('live:1', 'old')))).toBe('post headsup:2');
});

it('edits the live message last, and nothing that says the same', () => {
  const slots = [slot('root', 'new'), slot('live:1', 'new', true), slot('headsup:2', 'new')];
  expect(next(slots, standing(slot('root', 'old'), slot('live:1', 'old'), slot('headsup:2', 'old')))).toBe(
    'edit root',
  );
  expect(next(slots, standing(slots[0]!, slot('live:1', 'old'), slot('headsup:2', 'old')))).toBe(
    'edit headsup:2',
  );
  expect(next(slots, standing(slots[0]!, slot('live:1', 'old'), slots[2]!))).toBe('edit live:1');
  expect(next(slots, standing(...slots))).toBeNull();
});

it('takes a post that was begun and not recorded as missing', () => {
  const posts = standing(slot('root'));
  posts.set('root', {
    slot: 'root',
    channel: 'C0',
    ts: null,
    sentHash: null,
    postingForMs: 100,
    editedMsAgo: null,
  });
  expect(next([slot('root')], posts)).toBe('post root');
});

it('a card and a closing that changed go before what is missing and before progress, a pressed card before both; the root goes with them', () => {
  const slots = [
    slot('root', 'new'),
    slot('live:1', 'new', true),
    slot('summary:1', 'new'),
    slot('action:a', 'new'),
  ];
  const old = standing(slot('root', 'old'), slot('summary:1', 'old'), slot('action:a', 'old'));
  const calls = nextCalls(slots, old);
  expect(calls.map((call) => `${call.kind} ${call.slot.slot}`)).toEqual([
    'edit root',
    'edit summary:1',
    'edit action:a',
    'post live:1',
  ]);
  expect(calls.map(({ inTurn }) => inTurn === true)).toEqual([true, true, true, false]);
  expect(nextCalls(slots, old, true).map((call) => call.slot.slot)).toEqual([
    'root',
    'action:a',
    'summary:1',
    'live:1',
  ]);
});

it('the root goes right after a card or a closing that comes, whose mention waits for no edit', () => {
  const old = standing(slot('root', 'old'), slot('live:1', 'old'));
  for (const name of ['action:a', 'summary:1', 'again:opening-2']) {
    const slots = [slot('root', 'new'), slot('live:1', 'new', true), slot(name)];
    expect(nextCalls(slots, old).map((call) => call.slot.slot)).toEqual([name, 'root', 'live:1']);
    // It has come, and the root does not wait for its usual turn.
    const come = nextCalls(slots, new Map([...old, ...standing(slot(name))]), false, true);
    expect(come.map((call) => [call.slot.slot, call.inTurn === true])).toEqual([
      ['root', true],
      ['live:1', false],
    ]);
  }
  // Of two things to tell, what mentions people; but where somebody has pressed, first the card that they pressed.
  const both = [slot('root', 'new'), slot('action:a', 'new'), slot('action:b')];
  const stood = standing(slot('root', 'old'), slot('action:a', 'old'));
  expect(nextCalls(both, stood).map((call) => call.slot.slot)).toEqual(['action:b', 'root', 'action:a']);
  expect(nextCalls(both, stood, true).map((call) => call.slot.slot)).toEqual([
    'root',
    'action:a',
    'action:b',
  ]);
  expect(
    nextCalls([slot('root', 'new'), slot('live:1', 'old'), slot('call:4')], old).map(
      (call) => call.slot.slot,
    ),
  ).toEqual(['call:4', 'root']);
});

it('of progress, what was edited longest ago is next: a root that always changes does not keep the live message old', () => {
  const slots = [slot('root', 'new'), slot('live:1', 'new', true)];
  const posts = standing(slot('root', 'old'), slot('live:1', 'old'));
  const edited = (name: string, editedMsAgo: number): void =>
    void posts.set(name, { ...posts.get(name)!, editedMsAgo });
  edited('root', 3_000);
  expect(next(slots, posts)).toBe('edit live:1');
  edited('live:1', 2_000);
  expect(next(slots, posts)).toBe('edit root');
});

it('what an earlier version told in a message of another name is not told again', () => {
  const old = standing(slot('root'), slot('diagnosis:2'), slot('summary:2'));
  expect(nextCalls([slot('root'), slot('headsup:2'), slot('again:opening-2')], old)).toEqual([]);
  expect(next([slot('root'), slot('headsup:3')], old)).toBe('post headsup:3');
  expect(next([slot('root'), slot('again:opening-3')], old)).toBe('post again:opening-3');
});

it('nothing happens to what stands and is drawn no longer', () => {
  const root = slot('root');
  const old = ['result:plan_1', 'verification:1', 'diagnosis:1', 'no-target'].map((name) => slot(name));
  expect(nextCalls([root], standing(root, ...old))).toEqual([]);
});
