import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asIncidentId } from '../../../src/core/ids.ts';
import type { Promotion } from '../../../src/memory/promotion/ports.ts';
import type { Review } from '../../../src/memory/promotion/promotions.ts';
import { diffLines } from '../../../src/slack/views/blocks/diff.ts';
import { LIMITS } from '../../../src/slack/views/blocks/limits.ts';
import { drawPromotionCard, MEMORY_ACTIONS } from '../../../src/slack/views/blocks/promotion-card.ts';
import { longField, readLongField } from '../../../src/slack/views/form.ts';

const proposal = (change: Partial<Promotion> = {}): Promotion => ({
  jobId: `dream_${'a'.repeat(32)}`,
  state: 'pending',
  incidentId: asIncidentId('INC-7'),
  domain: 'postgres',
  rationale: 'It helped.',
  proposedBy: 'U0ONCALL',
  proposedAt: '2026-01-01T00:00:00.000Z',
  decidedBy: null,
  decidedAt: null,
  reason: null,
  documentId: 'doc_1',
  version: 1,
  title: 'Lock on orders',
  docType: 'note',
  content: 'One.\nTwo.',
  sha256: 'b'.repeat(64),
  sources: [],
  system: null,
  target: { store: 'workspace_runbooks', path: 'orders/lock' },
  current: null,
  currentSha256AtProposal: null,
  result: null,
  edited: false,
  ...change,
});
const review = (change: Partial<Promotion> = {}, more: Partial<Review> = {}): Review => ({
  promotion: proposal(change),
  findings: [],
  suspicious: false,
  runbook: { kind: 'prose' },
  dryRun: null,
  mayApprove: true,
  ...more,
});
const options = { threadUrl: () => null, admins: 'amara' };
const drawn = (...given: Parameters<typeof review>) =>
  JSON.stringify(drawPromotionCard(review(...given), options).blocks);

describe('a difference', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', '', ' d'), { maxLength: 14 });

  test('has every line that came and every line that went, in order, and no other', () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const found = diffLines(before.join('\n'), after.join('\n'));
        const kept = (mark: string) => found.filter((line) => line.mark === mark).map(({ text }) => text);
        const [came, went] = [kept('+'), kept('-')];
        const counts = (all: readonly string[], word: string) => all.filter((one) => one === word).length;
        // Of each line: what was there, less what went, more what came, is what is there.
        for (const word of new Set([...before, ...after, '']))
          expect(counts(before.join('\n').split('\n'), word) - counts(went, word) + counts(came, word)).toBe(
            counts(after.join('\n').split('\n'), word),
          );
      }),
    );
    expect(diffLines('same\ntext', 'same\ntext')).toEqual([]);
  });

  test('shows two lines around a change and says that others are left out', () => {
    const before = Array.from({ length: 20 }, (_, n) => `line ${n}`);
    const after = before.with(10, 'changed');
    expect(diffLines(before.join('\n'), after.join('\n')).map(({ mark, text }) => mark + text)).toEqual([
      '…',
      ' line 8',
      ' line 9',
      '-line 10',
      '+changed',
      ' line 11',
      ' line 12',
      '…',
    ]);
  });
});

describe('a long text in a window', () => {
  test('comes back as it was when nothing is edited', () => {
    const text = fc.array(fc.string({ maxLength: 900, unit: 'grapheme' }), { maxLength: 12 });
    fc.assert(
      fc.property(text, (parts) => {
        const whole = parts.join('\n');
        const field = longField('text', 'Text', whole);
        const values = Object.fromEntries(
          (field?.blocks ?? []).map((block) => {
            const { block_id: id, element } = block as unknown as {
              block_id: string;
              element: { initial_value?: string };
            };
            return [id, { [id]: { value: element.initial_value ?? null } }];
          }),
        );
        expect(readLongField(values, 'text', field?.glue ?? '')).toBe(whole);
      }),
      { numRuns: 60 },
    );
  });

  test('that no window holds is said to be so', () => {
    expect(longField('text', 'Text', 'x'.repeat(60_000))).toBeNull();
  });
});

describe('the card', () => {
  test('keeps to Slack’s limits whatever the proposal says', () => {
    const long = 'y'.repeat(49_000);
    const lines = Array.from({ length: 400 }, (_, n) => `✗ step ${n}: ${'z'.repeat(400)}`);
    const wide = { title: 't'.repeat(200), rationale: 'r'.repeat(1_000), content: long };
    for (const change of [wide, { ...wide, current: { sha256: 'c'.repeat(64), content: `${long}\nx` } }]) {
      const card = drawPromotionCard(
        review(change, {
          runbook: { kind: 'steps', id: 'i'.repeat(200), steps: 9 },
          dryRun: { sha256: '', at: '', passed: false, target: 'shop-db', lines },
        }),
        options,
      );
      expect(card.blocks.length).toBeLessThanOrEqual(LIMITS.messageBlocks);
      expect(JSON.stringify(card.blocks).length).toBeLessThan(LIMITS.messageText);
      expect(card.text.length).toBeLessThan(LIMITS.fallback);
    }
  });

  test('says what the target ran that it was learnt on, where that is known', () => {
    expect(drawn({ system: { os: 'Debian 12', postgresql: '17.2' } })).toContain(
      'os Debian 12 · postgresql 17.2',
    );
    expect(drawn()).not.toContain('Learnt on');
  });

  test('has *Approve* only while nothing is in its way, and nothing to decide once decided', () => {
    expect(drawn()).toContain(MEMORY_ACTIONS.approve);
    expect(drawn({}, { mayApprove: false, findings: ['injection'] })).not.toContain(
      `"${MEMORY_ACTIONS.approve}"`,
    );
    const suspicious = drawn({}, { suspicious: true });
    expect(suspicious).toContain(MEMORY_ACTIONS.approve);
    expect(suspicious).toContain('read like orders to a model');
    const decided = drawn({ state: 'approved', decidedBy: 'U0ADMIN', edited: true });
    for (const action of [MEMORY_ACTIONS.approve, MEMORY_ACTIONS.edit, MEMORY_ACTIONS.reject])
      expect(decided).not.toContain(`"${action}"`);
    expect(decided).toContain('Approved with edits by');
  });

  test('cannot be made to mention, link or hide anything by what is proposed', () => {
    const hostile = '<!channel> <@U1> <https://evil.example|ok> \u202edetrever';
    const card = drawPromotionCard(review({ title: hostile, rationale: hostile, content: hostile }), options);
    expect(card.text).not.toMatch(/<[!@h]/);
    expect(JSON.stringify(card.blocks)).not.toMatch(/"type":"(?:link|usergroup|broadcast|mrkdwn)"|\u202e/);
    expect(JSON.stringify(card.blocks).match(/"type":"user"/g)).toHaveLength(1);
  });
});
