import { getEventListeners } from 'node:events';
import { expect, it, vi } from 'vitest';
import { asIncidentId } from '../../../src/core/ids.ts';
import { DueQueue } from '../../../src/slack/outbound/due-queue.ts';
import { hashOf } from '../../../src/slack/outbound/message.ts';
import { createOutbound } from '../../../src/slack/outbound/outbound.ts';
import { RateLimiters } from '../../../src/slack/outbound/pacing.ts';
import type { PostRow } from '../../../src/slack/outbound/store.ts';
import type { Slot } from '../../../src/slack/views/blocks/slot.ts';
import { quiet } from '../../support/quiet.ts';
import { waitFor } from '../../support/wait-for.ts';

const id = asIncidentId('INC-1');
const slot = (name: string): Slot => ({ slot: name, inThread: true, text: name, blocks: [] });

/** Where everything stands already, or where somebody else draws. */
function outbound(mayDraw: boolean, posted: readonly string[]) {
  const rows = new Map(posted.map((name) => [name, standing(name)]));
  return createOutbound({
    client: {} as never,
    log: quiet,
    paces: new RateLimiters(),
    drawing: async () => null,
    store: {
      acquire: async () => mayDraw,
      release: async () => undefined,
      mark: async () => 'same',
      posts: async () => rows,
    } as never,
  });
}
const standing = (name: string): PostRow => ({
  slot: name,
  channel: 'C1',
  ts: '1.0',
  sentHash: hashOf(slot(name)),
  postingForMs: null,
  editedMsAgo: null,
});

it('of what was said and stands there, nothing is kept', async () => {
  const signals: AbortSignal[] = [];
  const plain = AbortController;
  globalThis.AbortController = class extends plain {
    constructor() {
      super();
      signals.push(this.signal);
    }
  };
  const said = outbound(true, ['a']);
  globalThis.AbortController = plain;
  for (let n = 0; n < 20; n += 1) await said.say(id, slot('a'));
  expect(signals).toHaveLength(1);
  expect(getEventListeners(signals[0]!, 'abort').length).toBeLessThan(2);
  await said.stop();
});

it('what is said while a drawing ends stands there before it counts as said', async () => {
  const edits: string[] = [];
  let ended: Promise<void> | undefined;
  let sentHash: string | null = 'of half a sentence';
  const said = createOutbound({
    client: { chat: { update: async ({ text }: { text: string }) => void edits.push(text) } } as never,
    log: quiet,
    paces: new RateLimiters(),
    drawing: async () => ({ slots: [], channel: 'C1' }),
    store: {
      acquire: async () => true,
      renew: async () => true,
      beginEdit: async () => true,
      release: async () => undefined,
      mark: async () => 'same',
      posts: async () => {
        // The drawing under way has asked already what is to be said.
        ended ??= said.say(id, slot('a whole sentence'));
        return new Map([['a whole sentence', { ...standing('a whole sentence'), sentHash }]]);
      },
      edited: async (_id: string, _slot: string, hash: string | null) => {
        sentHash = hash;
      },
    } as never,
  });
  said.pressed(id);
  await waitFor('it to be said', async () => ended !== undefined);
  await ended;
  expect(edits).toEqual(['a whole sentence']);
  await said.stop();
});

it('what is said while another is looked for is not lost', async () => {
  let asked = 0;
  let second: Promise<void> | undefined;
  const said = createOutbound({
    client: {} as never,
    log: quiet,
    paces: new RateLimiters(),
    drawing: async () => ({ slots: [], channel: 'C1' }),
    store: {
      acquire: async () => true,
      release: async () => undefined,
      mark: async () => 'same',
      posts: async () => {
        asked += 1;
        // The second look is for whether the first stands there.
        if (asked === 2) second = said.say(id, slot('b'));
        return new Map(['a', 'b'].map((name) => [name, standing(name)]));
      },
    } as never,
  });
  await said.say(id, slot('a'));
  await expect(second).resolves.toBeUndefined();
  await said.stop();
});

