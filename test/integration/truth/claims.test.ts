import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { MessagesRequest, ScriptedReply } from '../../../playground/claude/scenario.ts';
import { toolResultTexts } from '../../../playground/claude/scenario.ts';
import { statementsIn } from '../../../playground/claude/sceptic.ts';
import { createScriptedClaude, type ScriptedClaude } from '../../../playground/claude/scripted-claude.ts';
import { createClaude } from '../../../src/agents/claude/create-claude.ts';
import type { Diagnosis } from '../../../src/core/diagnosis.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { IncidentRecord } from '../../../src/core/incident-record.ts';
import { why } from '../../../src/incidents/questions/why.ts';
import { createAnthropicBackend } from '../../../src/llm/anthropic.ts';
import { createModelGateway } from '../../../src/llm/gateway.ts';
import { incidentDocument } from '../../../src/memory/past/incident-document.ts';
import type { Runbook } from '../../../src/runbooks/runbook.ts';
import { diagnosesOf } from '../../../src/slack/views/blocks/diagnosis.ts';
import { draw } from '../../../src/slack/views/blocks/draw.ts';
import { diagnosisView } from '../../../src/slack/views/record-views.ts';
import { defineReadTool, type Tool } from '../../../src/tools/define.ts';
import { boxAlert, boxTools, type Core, createCore, findsNothing, type Machine } from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import type { Row } from '../../support/typed.ts';
import { waitFor } from '../../support/wait-for.ts';

/**
 * Models that say what is not so, with quotes that are true, on the real engine, gate and record. One scene for all: three
 * sessions wait behind pid 7157, and every case only changes what the model reports of it.
 */
const machine: Machine = { broken: true, generation: 1, effects: 0, helps: true };
const HEAD = '3 sessions blocked by 1 root blocker; longest wait 12s.';
const ROOT = 'root: pid 7157 (shop_app, shop-backoffice) blocks 3 (1 directly)';
const USED = '12 of 100 connections in use (12 %).';

const tools: readonly Tool[] = [
  ...boxTools(machine),
  defineReadTool({
    name: 'box_blocking',
    description: 'Who blocks whom.',
    kind: 'read',
    domain: 'postgres',
    input: z.strictObject({}),
    timeoutMs: 2_000,
    run: async () => ({
      text: `${HEAD}\n${ROOT}\n  idle in transaction, in this state 12s, transaction begun 2026-11-22 03:17:40Z`,
      data: { blocked_count: 3, root_count: 1, longest_wait_seconds: 12, root: { pid: 7157 } },
    }),
  }),
  defineReadTool({
    name: 'box_connections',
    description: 'How many connections.',
    kind: 'read',
    domain: 'postgres',
    input: z.strictObject({}),
    timeoutMs: 2_000,
    run: async () => ({ text: USED, data: { used: 12, max: 100, used_percent: 12 } }),
  }),
];

/** Known by the alert's name, and shown by its own read. */
const runbook: Runbook = {
  id: 'blocked',
  title: 'Blocked sessions',
  domains: ['postgres'],
  version: 1,
  type: 'blocked_sessions',
  matches: { alerts: ['BoxBlocked'], text: [], labels: {} },
  requires: { step: 'tree', when: 'result.blocked_count > 0', bad: 'present', inverse: [], opposite: [] },
  ignoreWhenHealthy: false,
  steps: [
    {
      id: 'tree',
      call: 'box_blocking',
      with: {},
      why: 'who blocks whom',
      waitMs: 0,
      optional: false,
      checks: [
        {
          when: 'result.blocked_count > 0',
          claims: [{ says: 'Three sessions wait behind pid 7157.', quote: ['root: pid 7157'], from: 'tree' }],
          turn: {
            kind: 'conclude',
            conclusion: {
              cause: 'Pid 7157 blocks three sessions.',
              category: 'blocked_sessions',
              confidence: 0.97,
              ruledOut: [],
              propose: [],
            },
          },
        },
      ],
    },
  ],
  verify: {},
  body: '',
  file: 'test',
};

let database: ScratchDatabase;
let claude: ScriptedClaude;
let core: Core;
let sceptic: (request: MessagesRequest) => ScriptedReply;

const judges =
  (cause: string, of: (claim: string) => string) =>
  (request: MessagesRequest): ScriptedReply => {
    const claims = (statementsIn(request)?.claims ?? []).map(({ claim }) => of(claim));
    return { blocks: [{ text: JSON.stringify({ cause, claims }) }] };
  };
