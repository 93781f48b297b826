import { afterEach, describe, expect, it } from 'vitest';
import { type MessagesRequest, toolResultTexts } from '../../../../playground/claude/scenario.ts';
import { describeChange, describeWhen } from '../../../../src/core/describe-changes.ts';
import type { Diagnosis, Triage } from '../../../../src/core/diagnosis.ts';
import type { IncidentEventBody } from '../../../../src/core/event.ts';
import { asToolCallId } from '../../../../src/core/ids.ts';
import type { IncidentRecord } from '../../../../src/core/incident-record.ts';
import type { Json, ToolCall } from '../../../../src/core/tool-call.ts';
import type { RelatedChange, WhatChanged } from '../../../../src/core/what-changed.ts';
import { checkEvidence } from '../../../../src/incidents/claims/evidence.ts';
import { objectionsTo } from '../../../../src/incidents/objections.ts';
import { aToolCall, eventsOf } from '../../../support/incident-record.ts';
import { INCIDENT, type InvestigationRig, startInvestigation } from './investigation-rig.ts';

/** A model that blames a change, over real sockets: what it is told of that, and what is left of it. */
const ASKED = asToolCallId('tc_asked0000000');
const BEGAN = '2026-11-21T10:10:00Z';
const ROOT = 'root: pid 4711 (app@shop, billing 2.4.0) blocks 8 (6 directly)';
const SETTINGS = 'lock_timeout | 0 | default';
const TRIAGED: Triage = {
  severity: 'critical',
  incidentType: 'blocked_sessions',
  routine: false,
  ignore: false,
  reason: 'eight checkouts wait',
};

function aChange(ref: string, given: Partial<RelatedChange>): RelatedChange {
  const { beforeMs = 180_000 } = given;
  return {
    ref,
    source: 'generic',
    id: ref,
    kind: 'deployment',
    state: 'succeeded',
    title: '',
    where: ['billing', 'shop-db'],
    environment: null,
    startedAt: null,
    at: new Date(Date.parse(BEGAN) - beforeMs).toISOString(),
    by: 'olivia',
    from: null,
    to: null,
    commits: [],
    url: null,
    touches: 'it',
    through: 'shop-db',
    when: beforeMs < 0 ? 'after' : 'before',
    beforeMs,
    ...given,
  };
}

const BILLING = aChange('c1', { title: 'billing 2.4.0 deployed', from: '2.3.9', to: '2.4.0' });
const TIMEOUT = aChange('c2', {
  kind: 'config',
  title: 'lock_timeout of shop-db: 5s → 0',
  where: ['shop-db'],
  beforeMs: 600_000,
});
const CACHE = aChange('c3', {
  title: 'shop-cache 7.2.1 deployed',
  to: '7.2.1',
  where: ['shop-cache'],
  through: 'shop-cache',
  touches: 'neighbour',
});
const LATER = aChange('c4', { title: 'billing 2.4.1 deployed', to: '2.4.1', beforeMs: -120_000 });

let rig: InvestigationRig;
afterEach(() => rig?.claude.close());

interface Report {
  readonly rootCause: string;
  /** By ref: its part, and whether the blocking tree and the settings are cited for it. */
  readonly changes: readonly (readonly [ref: string, part: string, ...tools: readonly string[]])[];
  readonly quote?: string;
}

