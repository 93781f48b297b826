import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Subscriber } from '../../../src/core/event-bus.ts';
import { asIncidentId, type IncidentId } from '../../../src/core/ids.ts';
import { TOGETHER_MS } from '../../../src/slack/outbound/draw-subject.ts';
import { hashOf } from '../../../src/slack/outbound/message.ts';
import { createOutbound, type Outbound } from '../../../src/slack/outbound/outbound.ts';
import { RateLimiter } from '../../../src/slack/outbound/pacing.ts';
import { nextCalls } from '../../../src/slack/outbound/plan.ts';
import type { PostRow } from '../../../src/slack/outbound/store.ts';
import { type BurstId, isBurst, type SubjectId } from '../../../src/slack/outbound/subject.ts';
import type { Slot } from '../../../src/slack/views/blocks/slot.ts';
import { burstSlot } from '../../../src/slack/views/draw-burst.ts';
import { quiet } from '../../support/quiet.ts';
import { waitFor } from '../../support/wait-for.ts';

const BURST = 'burst:1' as BurstId;
const severities = ['info', 'warning', 'critical'] as const;
let outbound: Outbound | undefined;

afterEach(() => outbound?.stop());

const slot = (name: string, text = name): Slot => ({
  slot: name,
  inThread: name !== 'root' && name !== 'digest',
  text,
  blocks: [],
});

/** Slack and the record in memory; each message takes one token of a pace that this test has sped up. */
function scene(hold: (ids: readonly SubjectId[]) => Promise<unknown> = async () => undefined) {
  const rows = new Map<SubjectId, Map<string, PostRow>>();
  const wanted = new Map<SubjectId, Slot[]>();
  const severityOf = new Map<SubjectId, string>();
  /** What was sent, in its order: `post INC-1 root`. */
  const sent: string[] = [];
  let subscriber: Subscriber | undefined;
  const of = (id: SubjectId) => rows.get(id) ?? (rows.set(id, new Map()).get(id) as Map<string, PostRow>);
  const waiting = (ids: readonly SubjectId[]) =>
    ids
      .filter((id) => severityOf.has(id) && !of(id).get('root')?.ts)
      .map((id) => ({ id: id as IncidentId, severity: severityOf.get(id) as string }));
  const posts = new RateLimiter({ perSecond: 200, burst: 1 });
  const edits = new RateLimiter({ perSecond: 100, burst: 1 });
  const begun: SubjectId[] = [];
  /** What was made of the record, in order. */
  const drawn: SubjectId[] = [];
  const marks = new Map<SubjectId, string>();
  outbound = createOutbound({
    log: quiet,
    paces: { edits, posts: () => posts, editGapMs: 0 } as never,
    client: {
      chat: {
        postMessage: async ({ text }: { text: string }) => {
          sent.push(`post ${text}`);
          return { channel: 'C1', ts: String(sent.length) };
        },
        update: async ({ text }: { text: string }) => void sent.push(`edit ${text}`),
      },
    } as never,
    drawing: async (id) => {
      drawn.push(id);
      return { slots: wanted.get(id) ?? [], channel: 'C1' };
    },
    store: {
      acquire: async (id: SubjectId) => begun.push(id) > 0,
      renew: async () => true,
      beginEdit: async () => true,
      release: async () => undefined,
      isDrawn: async () => false,
      mark: async (id: SubjectId) => marks.get(id) ?? 'mark',
      posts: async (id: SubjectId) => new Map(of(id)),
      beginPost: async () => 'attempt',
      posted: async (
        id: SubjectId,
        name: string,
        { channel, ts, hash }: { channel: string; ts: string; hash: string },
      ) => {
        of(id).set(name, { slot: name, channel, ts, sentHash: hash, postingForMs: null, editedMsAgo: null });
        return true;
      },
      edited: async (id: SubjectId, name: string, hash: string | null) =>
        void of(id).set(name, { ...(of(id).get(name) as PostRow), sentHash: hash }),
      hold: (ids: readonly SubjectId[]) => hold(ids),
      withoutRoot: async (ids: readonly SubjectId[]) => waiting(ids),
      burstOf: async () => BURST,
      standingBursts: async () => [],
      undrawn: async () => [],
      undrawnProposals: async () => [],
    } as never,
  });
  outbound.start({
    subscribe(given) {
      subscriber = given;
      return async () => undefined;
    },
  });
  return {
    sent,
    /** Whose drawing has begun, in order. */
    begun,
    drawn,
    marks,
    /** No message is sent until the returned function is called. */
    holdPosts() {
      const reserve = vi.spyOn(posts, 'reserve').mockReturnValue(100);
      const giveBack = vi.spyOn(posts, 'giveBack').mockReturnValue();
      return () => [reserve, giveBack].forEach((each) => each.mockRestore());
    },
    /** No edit is sent until the returned function is called. */
    holdEdits() {
      const reserve = vi.spyOn(edits, 'reserve').mockReturnValue(100);
      const giveBack = vi.spyOn(edits, 'giveBack').mockReturnValue();
      return () => [reserve, giveBack].forEach((each) => each.mockRestore());
    },
    /** A problem with so many messages in its thread. */
    opens(n: number, messages: number, severity: string = severities[n % 3] as string): SubjectId {
      const id = asIncidentId(`INC-${n}`);
      severityOf.set(id, severity);
      wanted.set(
        id,
        ['root', ...Array.from({ length: messages }, (_, m) => `step:${m}`)].map((name) =>
          slot(name, `${id} ${name}`),
        ),
      );
      return id;
    },
    wants: (id: SubjectId, slots: Slot[]) => wanted.set(id, slots),
    hint: (id: SubjectId) =>
      subscriber?.on['incident.changed'] !== 'sweep' &&
      subscriber?.on['incident.changed']?.(id as IncidentId),
    pressed: (id: SubjectId) => outbound?.pressed(id),
  };
}