it('of two texts for one message the later one stands', async () => {
  const edits: string[] = [];
  let sentHash: string | null = 'of an earlier text';
  const said = createOutbound({
    client: { chat: { update: async ({ text }: { text: string }) => void edits.push(text) } } as never,
    log: quiet,
    paces: new RateLimiters(),
    drawing: async () => ({ slots: [], channel: 'C1' }),
    store: {
      acquire: async () => true,
      renew: async () => true,
      beginEdit: async () => true,
      release: async () => undefined,
      mark: async () => 'same',
      posts: async () => new Map([['a', { ...standing('a'), sentHash }]]),
      edited: async (_id: string, _slot: string, hash: string | null) => {
        sentHash = hash;
      },
    } as never,
  });
  const words = (text: string): Slot => ({ ...slot('a'), text });
  await Promise.all([said.say(id, words('the earlier')), said.say(id, words('the later'))]);
  expect(edits).toEqual(['the later']);
  expect(sentHash).toBe(hashOf(words('the later')));
  await said.stop();
});

it('what waits to be said at the end is told so', async () => {
  const said = outbound(false, []);
  const waiting = [said.say(id, slot('a')), said.say(id, slot('b'))].map((each) =>
    expect(each).rejects.toThrow('stopping'),
  );
  await said.stop();
  await Promise.all(waiting);
  await expect(said.say(id, slot('c'))).rejects.toThrow('stopping');
});

it('tells for how long the oldest change has waited, while it cannot be drawn and no longer [F19]', async () => {
  let fails = true;
  const said = createOutbound({
    client: {} as never,
    log: quiet,
    paces: new RateLimiters(),
    drawing: async () => null,
    store: {
      acquire: async () => {
        if (fails) throw new Error('no');
        return true;
      },
      release: async () => undefined,
      mark: async () => 'same',
      posts: async () => new Map(),
    } as never,
  });
  expect(said.oldestWaitMs()).toBe(0);
  said.pressed(id);
  await waitFor('it waits', async () => said.oldestWaitMs() > 20);
  fails = false;
  said.pressed(id);
  await waitFor('it stands there', async () => said.oldestWaitMs() === 0);
  await said.stop();
});

it('what failed before a message that was taken makes nothing wait that fails after it [M5]', async () => {
  const add = DueQueue.prototype.add;
  const waits: number[] = [];
  const spied = vi.spyOn(DueQueue.prototype, 'add').mockImplementation(function (this: never, key, ms = 0) {
    if (ms >= 1_000) waits.push(ms);
    add.call(this, key, 0);
  });
  const left = new Map([
    ['a', 3],
    ['b', 2],
  ]);
  const rows = new Map(
    [...left.keys()].map((name) => [
      name,
      { ...standing(name), sentHash: 'of an earlier text' as string | null },
    ]),
  );
  const said = createOutbound({
    client: {
      chat: {
        update: async ({ text }: { text: string }) => {
          const failing = left.get(text) ?? 0;
          left.set(text, failing - 1);
          if (failing > 0) throw new Error('Slack does not answer');
        },
      },
    } as never,
    log: quiet,
    paces: new RateLimiters(100),
    drawing: async () => ({ slots: [slot('a'), slot('b')], channel: 'C1' }),
    store: {
      acquire: async () => true,
      renew: async () => true,
      beginEdit: async () => true,
      release: async () => undefined,
      mark: async () => 'same',
      posts: async () => new Map(rows),
      edited: async (_id: string, name: string, sentHash: string | null) =>
        void rows.set(name, { ...standing(name), sentHash }),
    } as never,
  });
  said.pressed(id);
  await waitFor('all of it to stand there', async () =>
    [...rows].every(([name, { sentHash }]) => sentHash === hashOf(slot(name))),
  );
  expect(waits).toEqual([1_000, 2_000, 4_000, 1_000, 2_000]);
  await said.stop();
  spied.mockRestore();
});