/** Reads the tree and the settings, then reports; to what it is told of that it answers with the next report. */
async function diagnose(
  suspects: readonly RelatedChange[],
  afterwards: readonly RelatedChange[],
  tree: string,
  ...reports: readonly Report[]
) {
  const found: WhatChanged = {
    answer: suspects.length > 0 ? 'changed' : 'nothing',
    from: '2026-11-21T08:10:00Z',
    to: '2026-11-21T10:12:30Z',
    beganAt: BEGAN,
    suspects,
    afterwards,
    others: 0,
    looked: [],
    couldNotLook: [],
  };
  let told = '';
  rig = await startInvestigation(
    (request) => {
      const ids = idsIn(request);
      if (ids.size === 0)
        return {
          blocks: ['postgres_blocking_tree', 'postgres_long_transactions'].map((tool) => ({
            tool,
            input: { target: 'shop-db', why: 'x' },
          })),
        };
      const given = toolResultTexts(request).filter((text) => !text.startsWith('{'));
      told = given.at(-1) ?? '';
      const report = reports[Math.min(given.length, reports.length - 1)] as Report;
      const idOf = (tool: string): string => ids.get(tool) ?? tool;
      const cited = [idOf('postgres_blocking_tree')];
      return {
        blocks: [
          {
            tool: 'report_diagnosis',
            input: {
              verdict: 'cause_found',
              rootCause: report.rootCause,
              category: 'blocked_sessions',
              confidence: 0.95,
              evidence: [
                { claim: tree, quote: tree, toolCallIds: cited },
                // What speaks against a change is a claim, too.
                ...(report.changes.some(([, part]) => part === 'unrelated')
                  ? [{ claim: SETTINGS, quote: SETTINGS, toolCallIds: [idOf('postgres_long_transactions')] }]
                  : []),
              ],
              changes: report.changes.map(([ref, part, ...tools]) => ({
                ref,
                part,
                toolCallIds: [ASKED, ...tools.map(idOf)],
              })),
            },
          },
        ],
      };
    },
    { postgres_blocking_tree: tree, postgres_long_transactions: SETTINGS },
  );
  const asked = aToolCall({
    id: ASKED,
    incidentId: INCIDENT.id,
    tool: 'what_changed',
    target: null,
    output: [...suspects, ...afterwards]
      .map((each) => `${each.ref} ${describeChange(each)} · ${describeWhen(each)}`)
      .join('\n'),
    result: found as unknown as Json,
  });
  const record = () => recordOf([asked, ...rig.toolCalls]);
  const diagnosis = await rig.investigator.diagnose(
    {
      ...rig.work,
      changes: { toolCallId: ASKED, found },
      objections: async (said) => objectionsTo(said, record()),
    },
    TRIAGED,
  );
  return { first: firstTurn(), told, ...checkEvidence(diagnosis, record()) };
}

const firstTurn = (): string => JSON.stringify(rig.claude.requests[0]?.body.messages[0]);

function idsIn(request: MessagesRequest): ReadonlyMap<string, string> {
  return new Map(
    toolResultTexts(request).flatMap((text) => {
      const [, id = '', tool = ''] = /"tool_call_id":"([^"]+)","tool":"([^"]+)"/.exec(text) ?? [];
      return id === '' ? [] : [[tool, id] as const];
    }),
  );
}

function recordOf(toolCalls: readonly ToolCall[]): Pick<IncidentRecord, 'incident' | 'events' | 'toolCalls'> {
  const called = toolCalls.map(
    ({ id, tool }): IncidentEventBody => ({
      type: 'tool.called',
      toolCallId: id,
      role: 'detective',
      tool,
      purpose: null,
      state: 'ok',
      summary: '',
    }),
  );
  return {
    incident: INCIDENT,
    toolCalls,
    events: eventsOf({ type: 'incident.opened', source: 'x', title: 'x' }, ...called),
  };
}

const partsOf = ({ changes = [] }: Diagnosis): string =>
  changes.map(({ ref, part }) => `${ref} ${part}`).join(', ');
const TREE = ['postgres_blocking_tree'] as const;
const PLAIN = 'Pid 4711 of billing blocks 8 sessions.';

