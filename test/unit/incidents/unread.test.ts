import { describe, expect, it } from 'vitest';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import { asIncidentId, asToolCallId } from '../../../src/core/ids.ts';
import type { IncidentState } from '../../../src/core/incident.ts';
import type { ToolCall } from '../../../src/core/tool-call.ts';
import { checkEvidence } from '../../../src/incidents/claims/evidence.ts';
import { classifyReadFailure } from '../../../src/incidents/failed-reads/classify-read-failure.ts';
import { findUnread } from '../../../src/incidents/failed-reads/find-unread.ts';
import { grantFor } from '../../../src/incidents/failed-reads/grant-for.ts';
import { openReads } from '../../../src/incidents/failed-reads/open-reads.ts';
import { readHash } from '../../../src/incidents/failed-reads/read-hash.ts';
import { aDiagnosis, anIncident, aRecord, aToolCall, eventsOf } from '../../support/incident-record.ts';

const id = (letter: string) => asToolCallId(`tc_${letter.repeat(12)}`);
const no = (code: string, changes: Partial<ToolCall> = {}): ToolCall =>
  aToolCall({ state: 'failed', code, output: `${code} happened`, tool: 'postgres_locks', ...changes });
const outside = (path: string): ToolCall =>
  no('PATH_OUTSIDE', {
    state: 'refused',
    tool: 'read_file',
    input: { path },
    output: 'The path is in none of the folders for this (/srv/app).',
  });

describe('a read that showed nothing', () => {
  it.each([
    'TIMEOUT',
    'TOO_MANY_CALLS',
    'STOPPED',
    'NOT_RUN',
    'POSTGRES_57014',
    'POSTGRES_ECONNREFUSED',
    'POSTGRES_CONNECTION_CLOSED',
    'POSTGRES_57P03',
  ])('for a passing reason (%s) can be run', (code) => {
    expect(classifyReadFailure(no(code))).toEqual({ way: 'run', reason: `${code} happened` });
  });

  it.each([
    ['POSTGRES_42501', no('POSTGRES_42501'), { kind: 'privilege', privilege: 'pg_monitor' }],
    [
      'the rights of a plan',
      no('POSTGRES_42501', { tool: 'postgres_explain' }),
      { kind: 'privilege', privilege: 'pg_read_all_data' },
    ],
    ['a refused login', no('POSTGRES_28P01'), { kind: 'login' }],
    [
      'a folder that is not declared',
      outside('/var/log/nginx/error.log'),
      { kind: 'folder', path: '/var/log/nginx' },
    ],
    [
      'a service that is not declared',
      no('HOST_NO_SERVICE', { tool: 'service_status', input: { service: 'web' } }),
      { kind: 'service', service: 'web' },
    ],
    [
      'a host that is not listed',
      no('URL_NOT_ALLOWED', { tool: 'fetch_docs', input: { url: 'https://docs.example.com/a' } }),
      { kind: 'docs_host', host: 'docs.example.com' },
    ],
    [
      'sessions that are hidden',
      aToolCall({ tool: 'postgres_blocking_tree', result: { blocked_count: 0, hidden_count: 3 } }),
      { kind: 'privilege', privilege: 'pg_monitor' },
    ],
    [
      'statistics that are not there',
      aToolCall({ tool: 'postgres_slow_statements', result: { available: false } }),
      { kind: 'statistics' },
    ],
  ] as const)('for want of %s waits for a grant', (_, call, missing) => {
    expect(classifyReadFailure(call)).toMatchObject({ way: 'grant', missing });
  });

  it.each([
    ['worked', aToolCall({ tool: 'postgres_blocking_tree', result: { hidden_count: 0 } })],
    ['names a secret file', no('PATH_SECRET', { tool: 'read_file', input: { path: '/srv/app/.env' } })],
    ['asks for a folder of secrets', outside('/srv/app/.ssh/config')],
    ['asks for a folder too wide', outside('/etc/hosts')],
    ['asks for what only looks like a path', outside('/var/log/x\n  roots: ["/"]/y')],
    [
      'goes by a link that leads out',
      { ...outside('/srv/app/log'), output: 'The path leads out of its folder.' },
    ],
    ['names another target', no('TARGET_OUT_OF_SCOPE')],
    ['names an address', no('URL_NOT_ALLOWED', { input: { url: 'https://169.254.169.254/latest' } })],
    ['is none of the role', no('ROLE_MAY_NOT')],
    ['is wrong', no('BAD_INPUT')],
    ['is a proposal', no('TIMEOUT', { state: 'proposed' })],
    ['answers a question of somebody', no('TIMEOUT', { role: 'triage' })],
    ['is not on record whole', no('TIMEOUT', { input: { path: '/srv/[redacted:email#1]' } })],
    ['was the surgeon’s', no('TIMEOUT', { role: 'surgeon' })],
    ['was a look whether it helped', no('TIMEOUT', { role: 'validator' })],
    ['was of memory', no('TIMEOUT', { tool: 'memory_search', target: null })],
  ])('has no button when it %s', (_, call) => {
    expect(classifyReadFailure(call)).toBeNull();
  });
});

