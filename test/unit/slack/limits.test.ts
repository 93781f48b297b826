import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LIMITS as SLACKS, SOURCES } from '../../../playground/slack/limits.ts';
import { textLength } from '../../../playground/slack/validate/blocks.ts';
import { checkBlocks } from '../../../playground/slack/validate/payload.ts';
import { actionStates, MAX_STEPS } from '../../../src/core/action.ts';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import { asActionId } from '../../../src/core/ids.ts';
import { messageOf } from '../../../src/slack/outbound/message.ts';
import { draw } from '../../../src/slack/views/blocks/draw.ts';
import { LIMITS } from '../../../src/slack/views/blocks/limits.ts';
import { cut, cutStart, pages, printable } from '../../../src/slack/views/blocks/text.ts';
import {
  ACTION,
  aDiagnosis,
  anAction,
  anIncident,
  aRecord,
  eventsOf,
  INCIDENT,
  wholeIncident,
} from '../../support/incident-record.ts';

const wellFormed = (text: string): boolean => Buffer.from(text, 'utf8').toString('utf8') === text;

const ATTACKS = [
  '<!channel> <!here> <@U0ADMIN>',
  '<https://evil.example|Approve>',
  'https://evil.example/x',
  '*bold* _it_ ~no~ `code` ```',
  ':skull: @channel @here',
  '\u202Edlrow',
  '\n\n*Approve*\n',
  '&lt;!channel&gt;',
  '👩‍👩‍👧‍👦',
];
const hostile = fc.oneof(
  fc.constantFrom(...ATTACKS),
  fc.string({ unit: 'binary', maxLength: 6000 }),
  fc
    .tuple(fc.constantFrom(...ATTACKS, 'x', ' ', '\n', '😀'), fc.integer({ min: 1, max: 9000 }))
    .map(([text, times]) => text.repeat(times).slice(0, 20_000)),
);

const recordOf = fc
  .record({
    text: hostile,
    other: hostile,
    many: fc.integer({ min: 0, max: 60 }),
    steps: fc.array(fc.constantFrom(...actionStates), { minLength: 1, maxLength: MAX_STEPS }),
  })
  .map(({ text, other, many, steps }) => {
    const lines = Array.from({ length: many }, () => other);
    const diagnosis = aDiagnosis({
      rootCause: text,
      evidence: lines.map((claim) => ({ claim, toolCallIds: [aRecord().toolCalls[0]!.id], quote: text })),
      ruledOut: lines,
      unknown: lines,
      wouldChangeMyMind: text,
      blastRadius: other,
      remedy: text,
      runbookId: text,
    });
    const plan = steps.map((state, index) =>
      anAction({
        ...(index === 0 ? {} : { id: asActionId(`act_${String(index).repeat(12)}`) }),
        planId: ACTION,
        step: index + 1,
        state,
        target: other,
        command: text,
        why: text,
        blastRadius: other,
        undo: text,
        preflight: lines,
        risk: 'high',
        outcome: text,
        objects: many % 2 === 0 ? [] : [{ kind: 'session', key: text, label: other }],
        verify: {
          steps: lines.map((says) => ({ tool: 'x', input: {}, measure: { name: 'y' }, says })),
          holdMs: 0,
          timeoutMs: 0,
        },
      }),
    );
    const events = wholeIncident.flatMap((event): readonly IncidentEventBody[] => {
      if (event.type === 'diagnosis.concluded') return [{ ...event, diagnosis }];
      if (event.type === 'tool.called')
        return Array.from({ length: many }, () => ({ ...event, purpose: text, summary: other, tool: text }));
      if (event.type === 'verification.checked') return [{ ...event, lines }];
      if (event.type === 'verification.concluded') return [{ ...event, reason: text }];
      if (event.type === 'action.finished') return [{ ...event, text }];
      if (event.type === 'incident.summary')
        return [
          { ...event, text },
          { type: 'incident.escalated' as const, reason: other },
          {
            type: 'person.called' as const,
            level: 2,
            reason: 'unsolved' as const,
            mentions: ['S0ONCALL', text],
            names: [other],
            pagers: [text],
            problem: other,
          },
          { type: 'page.failed' as const, level: 2, pager: text, reason: other },
        ];
      return [event];
    });
    return aRecord({
      incident: anIncident({ title: text, target: other, words: text, cause: other, nextStep: text }),
      events: eventsOf(...events),
      actions: plan,
      alerts: [
        {
          source: 'x',
          status: 'firing',
          title: text,
          labels: {},
          annotations: {},
          startsAt: '',
          receivedAt: '',
          url: text,
          deliveryKey: '',
        },
      ],
    });
  });

const options = {
  threadUrl: () => 'https://example.slack.com/x',
  approvers: 'everybody '.repeat(100),
  oncall: { id: 'S0ONCALL', name: 'oncall' },
};

