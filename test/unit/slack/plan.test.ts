import { expect, it } from 'vitest';
import { hashOf } from '../../../src/slack/outbound/message.ts';
import { nextCall } from '../../../src/slack/outbound/plan.ts';
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
      { slot: each.slot, channel: 'C0', ts: '1', sentHash: hashOf(each), postingForMs: null },
    ]),
  );
const next = (slots: readonly Slot[], posts: ReadonlyMap<string, PostRow>) => {
  const call = nextCall(slots, posts);
  return call && `${call.kind} ${call.slot.slot}`;
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
  posts.set('root', { slot: 'root', channel: 'C0', ts: null, sentHash: null, postingForMs: 100 });
  expect(next([slot('root')], posts)).toBe('post root');
});
