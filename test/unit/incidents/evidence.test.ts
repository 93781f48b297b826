import { describe, expect, it } from 'vitest';
import type { Evidence } from '../../../src/core/diagnosis.ts';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import { asIncidentId, asToolCallId } from '../../../src/core/ids.ts';
import type { ToolCall } from '../../../src/core/tool-call.ts';
import { checkEvidence } from '../../../src/incidents/claims/evidence.ts';
import { aDiagnosis, anIncident, aToolCall, CALL, eventsOf } from '../../support/incident-record.ts';

const OPENED: IncidentEventBody = { type: 'incident.opened', source: 'alertmanager', title: 'blocked' };
const LOOKING: IncidentEventBody = { type: 'state.changed', from: 'triaging', to: 'diagnosing', reason: '' };
const AGAIN: IncidentEventBody = { type: 'state.changed', from: 'verifying', to: 'diagnosing', reason: '' };
const called = (id = CALL): IncidentEventBody => ({
  type: 'tool.called',
  toolCallId: id,
  role: 'detective',
  tool: 'pg_blocking_tree',
  purpose: null,
  state: 'ok',
  summary: '',
});

const claim = (changes: Partial<Evidence> = {}): Evidence => ({
  claim: 'pid 4242 blocks 4243',
  toolCallIds: [CALL],
  quote: 'pid 4242 blocks',
  ...changes,
});

/** One call, `pid 4242 blocks 4243, 4244`, made after the alert. */
function check(
  evidence: readonly Evidence[],
  given: {
    readonly calls?: readonly ToolCall[];
    readonly events?: readonly IncidentEventBody[];
    readonly verdict?: 'cause_found' | 'healthy' | 'cannot_tell';
    readonly confidence?: number;
  } = {},
) {
  const { calls = [aToolCall()], events = [OPENED, LOOKING, called()] } = given;
  const { verdict = 'cause_found', confidence = 0.99 } = given;
  return checkEvidence(aDiagnosis({ evidence, verdict, confidence }), {
    incident: anIncident(),
    events: eventsOf(...events),
    toolCalls: calls,
  });
}