const believes = judges('supported', () => 'supported');

beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  claude = await createScriptedClaude({ scenario: () => ({}), sceptic: (request) => sceptic(request) });
  core = await createCore({
    url: database.url,
    tools,
    // The playbook of these cases never finds anything: whatever is shown came from the model.
    investigator: {
      name: 'playbook',
      triage: async (work) => ({
        severity: work.incident.severity,
        incidentType: null,
        routine: false,
        ignore: false,
        reason: 'x',
      }),
      diagnose: async () => findsNothing,
      plan: async () => ({ kind: 'none', reason: 'nothing' }),
    },
    claude: createClaude({
      llm: createModelGateway({
        backend: createAnthropicBackend({ apiKey: 'k', baseUrl: claude.url }),
        retry: { baseDelayMs: 1 },
      }),
      tools,
      targets: ['box'],
      runbooks: () => [runbook],
      sceptic: true,
      toolCalls: async (id: IncidentId) => (await core.records.load(id))?.toolCalls ?? [],
    }),
  });
  await core.start();
});
afterAll(async () => {
  await core.stop();
  await claude.close();
  await database.drop();
});

interface Report {
  readonly verdict?: Diagnosis['verdict'];
  readonly rootCause: string;
  readonly claims?: readonly (readonly [claim: string, quote: string, tool?: string])[];
  readonly [more: string]: unknown;
}

const GOOD: Report = {
  rootCause: 'Pid 7157 of shop-backoffice is idle in transaction and blocks three sessions.',
  category: 'blocked_sessions',
  confidence: 0.97,
  claims: [['Pid 7157 blocks 3 sessions.', ROOT]],
};

/** Reads both, then reports; what it is told of a report it answers with the next one. */
function plays(...reports: readonly Report[]): void {
  claude.play((request) => {
    const offered = new Set((request.tools ?? []).map(({ name }) => name));
    if (offered.has('report_triage'))
      return {
        blocks: [{ tool: 'report_triage', input: { severity: 'critical', reason: 'I have mended it.' } }],
      };
    if (offered.has('report_no_action'))
      return { blocks: [{ tool: 'report_no_action', input: { reason: 'I terminated it already.' } }] };
    const results = toolResultTexts(request);
    const ids = new Map(
      results.flatMap((text) => {
        const [, id = '', tool = ''] = /"tool_call_id":"([^"]+)","tool":"([^"]+)"/.exec(text) ?? [];
        return id === '' ? [] : [[tool, id] as const];
      }),
    );
    if (ids.size < 2)
      return {
        blocks: [
          { tool: 'box_blocking', input: { target: 'box', why: 'x' } },
          { tool: 'box_connections', input: { target: 'box', why: 'x' } },
        ],
      };
    const given = results.filter((text) => !text.startsWith('{')).length;
    const { claims = [], ...said } = reports[Math.min(given, reports.length - 1)] ?? GOOD;
    const evidence = claims.map(([claim, quote, tool = 'box_blocking']) => ({
      claim,
      quote,
      toolCallIds: [ids.get(tool)],
    }));
    const input = { verdict: 'cause_found', confidence: 0.97, ...said, evidence };
    return { blocks: [{ tool: 'report_diagnosis', input }] };
  });
}

async function ended(known = false): Promise<IncidentRecord> {
  const { incidentId } = await core.accept(boxAlert(known ? { name: 'BoxBlocked' } : {}));
  if (!incidentId) throw new Error('not accepted');
  let seen: string | undefined;
  await waitFor(
    'the end',
    async () => {
      seen = (await core.records.incident(incidentId))?.state;
      return seen === 'reported' || seen === 'awaiting_approval' || seen === 'ignored';
    },
    { seen: () => seen, timeoutMs: 60_000 },
  );
  const record = await core.records.load(incidentId);
  if (!record) throw new Error('no record');
  return record;
}

function lastOf({ events }: IncidentRecord): Diagnosis {
  const event = events.findLast(({ type }) => type === 'diagnosis.concluded');
  if (event?.type !== 'diagnosis.concluded') throw new Error('no diagnosis');
  return event.diagnosis;
}

const drawn = (record: IncidentRecord) => draw(record, { threadUrl: () => null, approvers: null });
/** What the thread shows, and the window that its *Evidence* opens. */
const told = (record: IncidentRecord): string =>
  JSON.stringify([drawn(record), diagnosisView(record, diagnosesOf(record.events).length)]);
