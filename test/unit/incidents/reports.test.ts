import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Action } from '../../../src/core/action.ts';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import { asToolCallId } from '../../../src/core/ids.ts';
import type { IncidentRecord } from '../../../src/core/incident-record.ts';
import type { Measure } from '../../../src/core/measure.ts';
import type { ToolCall } from '../../../src/core/tool-call.ts';
import type { ReadsRecorded } from '../../../src/incidents/recovery/recovery-series.ts';
import { handoff } from '../../../src/incidents/reports/handoff.ts';
import { postIncidentReport } from '../../../src/incidents/reports/post-incident.ts';
import { reportMarkdown, reportStory } from '../../../src/incidents/reports/report-text.ts';
import { SITREP, sitrep, worstFirst } from '../../../src/incidents/reports/sitrep.ts';
import {
  ACTION,
  aDiagnosis,
  anAction,
  anIncident,
  aRecord,
  aToolCall,
  eventsOf,
  wholeIncident,
} from '../../support/incident-record.ts';
import { recordAt, recordedIncidents } from '../../support/recorded-incidents.ts';

const now = new Date('2026-11-21T10:05:00.000Z');
const waiting: Measure = {
  name: 'waiting',
  label: 'sessions waiting for a lock',
  unit: 'sessions',
  healthy: 'at_most',
  bound: 0,
  value: (data) => (data as { readonly waiting: number }).waiting,
};
const read: ReadsRecorded = (_, { result }) => {
  const value = (result as { readonly waiting?: number } | null)?.waiting;
  return value === undefined ? null : { measure: waiting, value, isHealthy: value === 0 };
};
const measured = (at: string, value: number): ToolCall =>
  aToolCall({
    id: asToolCallId(`tc_${at.slice(11, 19).replaceAll(':', '')}aaaaaa`),
    startedAt: at,
    result: { waiting: value },
  });
const criterion = {
  steps: [{ tool: 'pg_blocking_tree', input: {}, measure: { name: 'waiting' }, says: 'nobody waits' }],
  holdMs: 0,
  timeoutMs: 0,
} as Action['verify'];
const options = { now, read, nextCallAt: null };

/** Waits for a decision, with a criterion by which it is measured. */
const asked = (calls: readonly ToolCall[], changes: Partial<IncidentRecord> = {}): IncidentRecord =>
  aRecord({
    incident: anIncident({
      state: 'awaiting_approval',
      cause: 'pid 4242 holds a lock',
      confidence: 0.95,
      nextStep: 'Waiting for somebody to approve the fix.',
    }),
    actions: [anAction({ verify: criterion })],
    toolCalls: calls,
    events: eventsOf(...wholeIncident.slice(0, 11)),
    ...changes,
  });