describe('a detective', () => {
  it('is told first what was changed, by the call to cite, in few words', async () => {
    const many = Array.from({ length: 40 }, (_, n) =>
      aChange(`c${n + 1}`, {
        title: `billing 2.4.${n} deployed with ${'words '.repeat(30)}`,
        to: `2.4.${n}`,
      }),
    );
    const { first } = await diagnose(many, [LATER], ROOT, { rootCause: PLAIN, changes: [] });
    expect(first).toContain(ASKED);
    expect(first).toContain('c1: billing 2.4.0 deployed');
    const told = /\\"changes\\": (\{.*?\n?\})/s.exec(first)?.[1] ?? '';
    expect(told.length).toBeLessThan(3_200);
    expect(first).toMatch(/not_shown\\": 3\d/);
  });

  it('that shows what a change put there has its cause named', async () => {
    const { diagnosis, told, dropped } = await diagnose([BILLING], [], ROOT, {
      rootCause: 'The deploy of billing 2.4.0: its pid 4711 blocks 8 sessions.',
      changes: [['c1', 'cause', ...TREE]],
    });
    expect(told).toBe('');
    expect(partsOf(diagnosis)).toBe('c1 cause');
    expect(dropped).toEqual([]);
  });

  it.each<
    readonly [
      string,
      readonly RelatedChange[],
      readonly RelatedChange[],
      string,
      Report,
      RegExp,
      parts: string,
    ]
  >([
    [
      'a change that came later',
      [],
      [LATER],
      ROOT,
      { rootCause: 'The deploy of billing 2.4.1 blocks 8 sessions.', changes: [['c4', 'cause', ...TREE]] },
      /2 min after it began/,
      '',
    ],
    [
      'a neighbour of which nothing was read',
      [CACHE],
      [],
      'root: pid 4711 (app@shop, shop-cache 7.2.1) blocks 8 (6 directly)',
      { rootCause: 'The deploy of shop-cache 7.2.1 blocks 8 sessions.', changes: [['c3', 'cause', ...TREE]] },
      /It touched shop-cache/,
      'c3 suspect',
    ],
    [
      'one of two',
      [BILLING, TIMEOUT],
      [],
      ROOT,
      { rootCause: 'The deploy of billing 2.4.0 blocks 8 sessions.', changes: [['c1', 'cause', ...TREE]] },
      /No read speaks against another suspect: “lock_timeout/,
      'c1 suspect, c2 suspect',
    ],
    [
      'a change that no live read shows',
      [BILLING],
      [],
      'root: pid 4711 (app@shop, psql) blocks 8 (6 directly)',
      { rootCause: 'The deploy of billing 2.4.0 blocks 8 sessions.', changes: [['c1', 'cause', ...TREE]] },
      /time alone/,
      'c1 suspect',
    ],
  ])('that blames %s is told so once, and its cause does not stand', async (...row) => {
    const [, suspects, afterwards, tree, report, reason, parts] = row;
    const { diagnosis, told, dropped, unsupported } = await diagnose(suspects, afterwards, tree, report);
    expect(told).toMatch(reason);
    expect(partsOf(diagnosis)).toBe(parts);
    expect(dropped.map((one) => one.reason).join(' ')).toMatch(reason);
    expect(unsupported).not.toEqual([]);
  });

  it('that reads what speaks against the other one may say which', async () => {
    const blaming = 'The deploy of billing 2.4.0: its pid 4711 blocks 8 sessions.';
    const { diagnosis, told } = await diagnose(
      [BILLING, TIMEOUT],
      [],
      ROOT,
      { rootCause: blaming, changes: [['c1', 'cause', ...TREE]] },
      {
        rootCause: blaming,
        changes: [
          ['c1', 'cause', ...TREE],
          ['c2', 'unrelated', 'postgres_long_transactions'],
        ],
      },
    );
    expect(told).toMatch(/another suspect/);
    expect(partsOf(diagnosis)).toBe('c1 cause, c2 unrelated');
  });

  it('that leaves open which of two it was has both told', async () => {
    const { diagnosis, told, unsupported } = await diagnose([BILLING, TIMEOUT], [], ROOT, {
      rootCause: PLAIN,
      changes: [
        ['c1', 'suspect'],
        ['c2', 'suspect'],
      ],
    });
    expect(told).toBe('');
    expect(unsupported).toEqual([]);
    expect(partsOf(diagnosis)).toBe('c1 suspect, c2 suspect');
  });
});