const detective = () =>
  claude.requests.filter(({ body }) => body.tools?.some(({ name }) => name === 'report_diagnosis'));
const fellBack = ({ events }: IncidentRecord): boolean =>
  events.some(({ type }) => type === 'investigator.fallback');

/** Each is the cause and its only claim, over a line that has its words and, as a rule, its number. */
const LIES: readonly (readonly [string, Report])[] = (
  [
    ['a number of two words', 'Twenty-one sessions are blocked.', HEAD],
    ['a part of the whole', 'Half of the connections are in use.', USED],
    ['a percentage that is a count', '3 % of sessions are blocked.', HEAD],
    ['more than there are', 'More than 3 sessions are blocked.', HEAD],
    ['fewer than there are', 'Fewer than 3 sessions are blocked.', HEAD],
    ['a bound that another number meets', 'The longest wait is under 5 s.', HEAD],
    ['another unit', 'The longest wait is 12 ms.', HEAD],
    ['a unit that nobody measures in', 'Sessions have been blocked for 3 months.', HEAD],
    ['a time without a number', 'Sessions have been blocked for an hour.', HEAD],
    ['a time in the plural', 'Sessions have been blocked for days.', HEAD],
    ['the other half of the day', 'The transaction of pid 7157 began at 3:17 pm.', ROOT],
    ['the name of its neighbour', 'shop-backoffice-3 blocks 3 sessions.', ROOT],
    ['a power', '3^3 sessions are blocked.', HEAD],
    ['separators of code', '3_000 sessions are blocked.', HEAD],
    ['a number in brackets', 'Pid 7157 blocks sessions (30).', ROOT],
    ['not one', 'Not a single session is blocked.', HEAD],
    ['no longer', 'Sessions are no longer blocked.', HEAD],
    ['never', 'Sessions are never blocked.', HEAD],
  ] as const
).map(([name, says, quote]) => {
  const tool = quote === USED ? 'box_connections' : 'box_blocking';
  return [name, { rootCause: says, claims: [[says, quote, tool]] }];
});

describe('a report with true quotes', () => {
  it('that is true is shown, double-checked, with its quotes, and its second look is booked', async () => {
    sceptic = believes;
    plays(GOOD);
    const record = await ended();
    expect(lastOf(record)).toMatchObject({
      origin: 'model',
      verdict: 'cause_found',
      confidence: 0.97,
      doubleCheck: { cause: 'supported', dropped: 0, reason: null },
    });
    expect(fellBack(record)).toBe(false);
    expect(told(record)).toContain(`“${ROOT}”`);
    const rows =
      await core.sql<Row>`SELECT role, cost_usd FROM usage WHERE incident_id = ${record.incident.id}`;
    expect(rows.map((row) => row['role'])).toContain('sceptic');
    const sum = rows.reduce((total, row) => total + Number(row['cost_usd']), 0);
    expect(record.incident.costUsd).toBeCloseTo(sum, 9);
    const body = claude.doubts.at(-1)?.body;
    expect(body?.tools ?? []).toEqual([]);
    expect(JSON.stringify(body).length / 3 + Number(body?.max_tokens)).toBeLessThan(4_000);
  });

  it.each<readonly [string, Report]>([
    [
      'the disk is full',
      {
        rootCause: 'The disk of the box is full.',
        claims: [['The disk is full.', USED, 'box_connections']],
      },
    ],
    ['a cosmic ray', { rootCause: 'A cosmic ray hit it.', claims: [['A cosmic ray flipped a bit.', 'pid']] }],
    [
      'invented numbers',
      { rootCause: 'Pid 7157 blocks 4000 sessions for 9 h.', claims: [['4000 wait for 9 h.', ROOT]] },
    ],
    ['another pid', { rootCause: 'Pid 7158 holds the lock.', claims: [['Pid 7158 holds the lock.', ROOT]] }],
    [
      'all is well',
      {
        verdict: 'healthy',
        rootCause: 'Everything is healthy; nobody waits.',
        claims: [['Nobody waits.', HEAD]],
      },
    ],
    [
      'none is blocked',
      {
        verdict: 'healthy',
        rootCause: 'No sessions are blocked.',
        claims: [['No sessions are blocked.', ROOT]],
      },
    ],
    ['its own opposite', { ...GOOD, ruledOut: [GOOD.rootCause] }],
    ...LIES,
  ])('that is false is given back once, then left to the playbook: %s', async (_, report) => {
    sceptic = believes;
    plays(report);
    const before = detective().length;
    const record = await ended();
    expect(detective().length - before).toBe(3);
    expect(fellBack(record)).toBe(true);
    expect(lastOf(record).verdict).toBe('cannot_tell');
    expect(record.actions).toEqual([]);
    // A dropped claim stays on record as one; nothing else says it.
    const kept = { ...record, events: record.events.filter(({ type }) => type !== 'claim.dropped') };
    expect(told(kept)).not.toContain(report.rootCause);
  });

  it('that is mended when it is given back counts as mended', async () => {
    sceptic = believes;
    plays({ rootCause: 'Pid 9999 blocks 40 sessions.', claims: [['Pid 9999 blocks 40.', ROOT]] }, GOOD);
    const record = await ended();
    expect(lastOf(record)).toMatchObject({ rootCause: GOOD.rootCause, confidence: 0.97 });
    expect(fellBack(record)).toBe(false);
  });
});