describe('whatever the text', () => {
  it('every message is within Slack’s limits', () => {
    fc.assert(
      fc.property(recordOf, (record) => {
        for (const slot of draw(record, options)) {
          const message = messageOf(INCIDENT, slot);
          expect(checkBlocks(message.blocks, 'message', slot.slot, 50)).toEqual([]);
          // What is sent where the newer blocks are not known has nothing newer in it, and is within the limits as well.
          expect(checkBlocks(slot.simpler ?? [], 'message', slot.slot, 50)).toEqual([]);
          expect(textLength(message.blocks), slot.slot).toBeLessThanOrEqual(10_000);
          expect(message.text.length).toBeLessThanOrEqual(3000);
          expect(message.text.trim()).not.toBe('');
        }
      }),
      { numRuns: 150 },
    );
  });

  it('nothing of it is markup: in mrkdwn stands only a box that nothing leaves, none mentions or links anything', () => {
    fc.assert(
      fc.property(recordOf, (record) => {
        for (const slot of draw(record, options)) {
          const kinds = JSON.stringify(slot.blocks);
          for (const [, text] of kinds.matchAll(/"type":"mrkdwn","text":("(?:[^"\\]|\\.)*")/g))
            expect(JSON.parse(text ?? '')).toMatch(/^```\n(?:(?!```)[^<>])*\n```$/);
          expect(kinds.split('mrkdwn').length).toBe(kinds.split('"type":"mrkdwn","text":"```').length);
          expect(kinds).not.toContain('"emoji":true');
          const mentions = [...kinds.matchAll(/"type":"(user|usergroup|broadcast|channel)"/g)];
          expect(mentions.length).toBe(slot.slot.startsWith('call:') ? 1 : 0);
          expect(slot.text.replace(/^<!subteam\^S0ONCALL> /, '')).not.toMatch(/[<>]/);
        }
      }),
      { numRuns: 150 },
    );
  });
});

it('the product’s own limits are never above Slack’s, each of which says where it is from', () => {
  const slacks: Readonly<Record<keyof typeof LIMITS, number>> = {
    header: SLACKS.header,
    containerTitle: SLACKS.container.title,
    chartTitle: Math.min(SLACKS.chart.title, SLACKS.chart.axis),
    chartLabel: SLACKS.chart.label,
    chartPoints: SLACKS.chart.points,
    chartSeries: SLACKS.chart.series,
    overflow: SLACKS.overflow,
    optionValue: SLACKS.option.value,
    text: SLACKS.text,
    buttonText: SLACKS.button.text,
    buttonValue: SLACKS.button.value,
    confirmTitle: SLACKS.confirm.title,
    confirmText: SLACKS.confirm.text,
    confirmButton: SLACKS.confirm.button,
    viewTitle: SLACKS.view.title,
    viewBlocks: SLACKS.view.blocks,
    viewBytes: SLACKS.view.bytes,
    // Slack tells none; the local one holds it to this many.
    spans: 1000,
    messageBlocks: SLACKS.message.blocks,
    id: SLACKS.id,
    url: SLACKS.button.url,
    messageText: SLACKS.message.blockText,
    fallback: SLACKS.message.updateText,
  };
  for (const [name, ours] of Object.entries(LIMITS))
    expect(ours, name).toBeLessThanOrEqual(slacks[name as keyof typeof LIMITS]);
  expect(Object.keys(SOURCES)).toEqual(Object.keys(SLACKS));
});

describe('cut', () => {
  it('is never longer than allowed, never splits a character, and keeps what fits', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 400 }),
        fc.integer({ min: 2, max: 200 }),
        (text, max) => {
          for (const result of [cut(text, max), cutStart(text, max)]) {
            expect(result.length).toBeLessThanOrEqual(max);
            expect(wellFormed(result)).toBe(true);
            if (text.length <= max) expect(result).toBe(text);
            else expect(result).toContain('…');
          }
        },
      ),
    );
  });

  it('cuts after a word', () => {
    expect(cut('the lock is held by pid 4242 since ten', 25)).toBe('the lock is held by pid…');
    expect(cutStart('the lock is held by pid 4242 since ten', 25)).toBe('…by pid 4242 since ten');
  });
});

describe('pages', () => {
  it('lose nothing and are never too long', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 3000 }),
        fc.integer({ min: 10, max: 500 }),
        (text, max) => {
          const found = pages(text, max);
          expect(found.join('')).toBe(text);
          expect(found.every((page) => page.length <= max && wellFormed(page))).toBe(true);
        },
      ),
    );
  });
});

it('a command cannot be made to read as another by hidden marks', () => {
  expect(printable('DROP \u202EELBAT\u202C x\u0000')).toBe('DROP ELBAT x');
});
