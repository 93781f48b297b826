import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type DrawDeps, drawSubject } from '../../../src/slack/outbound/draw-subject.ts';
import { hashOf } from '../../../src/slack/outbound/message.ts';
import type { PostRow } from '../../../src/slack/outbound/store.ts';
import { draw } from '../../../src/slack/views/blocks/draw.ts';
import type { Slot } from '../../../src/slack/views/blocks/slot.ts';
import { contradictions } from '../../support/contradictions.ts';
import { INCIDENT } from '../../support/incident-record.ts';
import { quiet } from '../../support/quiet.ts';
import { type Recorded, recordAt, recordedIncidents } from '../../support/recorded-incidents.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['performance', 'Date'] }));
afterEach(() => vi.useRealTimers());

const options = { threadUrl: () => null, approvers: '@oncall', ring: ['S0ONCALL'] };

/** Numbers from 0 to 1, the same for the same seed. */
const randomOf = (seed: number) => () => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return seed / 2_147_483_648;
};

/** Whether the record is ever seen as it was after so many events: what is stored in one transaction comes together. */
const isSeen = ({ events }: Recorded, length: number): boolean => {
  const [last, next] = [events[length - 1], events[length]];
  if (last?.type === 'action.proposed') return next?.type !== 'state.changed';
  return !(next?.type === 'action.void' && last?.type === 'state.changed');
};

/** One thread in memory, drawn by the real writer with the real pace of its edits. */
function thread(slots: () => readonly Slot[], beside: ReadonlySet<string>) {
  const rows = new Map<string, PostRow & { readonly editedAt: number | null }>();
  const shown = new Map<string, Slot>();
  /** What contradicted itself after a call, and when. */
  const wrong: { readonly at: number; readonly says: string }[] = [];
  let isPressed = false;
  const show = (name: string, ts: string): void => {
    const slot = slots().find((each) => each.slot === name);
    if (slot === undefined) return;
    const edited = rows.has(name) ? performance.now() : null;
    rows.set(name, {
      slot: name,
      channel: 'C1',
      ts,
      sentHash: hashOf(slot),
      postingForMs: null,
      editedMsAgo: null,
      editedAt: edited,
    });
    shown.set(name, slot);
  };
  const look = (): void => {
    const said = contradictions(
      [...shown.values()]
        .filter(({ slot }) => !beside.has(slot))
        .map(({ slot, strip, blocks }) => ({ slot, strip: strip?.text ?? '', blocks })),
    );
    if (said.length === 0) wrong.length = 0;
    for (const says of said) wrong.push({ at: performance.now(), says });
  };
  const pace = { claim: async () => true, block: async () => undefined };
  const edits = { ...pace };
  let mayEdit = true;
  const deps = {
    client: {
      chat: {
        postMessage: async () => ({ channel: 'C1', ts: '1', message: { thread_ts: '1' } }),
        update: async () => undefined,
      },
    },
    store: {
      mark: async () => 'mark',
      posts: async () =>
        new Map(
          [...rows].map(([name, row]) => [
            name,
            { ...row, editedMsAgo: row.editedAt === null ? null : performance.now() - row.editedAt },
          ]),
        ),
      beginPost: async () => 'attempt',
      renew: async () => true,
      beginEdit: async () => true,
      posted: async (_: string, slot: string) => (show(slot, '1'), look(), true),
      edited: async (_: string, slot: string) => (show(slot, '1'), look()),
    },
    log: quiet,
    paces: { posts: () => pace, edits, editGapMs: 3_000 },
    drawing: async () => ({ slots: slots(), channel: 'C1' }),
    extras: () => [],
    order: {
      take: async (_: string, paid: object) =>
        paid === edits && !mayEdit ? { kind: 'later', ms: 1_000 } : { kind: 'go' },
      leave: () => undefined,
      served: () => undefined,
    },
    rankOf: () => 0,
    isPressed: () => isPressed,
    changedAgain: () => false,
    lastSent: new Map(),
    delivered: () => undefined,
  } as unknown as DrawDeps;
  return {
    press: () => void (isPressed = true),
    /** Whether Slack takes edits. */
    edits: (may: boolean) => void (mayEdit = may),
    /** Which messages stand, and what the root's strip says. */
    names: () => [...shown.keys()],
    strip: () => shown.get('root')?.strip?.text ?? '',
    /** The writer has so long until the record changes. Answers what stood in contradiction while time went by. */
    async drawFor(ms: number): Promise<readonly string[]> {
      const end = performance.now() + ms;
      const stood: string[] = [];
      for (;;) {
        const drawn = await drawSubject(deps, INCIDENT);
        if (drawn.kind === 'drawn') isPressed = false;
        const wait = drawn.kind === 'again' ? Math.max(1, Math.ceil(drawn.ms)) : Number.POSITIVE_INFINITY;
        const step = Math.min(wait, end - performance.now());
        if (step > 0) stood.push(...wrong.map(({ says }) => says));
        vi.advanceTimersByTime(Math.max(0, step));
        if (performance.now() >= end) return stood;
      }
    },
  };
}

describe('the root and what stands below it', () => {
  it.each(recordedIncidents)('$name: never say different things while time goes by', async (recorded) => {
    const drawn = recorded.events.map((_, at) => draw(recordAt(recorded, at + 1), options));
    // An undo and a lasting fix are asked for whatever the incident itself does.
    const beside = new Set(
      recorded.actions?.filter((action) => action.beside).map(({ planId }) => `action:${planId}`),
    );
    for (let seed = 1; seed <= 5; seed += 1) {
      const random = randomOf(seed * 7_919);
      let length = 1;
      const view = thread(() => drawn[length - 1] ?? [], beside);
      for (; length <= recorded.events.length; length += 1) {
        if (!isSeen(recorded, length)) continue;
        const event = recorded.events[length - 1];
        if (event?.type === 'action.approved' || event?.type === 'action.denied') view.press();
        expect(await view.drawFor(Math.floor(random() * 5_000) + 1), `${seed}: after ${event?.type}`).toEqual(
          [],
        );
      }
    }
  });

  it('a card comes while Slack takes no edit, and the root agrees once it takes one', async () => {
    const recorded = recordedIncidents.find(
      ({ name }) => name === 'one repair, approved and fixed',
    ) as Recorded;
    const asked = recorded.events.findIndex(({ type }) => type === 'action.proposed');
    let length = asked;
    const view = thread(() => draw(recordAt(recorded, length), options), new Set());
    await view.drawFor(5_000);
    view.edits(false);
    length = asked + 2;
    await view.drawFor(10);
    expect(view.names().filter((name) => name.startsWith('action:'))).toHaveLength(1);
    expect(view.strip()).not.toContain('Waiting for approval');
    view.edits(true);
    await view.drawFor(1_000);
    expect(view.strip()).toContain('Waiting for approval');
  });
});