describe('what a diagnosis misses', () => {
  const incident = anIncident();
  const find = (calls: readonly ToolCall[], missed: readonly string[] = []) =>
    findUnread({ incident, toolCalls: calls }, new Set(calls.map((call) => call.id)), new Set(missed)).map(
      ({ toolCallId }) => toolCallId,
    );

  it('is each read once, by its last try, and none that has worked since', () => {
    const first = no('TIMEOUT', { id: id('a') });
    expect(find([first, no('TIMEOUT', { id: id('b') })])).toEqual([id('b')]);
    expect(find([first, aToolCall({ id: id('b'), tool: 'postgres_locks' })])).toEqual([]);
    expect(find([first, no('TIMEOUT', { id: id('b'), input: { limit: 3 } })])).toEqual([id('b'), id('a')]);
  });

  it('is of this incident, its target and this round only', () => {
    expect(find([no('TIMEOUT', { incidentId: asIncidentId('INC-8') })])).toEqual([]);
    expect(find([no('TIMEOUT', { target: 'other-db' })])).toEqual([]);
    expect(findUnread({ incident, toolCalls: [no('TIMEOUT')] }, new Set())).toEqual([]);
  });

  it('begins with what the investigator names', () => {
    const calls = [no('TIMEOUT', { id: id('a') }), no('TIMEOUT', { id: id('b'), input: { limit: 3 } })];
    expect(find(calls, [id('a')])).toEqual([id('a'), id('b')]);
  });

  const check = (missed: readonly ReturnType<typeof id>[]) =>
    checkEvidence(
      aDiagnosis({
        verdict: 'cannot_tell',
        evidence: [],
        missed,
        unread: [{ toolCallId: id('z'), way: 'run', reason: 'mine' }],
      }),
      {
        incident,
        events: eventsOf(
          { type: 'incident.opened', source: 'x', title: 'x' },
          {
            type: 'tool.called',
            toolCallId: id('a'),
            role: 'detective',
            tool: 'postgres_locks',
            purpose: null,
            state: 'failed',
            summary: '',
          },
        ),
        toolCalls: [no('TIMEOUT', { id: id('a') })],
      },
    );

  it('is found in the record, whatever the investigator lists itself', () => {
    expect(check([]).diagnosis.unread).toEqual([
      { toolCallId: id('a'), way: 'run', reason: 'TIMEOUT happened' },
    ]);
    expect(check([]).diagnosis).not.toHaveProperty('missed');
  });

  it('is nothing where the cause is found, on live evidence, surely enough to act', () => {
    const calls = [aToolCall({ id: id('a') }), no('TIMEOUT', { id: id('b') })];
    const seen = (call: ToolCall): IncidentEventBody => ({
      type: 'tool.called',
      toolCallId: call.id,
      role: 'detective',
      tool: call.tool,
      purpose: null,
      state: 'ok',
      summary: '',
    });
    const evidence = [{ claim: 'It blocks.', toolCallIds: [id('a')], quote: 'pid 4242' }];
    const by = (confidence: number) =>
      checkEvidence(aDiagnosis({ evidence, confidence }), {
        incident,
        events: eventsOf({ type: 'incident.opened', source: 'x', title: 'x' }, ...calls.map(seen)),
        toolCalls: calls,
      }).diagnosis.unread;
    expect(by(0.95)).toBeUndefined();
    expect(by(0.8)).toMatchObject([{ toolCallId: id('b') }]);
  });

  it('is dropped, and said so, where the investigator names what never happened', () => {
    expect(check([id('a'), id('y')])).toMatchObject({
      dropped: [{ claim: `${id('y')} could not be read.` }],
      diagnosis: { unread: [{ toolCallId: id('a') }] },
    });
  });
});