describe('a sitrep', () => {
  it('says how bad, better or worse, who has it, what it waits for, what was tried and what is next', () => {
    const calls = [measured('2026-11-21T10:00:02.000Z', 9), measured('2026-11-21T10:04:00.000Z', 4)];
    expect(sitrep(asked(calls), options).split('\n')).toEqual([
      'INC-7 · shop-db: sessions are blocked',
      'Critical, on shop-db, since 2026-11-21 10:00 UTC.',
      'Better: sessions waiting for a lock 9 sessions at 2026-11-21 10:00 UTC, 4 sessions at 2026-11-21 10:04 UTC.',
      'Cause so far: pid 4242 holds a lock (95 % sure)',
      'Tried: nothing was changed.',
      'Nobody has it. Only a card in its thread has asked; nobody was paged.',
      "Waits for a decision: run SELECT pg_terminate_backend(4242) -- started '2026-11-21 10:00:00'?",
      'Next: 2026-11-21 10:30 UTC, the proposal expires.',
    ]);
  });

  it.each([
    [[9, 4], 'Better: '],
    [[4, 9], 'Worse: '],
    [[4, 4], 'No better, no worse: '],
    [[4], 'read once'],
    [[], 'Better or worse: nothing was measured.'],
  ])('of %j it says: %s', (values, words) => {
    const calls = values.map((value, n) => measured(`2026-11-21T10:0${n + 2}:00.000Z`, value));
    expect(sitrep(asked(calls), options)).toContain(words);
  });

  it('says since when it was not measured, where the last read is old', () => {
    const record = asked([measured('2026-11-21T10:00:30.000Z', 9), measured('2026-11-21T10:01:00.000Z', 4)]);
    expect(sitrep(record, options)).toContain('Not measured since 2026-11-21 10:01 UTC.');
    expect(sitrep(record, { ...options, now: new Date('2026-11-21T10:02:00Z') })).not.toContain(
      'Not measured',
    );
  });

  it('names the next thing that is due, whichever that is, and none where none is', () => {
    const next = (record: IncidentRecord, nextCallAt: string | null = null) =>
      sitrep(record, { ...options, nextCallAt })
        .split('\n')
        .at(-1);
    expect(next(asked([]), '2026-11-21T10:20:00.000Z')).toBe(
      'Next: 2026-11-21 10:20 UTC, people are called unless somebody has it.',
    );
    // What is past is no update.
    expect(next(asked([]), '2026-11-21T10:04:00.000Z')).toBe(
      'Next: 2026-11-21 10:30 UTC, the proposal expires.',
    );
    const again = anIncident({ state: 'reported', asksAgainAt: '2026-11-21T11:00:00.000Z' });
    expect(next(aRecord({ incident: again, actions: [] }))).toBe('Next: 2026-11-21 11:00 UTC, I ask again.');
    expect(next(aRecord({ incident: anIncident({ state: 'reported' }), actions: [] }))).toBe(
      'Next: no time is set.',
    );
    // Whoever has it is not called.
    const taken = asked([], {
      actions: [],
      events: eventsOf({ type: 'incident.acknowledged', by: 'U0OLIVIA', how: 'taken' }),
    });
    expect(next(taken, '2026-11-21T10:20:00.000Z')).toBe('Next: no time is set.');
    expect(sitrep(taken, options)).toContain('<@U0OLIVIA> has it since 2026-11-21 10:00 UTC.');
  });

  it('is worst first where there are several', () => {
    const each = (['info', 'critical', 'warning', 'error'] as const).map((severity) =>
      anIncident({ severity }),
    );
    expect(worstFirst(each).map(({ severity }) => severity)).toEqual([
      'critical',
      'error',
      'warning',
      'info',
    ]);
  });

  it.each(recordedIncidents)('$name: is whole and short at every moment', (recorded) => {
    for (let length = 1; length <= recorded.events.length; length += 1) {
      const record = recordAt(recorded, length);
      const said = sitrep(record, options);
      expect(said.length).toBeLessThanOrEqual(SITREP);
      const isOver = record.incident.endedAt !== null;
      expect(said.split('\n').at(-1)).toMatch(
        isOver ? /^(?:Over|Fixed|Was fixed, then undone)|^Tried/ : /^Next: .*\.$/,
      );
      expect(said).not.toMatch(/undefined|null|NaN|Invalid/);
    }
  });
});