describe('a claim', () => {
  it('stands when the quote stands in what it cites, however the lines are wrapped', () => {
    const result = check([claim({ quote: 'pid 4242\n   blocks 4243,' })]);
    expect(result).toMatchObject({ live: true, isUnproven: false, dropped: [] });
    expect(result.diagnosis).toMatchObject({ verdict: 'cause_found', confidence: 0.99 });
  });

  it.each<[string, Evidence, readonly ToolCall[] | undefined, RegExp]>([
    [
      'cites what never happened',
      claim({ toolCallIds: [asToolCallId('tc_made_up')] }),
      undefined,
      /never happened/,
    ],
    [
      'cites one that happened and one that did not',
      claim({ toolCallIds: [CALL, asToolCallId('tc_made_up')] }),
      undefined,
      /never happened/,
    ],
    [
      'cites a call of another incident',
      claim(),
      [aToolCall({ incidentId: asIncidentId('INC-8') })],
      /another incident/,
    ],
    ['cites a call that failed', claim(), [aToolCall({ state: 'failed' })], /did not succeed/],
    ['cites a call that was refused', claim(), [aToolCall({ state: 'refused' })], /did not succeed/],
    ['quotes what is not there', claim({ quote: 'pid 9999 blocks' }), undefined, /does not stand/],
    ['quotes next to nothing', claim({ quote: ' 4 ' }), undefined, /too little/],
    [
      'quotes nothing and names nothing',
      claim({ quote: null, claim: 'It is blocked.' }),
      undefined,
      /quotes nothing/,
    ],
    [
      'quotes nothing and names what is not there',
      claim({ quote: null, claim: 'pid 9999' }),
      undefined,
      /quotes nothing/,
    ],
    [
      'cites nothing, and its quote stands nowhere',
      claim({ toolCallIds: [], quote: 'pid 9999 blocks' }),
      undefined,
      /stands in none/,
    ],
    [
      'cites nothing and quotes hardly anything',
      claim({ toolCallIds: [], quote: 'pid' }),
      undefined,
      /cites no/,
    ],
  ])('is dropped when it %s', (_, evidence, calls, reason) => {
    const result = check([evidence], calls === undefined ? {} : { calls });
    expect(result.dropped).toEqual([{ claim: evidence.claim, reason: expect.stringMatching(reason) }]);
    expect(result).toMatchObject({ live: false, isUnproven: true });
    expect(result.diagnosis).toMatchObject({ verdict: 'cannot_tell', confidence: 0.5, evidence: [] });
    expect(result.diagnosis.rootCause).toMatch(/^Unproven: /);
  });

  it('that only memory carries is dropped, also where that was read again from the evidence', () => {
    const told = 'INC-3: pid 4242 blocks 4243. Cause: the report job.';
    const memory = aToolCall({
      id: asToolCallId('tc_memory'),
      tool: 'memory_search',
      target: null,
      output: told,
    });
    const again = aToolCall({
      id: asToolCallId('tc_again'),
      tool: 'evidence_read',
      target: null,
      output: told,
      result: { sources: ['tc_memory'] },
    });
    const calls = [aToolCall(), memory, again];
    const past = { claim: 'The report job is the cause.', quote: 'Cause: the report job.' };
    const cites = (...ids: string[]) => claim({ ...past, toolCallIds: ids.map(asToolCallId) });
    const result = check(
      [claim(), cites('tc_memory'), cites('tc_again'), cites(CALL, 'tc_memory'), cites()],
      {
        calls,
      },
    );
    expect(result.diagnosis.evidence).toMatchObject([{ toolCallIds: [CALL] }]);
    expect(result.dropped.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/memory alone/),
      expect.stringMatching(/memory alone/),
      expect.stringMatching(/does not stand/),
      expect.stringMatching(/stands in none/),
    ]);
  });

  it('that only memory carries is dropped however often it was read again, and beside live reads', () => {
    const told = 'INC-3: pid 4242 blocks 4243. Cause: the report job.';
    const reread = (id: string, tool: string, ...sources: string[]) =>
      aToolCall({ id: asToolCallId(id), tool, target: null, output: `1: x\n${told}`, result: { sources } });
    const calls = [
      aToolCall(),
      aToolCall({ id: asToolCallId('tc_memory'), tool: 'memory_search', target: null, output: told }),
      reread('tc_once', 'evidence_read', 'tc_memory'),
      reread('tc_twice', 'evidence_read', 'tc_once'),
      reread('tc_thrice', 'evidence_read', 'tc_twice'),
      reread('tc_mixed', 'evidence_grep', CALL, 'tc_memory'),
      reread('tc_of_mixed', 'evidence_read', 'tc_mixed'),
      reread('tc_round', 'evidence_read', 'tc_about'),
      reread('tc_about', 'evidence_read', 'tc_round'),
    ];
    const past = { claim: 'The report job is the cause.', quote: 'Cause: the report job.' };
    const again = calls.slice(2).map(({ id }) => id);
    const result = check(
      [
        claim(),
        ...again.map((id) => claim({ ...past, toolCallIds: [id] })),
        claim({ ...past, toolCallIds: [] }),
      ],
      { calls },
    );
    expect(result.dropped.map(({ reason }) => reason)).toEqual([
      ...Array.from({ length: 3 }, () => expect.stringMatching(/memory alone/)),
      ...Array.from({ length: 2 }, () => expect.stringMatching(/does not stand/)),
      ...Array.from({ length: 2 }, () => expect.stringMatching(/did not succeed/)),
      expect.stringMatching(/stands in none/),
    ]);
    expect(result.diagnosis.evidence).toMatchObject([{ toolCallIds: [CALL] }]);
  });

  it('stands on what the target showed, also where that was read again twice or found beside memory', () => {
    const output = 'pid 4242 blocks 4243, 4244';
    const reread = (id: string, ...sources: string[]) =>
      aToolCall({ id: asToolCallId(id), tool: 'evidence_read', target: null, output, result: { sources } });
    const calls = [
      aToolCall(),
      aToolCall({ id: asToolCallId('tc_memory'), tool: 'memory_search', target: null, output }),
      reread('tc_once', CALL),
      reread('tc_twice', 'tc_once'),
      reread('tc_mixed', 'tc_memory', 'tc_twice'),
    ];
    for (const id of ['tc_twice', 'tc_mixed']) {
      const result = check([claim({ toolCallIds: [asToolCallId(id)] })], { calls });
      expect(result, id).toMatchObject({ live: true, dropped: [] });
    }
  });

  it('falls where what it cites shows again what failed', () => {
    const failed = aToolCall({ id: asToolCallId('tc_failed'), state: 'failed', code: 'TIMEOUT' });
    const again = aToolCall({
      id: asToolCallId('tc_again'),
      tool: 'evidence_read',
      result: { sources: ['tc_failed'] },
    });
    expect(check([claim({ toolCallIds: [again.id] })], { calls: [failed, again] }).dropped).toMatchObject([
      { reason: expect.stringMatching(/did not succeed/) },
    ]);
  });

  it('of memory rules no explanation in', () => {
    const memory = aToolCall({ id: asToolCallId('tc_memory'), tool: 'memory_read', target: null });
    const cause = 'pid 4242 blocks 4243';
    const hypotheses = [
      { cause, forIds: [memory.id], againstIds: [], end: 'ruled_in' },
      { cause: 'A backup runs.', forIds: [], againstIds: [memory.id], end: 'ruled_out' },
    ] as const;
    const { diagnosis } = checkEvidence(aDiagnosis({ evidence: [claim()], hypotheses }), {
      incident: anIncident(),
      events: eventsOf(OPENED, LOOKING, called()),
      toolCalls: [aToolCall(), memory],
    });
    expect(diagnosis.hypotheses).toMatchObject([
      { forIds: [], end: 'open' },
      { againstIds: [], end: 'open' },
    ]);
  });

  it('without a quote stands on the numbers it names, and the line that has them is shown as its quote', () => {
    const result = check([claim({ quote: null, claim: 'Session 4242 holds up 4243 and 4244.' })]);
    expect(result.diagnosis.evidence).toMatchObject([{ quote: 'pid 4242 blocks 4243, 4244' }]);
    expect(result.live).toBe(true);
  });

  it('that cites nothing stands on the calls of this incident that contain its quote', () => {
    const result = check([claim({ toolCallIds: [] })]);
    expect(result.diagnosis.evidence).toMatchObject([{ toolCallIds: [CALL] }]);
  });

  it('that falls takes its share of the confidence with it', () => {
    const good = claim();
    const bad = claim({ quote: 'pid 9999 blocks' });
    expect(check([good, bad]).diagnosis.confidence).toBe(0.5);
    expect(check([good, good, good, bad]).diagnosis.confidence).toBe(0.74);
    expect(check([good, bad]).diagnosis.verdict).toBe('cause_found');
  });
});

