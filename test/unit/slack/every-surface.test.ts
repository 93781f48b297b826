import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LIMITS } from '../../../playground/slack/limits.ts';
import { textLength } from '../../../playground/slack/validate/blocks.ts';
import { acceptBlocks, checkBlocks } from '../../../playground/slack/validate/payload.ts';
import { acceptView } from '../../../playground/slack/validate/view.ts';
import { asIncidentId } from '../../../src/core/ids.ts';
import type { MemoryDocument } from '../../../src/memory/documents/document.ts';
import type { Review } from '../../../src/memory/promotion/promotions.ts';
import { layerNames } from '../../../src/safety/layers.ts';
import { messageOf } from '../../../src/slack/outbound/message.ts';
import { samplePayloads } from '../../../src/slack/outbound/sample-payloads.ts';
import { drawForgottenCard, drawPromotionCard } from '../../../src/slack/views/blocks/promotion-card.ts';
import type { Slot } from '../../../src/slack/views/blocks/slot.ts';
import { storyBlocks } from '../../../src/slack/views/blocks/story.ts';
import { digView } from '../../../src/slack/views/dig-deeper.ts';
import { decidedLine, waitingLine } from '../../../src/slack/views/draw-approvals.ts';
import { burstSlot } from '../../../src/slack/views/draw-burst.ts';
import { begunSlot, endedSlot } from '../../../src/slack/views/draw-mute.ts';
import { closedHome, homeView } from '../../../src/slack/views/home.ts';
import type { HomeFacts } from '../../../src/slack/views/home-facts.ts';
import {
  gapsView,
  incidentsView,
  layersView,
  memoryView,
  reportView,
  rolesView,
  toolsView,
  watchedView,
} from '../../../src/slack/views/home-windows.ts';
import { anAction, anIncident, INCIDENT } from '../../support/incident-record.ts';

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
    waitingLine({ id: INCIDENT }, anAction({ target: text, command: text, objects: [] }), [], null),
    decidedLine(
      { id: INCIDENT },
      anAction(),
      text.slice(0, 200),
      ` · approved by ${text.slice(0, 100)}`,
      null,
    ),
    drawPromotionCard(review, { threadUrl: () => null, admins: text.slice(0, 300) }),
    drawForgottenCard(),
  ];
}

function homesOf(text: string, many: number): readonly unknown[] {
  const lines = Array.from({ length: many }, () => text);
  // Written by us and by the configuration: no more of it than there is.
  const ours = lines.slice(0, 12);
  const incidents = lines.map((title) => anIncident({ title, cause: title, nextStep: title, target: title }));
  const action = anAction({ target: text, command: text, objects: [] });
  const facts: HomeFacts = {
    isAdmin: true,
    isStopped: many % 2 === 0,
    state: ours,
    cost: { says: text, days: ours.map((_, n) => (n % 3 === 0 ? null : n)) },
    onCall: null,
    targets: lines.map((name, n) => ({
      name,
      state: n % 2 === 0 ? 'away' : 'answers',
      at: n % 3 === 0 ? null : AT,
    })),
    gaps: gapsOf(text, many),
    approvals: lines.map(() => ({ action, steps: [action] })),
    holders: new Map(),
    layers: layersOf(text),
  };
  const parts = {
    status: ours,
    open: incidents,
    facts,
    onCall: text,
    promotions: { waiting: many, channel: text },
    holderOf: () => text,
    urlOf: () => 'https://example.slack.com/x',
    cardOf: () => 'https://example.slack.com/x',
    at: AT,
  };
  return [homeView(parts), closedHome(text)];
}

const layersOf = (says: string) =>
  layerNames.map((name, at) => ({ number: at + 1, name, state: 'on' as const, says }));

const gapsOf = (text: string, many: number) =>
  Array.from({ length: many }, (_, n) => ({
    target: text,
    reason: text,
    incidents: n,
    of: many,
    who: text,
    what: text,
    exact: n % 2 === 0 ? text : null,
    note: n % 3 === 0 ? text : null,
  }));

/** What the buttons of Home open. */
function homeWindowsOf(text: string, many: number): readonly unknown[] {
  const lines = Array.from({ length: many }, () => text);
  const incidents = lines.map((title) => anIncident({ title, target: title })).slice(0, 12);
  const tools = [{ domain: text, tools: lines.map((name) => ({ name, kind: 'read' as const, says: text })) }];
  const documents = lines.map((title) => ({ title, updatedAt: AT }) as MemoryDocument);
  const tried = {
    incidents: many,
    total: many,
    succeeded: 0,
    failed: 0,
    words: lines.map((word) => [word, 1] as const),
  };
  const logs = lines.map((log) => ({
    target: log,
    log,
    state: 'stopped' as const,
    lines: 1,
    matched: 1,
    cut: 1,
    lineRate: 1,
    matchRate: 1,
    problem: text,
    note: text,
    notedAt: AT,
    stoppedBy: text,
    stoppedAt: AT,
  }));
  return [
    layersView(layersOf(text), true),
    rolesView(lines, tools),
    toolsView(tools),
    memoryView(tried, documents),
    watchedView(logs, true, text),
    gapsView(gapsOf(text, many)),
    incidentsView('open', { incidents, next: 'INC-1' }, () => null),
    reportView(lines.map((_, n) => `target-${n}`)),
  ];
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

it('App Home with its windows, and the window before a deeper look, are shown whatever the text', () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 0, max: 60 }), (text, many) => {
      for (const home of homesOf(text, many)) expect(() => acceptView(home, 'home')).not.toThrow();
      for (const window of homeWindowsOf(text, many)) expect(() => acceptView(window, 'modal')).not.toThrow();
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