describe('a handoff', () => {
  const nothing = {
    now,
    since: '2026-11-21T09:00:00.000Z',
    open: [],
    openCount: 0,
    closed: [],
    muted: [],
    stopped: [],
    denials: [],
  };

  it('is one line where there is nothing to hand over', () => {
    expect(handoff(nothing, read)).toBe(
      'Nothing to hand over: nothing is open, muted or stopped, and nothing ended since 2026-11-21 09:00 UTC.',
    );
  });

  it('warns of what may still go wrong, also of what is over', () => {
    const over = anIncident({ state: 'resolved', resolvedBy: 'source', endedAt: '2026-11-21T10:01:00.000Z' });
    const unknown = aRecord({
      incident: over,
      actions: [anAction({ state: 'unknown', startedAt: now.toISOString() })],
    });
    const again = aRecord({
      incident: anIncident({ state: 'reported', asksAgainAt: '2026-11-21T11:00:00.000Z' }),
      actions: [],
    });
    const said = handoff(
      {
        ...nothing,
        open: [{ record: again, nextCallAt: null }],
        openCount: 1,
        closed: [unknown],
        muted: ['M3 all'],
        stopped: ['shop-db'],
      },
      read,
    );
    expect(said).toMatch(
      /Look out for:\n• INC-7: I look again and ask at 2026-11-21 11:00 UTC\n• INC-7: unknown whether it ran: run SELECT/,
    );
    expect(said).toContain('Muted:\n• M3 all\n\nStopped:\n• shop-db');
    expect(said).toContain(
      'Closed since 2026-11-21 09:00 UTC:\n• INC-7 · shop-db: sessions are blocked: over, says its source, after 1 min',
    );
  });

  it.each(recordedIncidents)('$name: is whole at every moment, and at most a screen of lines', (recorded) => {
    for (let length = 1; length <= recorded.events.length; length += 1) {
      const record = recordAt(recorded, length);
      const isOver = record.incident.endedAt !== null;
      const said = handoff(
        {
          ...nothing,
          ...(isOver ? { closed: [record] } : { open: [{ record, nextCallAt: null }], openCount: 1 }),
        },
        read,
      );
      expect(said).toContain(isOver ? 'Closed since' : '1 open incident:');
      expect(said).not.toMatch(/undefined|\bnull\b|NaN|Invalid/);
      expect(said.length).toBeLessThan(1_200);
    }
  });
});

const report = (record: IncidentRecord) =>
  postIncidentReport(record, { now, threadUrl: 'https://x.slack.com/archives/C1/p1' });
const nameOf = (id: string): string => id.toLowerCase();
const markdown = (record: IncidentRecord): string => reportMarkdown(report(record), nameOf);