describe('a cause', () => {
  it('of 0.99 with no evidence at all is worth what memory is, and is no cause', () => {
    const result = check([]);
    expect(result).toMatchObject({ live: false, isUnproven: true, dropped: [] });
    expect(result.diagnosis).toMatchObject({ verdict: 'cannot_tell', confidence: 0.5 });
    expect(result.diagnosis.unknown.at(-1)).toContain('No claim stands');
  });

  it.each<[string, readonly IncidentEventBody[]]>([
    ['before the alert', [called(), OPENED, LOOKING]],
    ['before the last fix was tried', [OPENED, LOOKING, called(), AGAIN]],
    ['never on record', [OPENED, LOOKING]],
  ])('does not rest on a call made %s', (_, events) => {
    expect(check([claim()], { events })).toMatchObject({
      live: false,
      isUnproven: true,
      diagnosis: { verdict: 'cannot_tell', confidence: 0.5 },
    });
  });

  it('rests on calls made before a person stopped and resumed it', () => {
    const resumed: IncidentEventBody = {
      type: 'state.changed',
      from: 'stopped',
      to: 'diagnosing',
      reason: '',
    };
    expect(check([claim()], { events: [OPENED, LOOKING, called(), resumed] }).live).toBe(true);
  });

  it('does not rest on a call that read no target', () => {
    expect(check([claim()], { calls: [aToolCall({ target: null })] }).live).toBe(false);
  });

  it('of nonsense confidence is none', () => {
    expect(check([claim()], { confidence: Number.NaN }).diagnosis.confidence).toBe(0);
    expect(check([claim()], { confidence: 97 }).diagnosis.confidence).toBe(1);
  });
});

it('a healthy system has to be shown too, and not being able to tell needs no proof', () => {
  expect(check([], { verdict: 'healthy' }).diagnosis.verdict).toBe('cannot_tell');
  expect(check([claim()], { verdict: 'healthy' }).diagnosis.verdict).toBe('healthy');
  expect(check([], { verdict: 'cannot_tell', confidence: 0.2 })).toMatchObject({
    isUnproven: false,
    diagnosis: { verdict: 'cannot_tell', confidence: 0.2 },
  });
});

describe('a claim on what an evidence tool has shown again', () => {
  const AGAIN_ID = asToolCallId('tc_again0000000');
  const again = (changes: Partial<ToolCall> = {}) =>
    aToolCall({
      id: AGAIN_ID,
      tool: 'evidence_grep',
      target: null,
      output: '1: pid 4242 blocks 4243',
      result: { sources: [CALL], hits: 1 },
      ...changes,
    });

  it('stands on the call that showed it first, which is live', () => {
    const result = check([claim({ toolCallIds: [AGAIN_ID] })], { calls: [aToolCall(), again()] });
    expect(result).toMatchObject({ live: true, dropped: [] });
    expect(result.diagnosis.evidence[0]?.toolCallIds).toContain(CALL);
  });

  it('is not live when that call was of an earlier round, or names no call of this incident', () => {
    const calls = [aToolCall(), again()];
    const earlier = check([claim({ toolCallIds: [AGAIN_ID] })], { calls, events: [OPENED, called(), AGAIN] });
    expect(earlier.live).toBe(false);
    const none = check([claim({ toolCallIds: [AGAIN_ID] })], {
      calls: [again({ result: { sources: ['tc_elsewhere'] } })],
    });
    expect(none.live).toBe(false);
  });
});
