import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Action } from '../../../src/core/action.ts';
import { drawActionCard } from '../../../src/slack/views/blocks/action-card.ts';
import type { Block } from '../../../src/slack/views/blocks/build.ts';
import { paragraph, prose, words } from '../../../src/slack/views/blocks/build.ts';
import { folded } from '../../../src/slack/views/blocks/container-block.ts';
import { anAction, aRecord, eventsOf } from '../../support/incident-record.ts';

/** What is read without pressing anything: neither what is folded, nor behind three dots, nor what a button asks once more. */
function visible(blocks: readonly Block[]): string {
  const found: string[] = [];
  const walk = (node: unknown): void => {
    if (Array.isArray(node)) node.forEach(walk);
    else if (typeof node === 'object' && node !== null)
      for (const [key, value] of Object.entries(node))
        if ((key === 'text' || key === 'fallback') && typeof value === 'string') found.push(value);
        else if (key !== 'confirm' && key !== 'child_blocks' && key !== 'options') walk(value);
  };
  walk(blocks);
  return found.join('');
}

const card = (changes: Partial<Action>) => {
  const action = anAction(changes);
  return drawActionCard(aRecord({ actions: [action], events: eventsOf() }), action, {
    threadUrl: () => null,
    approvers: 'the group @oncall and many others '.repeat(9),
  });
};

const hostile = fc.oneof(
  fc.string({ maxLength: 80 }),
  fc.string({ unit: 'grapheme', minLength: 300, maxLength: 2_000 }),
  fc.constantFrom('```'.repeat(300), '<!channel> '.repeat(100), '\n'.repeat(500), '&'.repeat(2_000)),
);
const texts = fc.record({
  blastRadius: hostile,
  undo: hostile,
  why: hostile,
  target: fc.constantFrom('shop-db', 'a-rather-long-name-of-a-target-'.repeat(9)),
  preflight: fc.array(hostile, { maxLength: 8 }),
});

describe('the card on a phone', () => {
  it('is read in 450 characters while it asks, whatever its texts', () => {
    fc.assert(
      fc.property(texts, fc.constantFrom('low' as const, 'medium' as const), (changes, risk) => {
        expect(visible(card({ ...changes, risk }).blocks).length).toBeLessThanOrEqual(450);
      }),
    );
  });

  it('says openly that the same did not help the last time, once', () => {
    const preflight = ['Tried before: it did not help in INC-3.', 'pid 7 is idle'];
    const { blocks } = card({ preflight });
    expect(visible(blocks)).toContain('Tried before: it did not help in INC-3.');
    const all = JSON.stringify(blocks);
    expect(all.split('it did not help in INC-3').length).toBe(2);
    expect(all).toContain('pid 7 is idle');
    expect(JSON.stringify(card({ preflight: preflight.slice(0, 1) }).blocks)).not.toContain(
      'Seen just before',
    );
  });

  it('adds no more than 300 characters of the command and a line to what is dangerous', () => {
    fc.assert(
      fc.property(texts, hostile, (changes, command) => {
        const open = visible(card({ ...changes, command, risk: 'high' }).blocks);
        const shut = visible(card({ ...changes, command, risk: 'low' }).blocks);
        // Slack shows an escaped character as one.
        const seen = open.replace(/&(amp|lt|gt);/g, '.');
        expect(seen.length - shut.replace(/&(amp|lt|gt);/g, '.').length).toBeLessThanOrEqual(400);
      }),
    );
  });

  it('is read in a few lines when it is over, however much it says', () => {
    fc.assert(
      fc.property(
        hostile,
        fc.constantFrom('failed' as const, 'expired' as const, 'void' as const),
        (outcome, state) => {
          const { blocks } = card({ state, outcome, decidedBy: null });
          const lines = visible(blocks.filter(({ type }) => type !== 'actions'));
          expect(lines.length).toBeLessThanOrEqual(330);
        },
      ),
    );
  });
});

describe('a container', () => {
  it('holds at most ten blocks of the kinds that Slack takes, in order, and loses none', () => {
    fc.assert(
      fc.property(fc.array(hostile, { minLength: 1, maxLength: 35 }), hostile, (all, title) => {
        const blocks = all.map((text, at) => prose(paragraph(words(`${at} ${text}`))));
        const made = folded(title, blocks);
        const kept = made.flatMap((each) => (each.type === 'container' ? each.child_blocks : []));
        expect(kept).toEqual(blocks);
        for (const each of made) {
          if (each.type !== 'container') throw new Error(`${each.type} stands open`);
          expect(each.child_blocks.length).toBeLessThanOrEqual(10);
          expect(each.title?.text.length).toBeLessThanOrEqual(150);
        }
      }),
    );
  });
});