describe('a button', () => {
  const told: IncidentEventBody = {
    type: 'diagnosis.concluded',
    round: 1,
    diagnosis: aDiagnosis({
      verdict: 'cannot_tell',
      unread: [{ toolCallId: id('a'), way: 'run', reason: 'TIMEOUT happened' }],
    }),
  };
  const asked = (of: string): IncidentEventBody => ({
    type: 'read.asked',
    by: 'U1',
    toolCallId: id(of),
    readHash: '',
    tool: 'postgres_locks',
    way: 'run',
  });
  const finished = (of: string, to: string | null): IncidentEventBody => ({
    type: 'read.finished',
    by: 'U1',
    of: id(of),
    toolCallId: to === null ? null : id(to),
    tool: 'postgres_locks',
    readable: false,
    reason: 'still',
  });
  const open = (events: readonly IncidentEventBody[], state: IncidentState = 'reported') =>
    openReads(
      aRecord({
        incident: anIncident({ state }),
        events: eventsOf(...events),
        toolCalls: [no('TIMEOUT', { id: id('a') }), no('POSTGRES_42501', { id: id('b') })],
      }),
    );

  it('is there while a person is waited for, and at no other time', () => {
    expect(open([told])).toMatchObject([{ call: { id: id('a') }, why: { way: 'run' }, asked: null }]);
    expect(open([told], 'escalated')).toHaveLength(1);
    for (const state of [
      'diagnosing',
      'stopped',
      'resolved',
      'ignored',
      'awaiting_approval',
      'remediating',
    ] as const)
      expect(open([told], state)).toEqual([]);
  });

  it('gives way to who has pressed it, and follows the read to its last try', () => {
    expect(open([told, asked('a')])).toMatchObject([{ asked: { by: 'U1' } }]);
    expect(open([told, asked('a'), finished('a', 'b')])).toMatchObject([
      { call: { id: id('b') }, why: { way: 'grant' }, asked: null, before: { by: 'U1' } },
    ]);
    expect(open([told, asked('a'), finished('a', null)])).toEqual([]);
  });

  it('is there again when the incident has moved since it was pressed, and waits anew', () => {
    const moved = (from: IncidentState, to: IncidentState): IncidentEventBody => ({
      type: 'state.changed',
      from,
      to,
      reason: '',
    });
    expect(
      open([told, asked('a'), moved('reported', 'stopped'), moved('stopped', 'reported')]),
    ).toMatchObject([{ asked: { by: 'U1' } }]);
    const anew = open([told, asked('a'), moved('reported', 'planning'), moved('planning', 'reported')]);
    expect(anew).toMatchObject([{ asked: null, waitsSince: 4 }]);
  });

  it('stands for exactly one read: any other argument, tool, target or incident is another hash', () => {
    const call = no('TIMEOUT', { id: id('a') });
    const others = [
      { ...call, input: { limit: 1 } },
      { ...call, tool: 'postgres_terminate_backend' },
      { ...call, target: 'other' },
      { ...call, incidentId: asIncidentId('INC-8') },
      { ...call, id: id('b') },
    ];
    expect(new Set([call, ...others].map(readHash)).size).toBe(6);
  });
});

describe('a grant', () => {
  const words = (call: ToolCall, reader: string | null = 'sentry_ro') => {
    const why = classifyReadFailure(call);
    if (why?.way !== 'grant') throw new Error('no grant');
    return grantFor(call, why, () => reader);
  };

  it('is the exact statement, with the role that Sentry reads with', () => {
    expect(words(no('POSTGRES_42501')).exact).toBe('GRANT pg_monitor TO sentry_ro;');
    expect(words(no('POSTGRES_42501'), 'odd"; DROP').exact).toBe('GRANT pg_monitor TO "odd""; DROP";');
    expect(words(no('POSTGRES_42501'), null).exact).toContain('<the role');
  });

  it('is the exact setting, in which a name is a name', () => {
    expect(words(outside('/var/log/it\'s "x"/a.log')).exact).toBe(
      'targets:\n  - name: "shop-db"\n    roots:\n      - "/var/log/it\'s \\"x\\""',
    );
    expect(words(outside('/var/log/nginx/error.log')).note).toContain('Allow it only if');
  });
});