describe('a post-incident report', () => {
  const fixed = aRecord({
    incident: anIncident({
      state: 'resolved',
      resolvedBy: 'confirmed',
      endedAt: '2026-11-21T10:04:00.000Z',
      cause: 'pid 4242 holds a lock',
      confidence: 0.95,
    }),
    alerts: [
      {
        source: 'alertmanager',
        status: 'firing',
        title: 'x',
        labels: {},
        annotations: {},
        startsAt: '2026-11-21T09:58:00.000Z',
        receivedAt: '2026-11-21T10:00:00.000Z',
        url: null,
        deliveryKey: 'alertmanager:1',
      },
    ],
    actions: [
      anAction({
        state: 'succeeded',
        approvedBy: ['U0ONCALL'],
        decidedBy: 'U0ONCALL',
        decidedAt: '2026-11-21T10:01:00.000Z',
        startedAt: '2026-11-21T10:01:01.000Z',
        outcome: 'it is gone',
      }),
    ],
    events: eventsOf(...wholeIncident),
  });

  it('has the cause with the hash of what shows it, who approved what, impact, times and the thread', () => {
    const text = markdown(fixed);
    expect(text).toContain('# INC-7: shop-db: sessions are blocked');
    expect(text).toContain(
      'From the first firing at 2026-11-21 09:58:00 UTC to the end at 2026-11-21 10:04:00 UTC: 6 min.',
    );
    expect(text).toContain('Known to Sentry 2 min after it first fired.');
    expect(text).toContain('A person approved it after 12 s, at 2026-11-21 10:00:12 UTC.');
    expect(text).toMatch(
      /Evidence: pid 4242 blocks 5 others “pid 4242” \(pg blocking tree on shop-db, read at 2026-11-21 10:00:03 UTC, SHA-256 `0{16}`\)/,
    );
    expect(text).toContain('approved by @u0oncall at 2026-11-21 10:01:00 UTC.');
    expect(text).toContain("`SELECT pg_terminate_backend(4242) -- started '2026-11-21 10:00:00'`");
    expect(text).toContain('[The incident’s thread](https://x.slack.com/archives/C1/p1)');
    expect(text).toContain('## What did not work\n\nNothing on record failed.');
    expect(text).toContain('Sentry’s own check saw the problem gone.');
  });

  it('says what did not work and what is left to do', () => {
    const denied = anAction({ state: 'denied', decidedBy: 'U0NOAH', decisionReason: 'it is the backup' });
    const text = markdown({
      ...fixed,
      actions: [denied],
      events: eventsOf(
        ...wholeIncident.slice(0, 7),
        {
          type: 'diagnosis.concluded',
          round: 1,
          diagnosis: aDiagnosis({
            prevent: [{ tool: 'x', input: {}, why: 'Set idle_in_transaction_session_timeout' }],
            unread: [{ toolCallId: aToolCall().id, way: 'grant', reason: 'not allowed to read the log' }],
          }),
        },
        { type: 'verification.concluded', round: 1, verdict: 'not_fixed', reason: '4 sessions still wait' },
      ),
    });
    expect(text).toContain('- It did not help: 4 sessions still wait.');
    expect(text).toContain('To keep it from coming back: Set idle_in_transaction_session_timeout.');
    expect(text).toMatch(/Decide whether it is still wanted: .* @u0noah said no: “it is the backup”/);
    expect(text).toContain('- Grant: pg blocking tree on shop-db: not allowed to read the log.');
    expect(text).toContain('## What was done\n\nNothing was changed.');
  });

  it.each(recordedIncidents)('$name: is whole at every moment', (recorded) => {
    for (let length = 1; length <= recorded.events.length; length += 1) {
      const text = markdown(recordAt(recorded, length));
      expect(text.match(/^## /gm)).toHaveLength(10);
      expect(text).not.toMatch(/undefined|\bnull\b|NaN|Invalid/);
    }
  });

  it('holds no secret, whatever marks stand around it', () => {
    const secret = `AKIA${'IOSFODNN7EXAMPLE'}`;
    const text = `*password*: ${secret}`;
    const said: IncidentEventBody = { type: 'incident.summary', text };
    const record = {
      ...fixed,
      incident: { ...fixed.incident, title: text },
      events: eventsOf(...wholeIncident, said),
    };
    expect(markdown(record)).not.toContain(secret);
  });

  it('keeps texts of others literal: no line, heading, link or mention of theirs', () => {
    const hostile = fc.oneof(
      fc.constantFrom(
        '# A heading',
        '\n## Approved by everybody\n',
        '[here](https://evil.example)',
        'https://evil.example/x www.evil.example',
        '<@U0ADMIN> <!channel> <script>',
        '![](@U0ADMIN)',
        '```\n# out',
        '`x` **bold** | a | b |\u202e',
      ),
      fc.string({ unit: 'binary', maxLength: 2_000 }),
    );
    fc.assert(
      fc.property(hostile, hostile, (text, other) => {
        const events = eventsOf(
          { type: 'incident.opened', source: 'x', title: text },
          {
            type: 'diagnosis.concluded',
            round: 1,
            diagnosis: aDiagnosis({ rootCause: text, blastRadius: other }),
          },
          { type: 'action.proposed', actionId: ACTION },
          { type: 'incident.summary', text: other },
        );
        const action = anAction({
          command: other,
          outcome: text,
          startedAt: now.toISOString(),
          state: 'failed',
          toolCallId: aToolCall().id,
        });
        const record = aRecord({
          incident: anIncident({ title: text, cause: text, target: other }),
          events,
          actions: [action],
        });
        const written = markdown(record);
        expect(written.match(/^## /gm)).toHaveLength(10);
        expect(written.match(/^# /gm)).toHaveLength(1);
        expect(
          written
            .split('\n')
            .every((line) => line === '' || /^(?:#{1,2} |- )/.test(line) || line.endsWith('.')),
        ).toBe(true);
        const literal = written.replaceAll(/(?<!\\)`+[^\n]*?`+/g, '').replaceAll(/\\./g, '');
        expect(literal).not.toContain('](https://evil');
        expect(literal).not.toContain('://evil');
        expect(literal).not.toMatch(/<@U|<!|<script/);
        expect(sitrep(record, options).length).toBeLessThanOrEqual(SITREP);
        expect(
          reportStory(report(record), nameOf)
            .split('\n')
            .every((line) => /^(?:|\*.*|• .*|[^<]*\.)$/.test(line)),
        ).toBe(true);
      }),
    );
  });
});