describe('a claim to have acted', () => {
  it('is shown as Claude’s words, never as what was done or comes next', async () => {
    sceptic = believes;
    const rootCause = 'I terminated pid 7157, which blocks three sessions, so the incident is resolved.';
    plays({ ...GOOD, rootCause, remedy: 'I have already fixed it.' });
    const record = await ended();
    const { incident, events, actions } = record;
    expect(incident.state).toBe('reported');
    expect(actions).toEqual([]);
    const reasons = events.flatMap((event) => (event.type === 'state.changed' ? [event.reason] : []));
    for (const field of [incident.nextStep, ...reasons])
      expect(field).not.toMatch(/terminated|fixed|mended/i);
    const root = JSON.stringify(drawn(record)[0]?.blocks);
    expect(root).toMatch(/What caused it\? .{0,200}Claude’s words: /);
    expect(root).not.toContain('already');
    expect(told(record)).toContain('Claude suggests');
    expect(why(record)).toMatch(/\*Cause\* \(97 % sure, Claude’s words\): I terminated/);
    const remembered = incidentDocument(record, new Date()).document;
    expect(remembered).toContain('Cause (Claude’s words): I terminated');
    expect(remembered).toContain('Remedy (Claude’s words): I have already fixed it.');
    expect(why(record)).toMatch(/no action: Claude proposes no action\. Claude’s words: I terminated it/);
  });
});

describe('a runbook’s live check that says otherwise', () => {
  const used = ['12 of 100 connections are in use.', USED, 'box_connections'] as const;

  it.each<readonly [string, Report]>([
    ['healthy', { verdict: 'healthy', rootCause: 'The connections are in use as always.', claims: [used] }],
    [
      'another cause',
      {
        rootCause: '12 of 100 connections are in use, too many.',
        category: 'connection_exhaustion',
        claims: [used],
      },
    ],
  ])('stands beside the model’s after one more look, and nothing is proposed: %s', async (_, report) => {
    sceptic = believes;
    plays(report);
    const before = detective().length;
    const record = await ended(true);
    const efforts = detective()
      .slice(before)
      .map(({ body }) => (body['output_config'] as { effort: string }).effort);
    expect(efforts).toEqual(['low', 'low', 'high']);
    const diagnosis = lastOf(record);
    expect(diagnosis).toMatchObject({
      verdict: 'cannot_tell',
      disagreement: {
        runbook: { verdict: 'cause_found', says: 'Pid 7157 blocks three sessions.' },
        model: { says: report.rootCause },
      },
    });
    expect(diagnosis.disagreement?.runbook.evidence[0]?.quote).toBe(ROOT);
    expect(diagnosis.disagreement?.model.evidence[0]?.quote).toBe(USED);
    expect(record.actions).toEqual([]);
    expect(record.incident).toMatchObject({ cause: null, state: 'reported' });
    for (const part of ['The runbook’s check', ROOT, USED]) expect(told(record)).toContain(part);
    expect(drawn(record).some(({ text }) => text.includes('Nothing wrong was seen'))).toBe(false);
    expect(record.incident.nextStep).toContain('do not agree');
  });

  it('stands alone when nothing carries what the model says', async () => {
    sceptic = believes;
    plays({
      rootCause: 'The disk is full.',
      category: 'disk_full',
      claims: [['The disk is full.', USED, 'box_connections']],
    });
    const record = await ended(true);
    expect(fellBack(record)).toBe(true);
    expect(lastOf(record).disagreement).toBeUndefined();
  });

  it('is taken in when the second look agrees', async () => {
    sceptic = believes;
    plays({ verdict: 'healthy', rootCause: 'The connections are in use as always.', claims: [used] }, GOOD);
    const diagnosis = lastOf(await ended(true));
    expect(diagnosis).toMatchObject({ verdict: 'cause_found', rootCause: GOOD.rootCause });
    expect(diagnosis.disagreement).toBeUndefined();
  });
});