const roots = (sent: readonly string[]) => sent.filter((each) => each.endsWith(' root'));

describe('a burst', () => {
  it('posts the first message of every problem before anything else is said, the worst first [C5]', async () => {
    const { sent, opens, hint, wants } = scene();
    wants(BURST, [slot('digest')]);
    // Twenty threads have a lot to say already.
    const busy = Array.from({ length: 20 }, (_, n) => opens(n, 30, 'info'));
    for (const id of busy) hint(id);
    await waitFor('them to have begun', async () => sent.length > 40);
    const before = sent.length;
    const fresh = Array.from({ length: 60 }, (_, n) => opens(100 + n, 6));
    for (const id of fresh) hint(id);
    await waitFor('all of them to stand', async () => roots(sent).length === 80);
    const since = sent.slice(before);
    const last = since.findLastIndex((each) => each.endsWith(' root'));
    // What was on its way when they came: at most a message a worker, and the digest.
    expect(since.slice(0, last + 1).filter((each) => !each.endsWith(' root')).length).toBeLessThanOrEqual(9);
    const order = roots(since).map((each) =>
      severities.indexOf(severities[Number(/INC-(\d+)/.exec(each)?.[1]) % 3] as never),
    );
    expect(order).toEqual(order.toSorted((a, b) => b - a));
  });

  it('a worse one that comes while others are looked at is looked at next, not after all of them [C5]', async () => {
    const looked: (readonly SubjectId[])[] = [];
    const { sent, opens, hint, wants } = scene(async (ids) => {
      looked.push(ids);
      if (looked.length === 1) hint(opens(100, 0, 'critical'));
    });
    wants(BURST, [slot('digest')]);
    for (let n = 0; n < 60; n += 1) hint(opens(n, 0, 'info'));
    await waitFor('all of them to stand', async () => roots(sent).length === 61);
    expect(looked[1]?.[0]).toBe('INC-100');
    expect(Math.max(...looked.map((ids) => ids.length))).toBeLessThan(20);
  });

  it('is told in one digest before the first of them, and the digest is posted once [C5]', async () => {
    const { sent, opens, hint, wants } = scene();
    wants(BURST, [slot('digest')]);
    for (let n = 0; n < 30; n += 1) hint(opens(n, 0));
    await waitFor('all of them to stand', async () => roots(sent).length === 30);
    for (let n = 0; n < 30; n += 1) hint(opens(100 + n, 0));
    await waitFor('the others, too', async () => roots(sent).length === 60);
    expect(sent[0]).toBe('post digest');
    expect(sent.filter((each) => each === 'post digest')).toHaveLength(1);
  });

  it('a first message is sent as it was drawn, since all others wait meanwhile, and then says what has changed [C5]', async () => {
    const { sent, drawn, marks, opens, hint, wants, holdPosts } = scene();
    wants(BURST, []);
    const ids = Array.from({ length: 40 }, (_, n) => opens(n, 0, 'info'));
    const goOn = holdPosts();
    for (const id of ids) hint(id);
    await waitFor('some of them to wait', async () => drawn.length >= 8);
    // They are looked into.
    for (const id of ids) marks.set(id, 'another');
    goOn();
    await waitFor('all of them to stand', async () => roots(sent).length === 40);
    const again = drawn.filter((id, n) => !isBurst(id) && drawn.indexOf(id) !== n);
    expect(again).toEqual([]);
    const [one] = ids as [SubjectId];
    wants(one, [slot('root', `${one} goes on`)]);
    hint(one);
    await waitFor('what has changed', async () => sent.includes(`edit ${one} goes on`));
  });

  it('what is said in a thread is drawn anew before it is sent, when it has changed unheard [C5]', async () => {
    const { sent, drawn, marks, opens, hint, wants, holdPosts } = scene();
    wants(BURST, []);
    const id = opens(1, 0, 'info');
    hint(id);
    await waitFor('its first message', async () => sent.length === 1);
    const goOn = holdPosts();
    wants(id, [slot('root', `${id} root`), slot('step:1', 'old')]);
    const before = drawn.length;
    hint(id);
    await waitFor('it to wait', async () => drawn.length > before);
    wants(id, [slot('root', `${id} root`), slot('step:1', 'new')]);
    marks.set(id, 'another');
    goOn();
    await waitFor('what is new', async () => sent.length === 2);
    expect(sent).toContain('post new');
  });

  it('of a few problems there is no digest [C5]', async () => {
    const { sent, opens, hint, wants } = scene();
    wants(BURST, [slot('digest')]);
    for (let n = 0; n < 10; n += 1) hint(opens(n, 1));
    await waitFor('all of it to stand', async () => sent.length === 20);
    expect(sent).not.toContain('post digest');
  });

  it('the card that somebody has pressed is edited before what all others have to say [C5]', async () => {
    const { sent, begun, opens, hint, wants, pressed, holdEdits } = scene();
    const ids = Array.from({ length: 30 }, (_, n) => opens(n, 0, 'info'));
    for (const id of ids) wants(id, [slot('root', `${id} root`), slot('action:act_1', `${id} card`)]);
    wants(BURST, []);
    for (const id of ids) hint(id);
    await waitFor('the cards', async () => sent.filter((each) => each.endsWith(' card')).length === 30);
    // What was sent a moment ago is not edited at once.
    await sleep(TOGETHER_MS);
    const before = sent.length;
    for (const id of ids)
      wants(id, [
        slot('root', `${id} root is edited`),
        slot('action:act_1', `${id} card is edited`),
        slot('step:1', `${id} says more`),
      ]);
    const goOn = holdEdits();
    const from = begun.length;
    for (const id of ids) hint(id);
    await waitFor('all workers to have something to edit', async () => begun.length >= from + 8);
    const last = ids.at(-1) as SubjectId;
    expect(begun.slice(from)).not.toContain(last);
    pressed(last);
    await waitFor('one of them to leave it to the pressed card', async () =>
      begun.slice(from).includes(last),
    );
    goOn();
    await waitFor('all of it', async () => sent.length === before + 90);
    const edits = sent.slice(before).filter((each) => each.startsWith('edit'));
    // One a worker at most had asked before it.
    expect(edits.slice(0, 9)).toContain(`edit ${last} card is edited`);
  });

  it('within one thread the order stays: what is missing in its order, and the card only where it stands [C5]', () => {
    const slots = [slot('root'), slot('headsup:2'), slot('action:act_1', 'new')];
    const row = (name: string, sentHash: string): [string, PostRow] => [
      name,
      { slot: name, channel: 'C1', ts: '1', sentHash, postingForMs: null, editedMsAgo: null },
    ];
    const pressedNext = (posts: readonly [string, PostRow][]) => nextCalls(slots, new Map(posts), true)[0];
    expect(pressedNext([])).toMatchObject({ kind: 'post', slot: { slot: 'root' } });
    expect(pressedNext([row('root', 'x')])).toMatchObject({ kind: 'post', slot: { slot: 'headsup:2' } });
    expect(pressedNext([row('root', hashOf(slot('root'))), row('action:act_1', 'old')])).toMatchObject({
      kind: 'edit',
      slot: { slot: 'action:act_1' },
    });
  });

  it('a digest says how many, how bad, and where to look [C5]', () => {
    const drawn = burstSlot(
      {
        problems: 200,
        bySeverity: [
          { severity: 'critical', problems: 3 },
          { severity: 'warning', problems: 197 },
        ],
        from: '2026-01-01T00:00:00Z',
        to: '2026-01-01T00:01:00Z',
        worst: [
          {
            id: asIncidentId('INC-1'),
            title: 'down <!channel>',
            members: 50,
            severity: 'critical',
            channel: 'C1',
            ts: '1.2',
          },
          {
            id: asIncidentId('INC-2'),
            title: 'slow',
            members: 1,
            severity: 'critical',
            channel: null,
            ts: null,
          },
          {
            id: asIncidentId('INC-3'),
            title: 'odd',
            members: 1,
            severity: 'warning',
            channel: null,
            ts: null,
          },
        ],
      },
      (channel, ts) => `https://slack.test/${channel}/${ts}`,
    );
    expect(drawn.text).toBe('200 problems opened at once: 3 critical, 197 warning');
    const blocks = JSON.stringify(drawn.blocks);
    expect(blocks).toContain('https://slack.test/C1/1.2');
    expect(blocks).toContain('And 197 more');
    expect(blocks).not.toContain('50 of down · ');
    expect(blocks).toContain('slow · next');
    expect(blocks).toContain('odd · 2nd in line; 1 more severe before it');
    expect(blocks).toContain('50 of down');
    // Whoever named it rings nobody: it stands as literal text.
    expect(blocks).not.toContain('"type":"broadcast"');
    expect(isBurst(BURST)).toBe(true);
  });
});
