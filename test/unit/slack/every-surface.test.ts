import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LIMITS } from '../../../playground/slack/limits.ts';
import { textLength } from '../../../playground/slack/validate/blocks.ts';
import { acceptBlocks, checkBlocks } from '../../../playground/slack/validate/payload.ts';
import { acceptView } from '../../../playground/slack/validate/view.ts';
import { asIncidentId } from '../../../src/core/ids.ts';
import type { MemorySummary } from '../../../src/memory/documents/summary.ts';
import type { Review } from '../../../src/memory/promotion/promotions.ts';
import { layerNames } from '../../../src/safety/layers.ts';
import { messageOf } from '../../../src/slack/outbound/message.ts';
import { samplePayloads } from '../../../src/slack/outbound/sample-payloads.ts';
import { drawForgottenCard, drawPromotionCard } from '../../../src/slack/views/blocks/promotion-card.ts';
import type { Slot } from '../../../src/slack/views/blocks/slot.ts';
import { storyBlocks } from '../../../src/slack/views/blocks/story.ts';
import { digView } from '../../../src/slack/views/dig-deeper.ts';
import { burstSlot } from '../../../src/slack/views/draw-burst.ts';
import { begunSlot, endedSlot } from '../../../src/slack/views/draw-mute.ts';
import { closedHome, homeView } from '../../../src/slack/views/home.ts';
import { anIncident, INCIDENT } from '../../support/incident-record.ts';

const AT = '2026-01-01T00:00:00.000Z';
const texts = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '<!channel> <@U0ADMIN>',
    '<https://evil.example|Approve>',
    '```',
    '\u202Ex',
    '\u0000',
  ),
  fc.string({ unit: 'binary', maxLength: 4000 }),
  fc
    .tuple(
      fc.constantFrom('x', ' ', '\n', '"', '漢', '😀', '<!here> ', '&amp;'),
      fc.integer({ min: 1, max: 9000 }),
    )
    .map(([text, times]) => text.repeat(times).slice(0, 9000)),
);

/** The messages that are of no incident's thread: digests, mutes, promotions, and answers. */
function slotsOf(text: string, many: number): readonly Slot[] {
  const mute = {
    id: text,
    matcher: text,
    by: text,
    reason: text,
    begunAt: AT,
    until: AT,
    endedBy: text,
    closedAt: AT,
    alerts: many,
    incidents: many,
    firing: many,
  };
  const worst = Array.from({ length: 20 }, (_, n) => ({
    id: asIncidentId(`INC-${n}`),
    title: text,
    members: many,
    severity: 'critical',
    channel: n % 2 === 0 ? 'C0' : null,
    ts: '1.0',
  }));
  const burst = { problems: many, bySeverity: [{ severity: text, problems: many }], from: AT, to: AT, worst };
  const review = {
    promotion: {
      jobId: `dream_${'a'.repeat(32)}`,
      state: many % 2 === 0 ? 'pending' : 'rejected',
      incidentId: INCIDENT,
      domain: 'postgres',
      rationale: text,
      proposedBy: text.slice(0, 100),
      proposedAt: AT,
      decidedBy: text.slice(0, 100),
      decidedAt: AT,
      reason: text,
      title: text,
      docType: 'note',
      content: text.repeat(3),
      sha256: 'b'.repeat(64),
      sources: [],
      system: null,
      target: { store: 'workspace_runbooks', path: text.slice(0, 200) },
      current:
        many % 3 === 0
          ? {
              content: text.toUpperCase(),
              number: 1,
              version: 1,
              sha256: 'c',
              title: text,
              writer: text,
              at: AT,
            }
          : null,
      currentSha256AtProposal: 'c'.repeat(64),
      result: null,
      edited: false,
    },
    findings: Array.from({ length: many }, () => ({ rule: text, category: text })),
    suspicious: true,
    runbook: { kind: 'prose' },
    dryRun: null,
    mayApprove: true,
  } as unknown as Review;
  return [
    burstSlot(burst, () => 'https://example.slack.com/x'),
    begunSlot(mute, text),
    endedSlot(mute, text),
    drawPromotionCard(review, { threadUrl: () => null, admins: text.slice(0, 300) }),
    drawForgottenCard(),
  ];
}

function homesOf(text: string, many: number): readonly unknown[] {
  const lines = Array.from({ length: many }, () => text);
  // Written by us and by the configuration: short, and no more of it than there is.
  const ours = lines.slice(0, 12).map((line) => line.slice(0, 200));
  const incidents = lines.map((title) => anIncident({ title, cause: title, nextStep: title, target: title }));
  const parts = {
    status: ours,
    open: incidents,
    resolved: incidents,
    facts: {
      isAdmin: true,
      state: ours,
      cost: ours,
      layers: layerNames.map((name, at) => ({
        number: at + 1,
        name,
        state: 'on' as const,
        says: text.slice(0, 200),
      })),
      access: ours,
      tools: ours.map((domain) => ({ domain, reading: many, changing: ours })),
    },
    memory: {
      episodes: { total: 3, succeeded: 2, failed: 1, unknown: 0, archived: 0 },
      documents: ours.map(() => ({ scope: 'user', trust: 'user_authored', count: many })),
      versions: many,
      proposalsWaiting: many,
      systems: [],
      outbox: many,
    } as unknown as MemorySummary,
    adminChannel: text,
    urlOf: () => 'https://example.slack.com/x',
  };
  return [homeView(parts), closedHome(text)];
}

it('every message that is of no incident’s thread is within Slack’s limits, whatever the text', () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 0, max: 60 }), (text, many) => {
      for (const slot of slotsOf(text, many)) {
        const { blocks, text: fallback } = messageOf(INCIDENT, slot);
        expect(checkBlocks(blocks, 'message', slot.slot, 50)).toEqual([]);
        expect(textLength(blocks), slot.slot).toBeLessThanOrEqual(LIMITS.message.blockText);
        expect(fallback.trim()).not.toBe('');
        expect(fallback).not.toMatch(/[<>]/);
      }
      expect(checkBlocks(storyBlocks(text), 'message', 'an answer', 50)).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

it('App Home, and the window before a deeper look, are shown whatever the text', () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 0, max: 60 }), (text, many) => {
      for (const home of homesOf(text, many)) expect(() => acceptView(home, 'home')).not.toThrow();
    }),
    { numRuns: 40 },
  );
  const where = { incidentId: INCIDENT, channel: 'C0ALERTS', threadTs: '1.0' };
  const dig = digView(where, { ok: true, usualUsd: null, atMostUsd: 1e9 });
  expect(() => acceptView(dig, 'modal')).not.toThrow();
});

it('what the doctor has Slack check is what passes here, simpler forms included', () => {
  for (const payload of samplePayloads()) {
    if ('view' in payload) {
      const { view } = payload;
      expect(() => acceptView(view, view.type as 'modal' | 'home'), payload.name).not.toThrow();
    } else {
      expect(() => acceptBlocks(payload.message.blocks), payload.name).not.toThrow();
      if (payload.simpler) expect(checkBlocks(payload.simpler, 'message', payload.name, 50)).toEqual([]);
    }
  }
});