describe('the second look', () => {
  const two: Report = {
    ...GOOD,
    claims: [...(GOOD.claims ?? []), ['12 of 100 connections are in use.', USED, 'box_connections']],
  };

  it.each<readonly [string, (request: MessagesRequest) => ScriptedReply, object]>([
    [
      'drops what it does not find, and confidence with it',
      judges('supported', (claim) => (claim.startsWith('12') ? 'not_supported' : 'supported')),
      { verdict: 'cause_found', confidence: 0.49, doubleCheck: { dropped: 1, reason: null } },
    ],
    [
      'makes a cause that nothing carries a report',
      judges('not_supported', () => 'supported'),
      { verdict: 'cause_found', confidence: 0.6 },
    ],
    [
      'takes a contradicted cause back',
      judges('contradicted', () => 'supported'),
      { verdict: 'cannot_tell', confidence: 0.3, remedy: null },
    ],
  ])('%s: nothing is proposed', async (_, judge, expected) => {
    sceptic = judge;
    plays(two);
    const record = await ended();
    expect(lastOf(record)).toMatchObject(expected);
    expect(record.incident.state).toBe('reported');
    expect(record.events.some(({ type }) => type === 'plan.none')).toBe(false);
  });

  it.each<readonly [string, ScriptedReply]>([
    ['words', { blocks: [{ text: 'Looks good to me!' }] }],
    ['another shape', { blocks: [{ text: '{"cause":"yes","claims":[]}' }] }],
    ['too few', { blocks: [{ text: '{"cause":"supported","claims":["supported"]}' }] }],
    ['nothing', { blocks: [] }],
    ['a refusal', { stop: 'refusal', stopDetails: { category: 'x', explanation: 'no' } }],
    ['half of it', { stop: 'max_tokens', blocks: [{ text: '{"cause":"supp' }] }],
    ['no end', { blocks: [{ text: '{"cause":"supported"}' }], fault: { kind: 'stall', afterBytes: 40 } }],
    ['a broken stream', { blocks: [{ text: '{"cause":"x"}' }], fault: { kind: 'garbage', afterBytes: 40 } }],
  ])('that fails leaves the diagnosis as it is, and says so: %s', async (_, reply) => {
    sceptic = () => reply;
    plays(two);
    const record = await ended();
    claude.release();
    expect(lastOf(record)).toMatchObject({ confidence: 0.97, doubleCheck: { cause: null, dropped: 0 } });
    expect(told(record)).toContain('Not double-checked: ');
    expect(fellBack(record)).toBe(false);
  });

  it('never raises what is claimed', async () => {
    sceptic = () => ({
      blocks: [{ text: '{"cause":"supported","claims":["supported","supported"],"confidence":1}' }],
    });
    plays({ ...two, confidence: 0.4 });
    expect(lastOf(await ended())).toMatchObject({ confidence: 0.4 });
  });
});

it('a fix that is less sure than the cause is not proposed; the record keeps what was weighed', async () => {
  sceptic = believes;
  plays({
    ...GOOD,
    fixConfidence: 0.5,
    hypotheses: [
      { cause: 'Pid 7157 holds the lock', end: 'ruled_in' },
      { cause: 'Too many connections', end: 'open' },
    ],
    chain: ['an open transaction', 'a lock', 'three sessions wait'],
    onset: '2026-11-22 03:17:00Z',
    wouldChangeMyMind: 'pid 7157 goes on by itself',
  });
  const record = await ended();
  expect(record.incident.state).toBe('reported');
  expect(lastOf(record)).toMatchObject({
    confidence: 0.97,
    fixConfidence: 0.5,
    onset: '2026-11-22T03:17:00.000Z',
    hypotheses: [{ end: 'open' }, { end: 'open' }],
  });
  expect(JSON.stringify(drawn(record)[0]?.blocks)).toContain('Began (Claude’s words): ');
  const evidence = JSON.stringify(diagnosisView(record, 1));
  for (const part of ['All of this is in Claude’s words', 'Wrong if', 'Weighed', 'Began: '])
    expect(evidence).toContain(part);
});
