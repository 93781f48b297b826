import { afterEach, describe, expect, it } from 'vitest';
import { blockedSessions } from '../../../../playground/claude/blocked-sessions.ts';
import {
  type MessagesRequest,
  type ScriptedReply,
  toolResultTexts,
} from '../../../../playground/claude/scenario.ts';
import { InvestigatorFailed } from '../../../../src/agents/ports.ts';
import type { Diagnosis, Triage } from '../../../../src/core/diagnosis.ts';
import { type InvestigationRig, startInvestigation } from './investigation-rig.ts';

let rig: InvestigationRig;
afterEach(() => rig.claude.close());

const TRIAGED: Triage = {
  severity: 'critical',
  incidentType: 'blocked_sessions',
  routine: false,
  ignore: false,
  reason: 'known',
};

const GOOD = {
  verdict: 'cause_found',
  rootCause: 'Pid 4711 blocks 8 sessions.',
  category: 'blocked_sessions',
  confidence: 0.99,
};

const look = { blocks: [{ tool: 'postgres_blocking_tree', input: { target: 'shop-db' } }] };
const report = (more: object): ScriptedReply => ({
  blocks: [{ tool: 'report_diagnosis', input: { ...GOOD, ...more } }],
});
const claim = (toolCallId: string, quote: string) => ({
  claim: `says ${quote}`,
  toolCallIds: [toolCallId],
  quote,
});
const REAL = 'tc_000000000001';
const DIAGNOSED = { ...GOOD, evidence: [], ruledOut: [], unknown: [], wouldChangeMyMind: null } as never;

describe('the Claude investigator', () => {
  it('goes from alert to proposal: triage, evidence of the live system, the exact action', async () => {
    rig = await startInvestigation(blockedSessions);
    const triage = await rig.investigator.triage(rig.work);
    expect(triage).toMatchObject({ incidentType: 'blocked_sessions', routine: true, ignore: false });

    const diagnosis = await rig.investigator.diagnose(rig.work, triage);
    expect(diagnosis).toMatchObject({ verdict: 'cause_found', confidence: 0.97 });
    expect(diagnosis.rootCause).toContain('4711');
    expect(diagnosis.evidence).toHaveLength(2);
    expect(rig.dropped).toEqual([]);

    const plan = await rig.investigator.plan(rig.work, diagnosis);
    expect(plan).toEqual({ kind: 'proposed', actionId: 'act_000000000001' });
    expect(rig.requests.at(-1)).toMatchObject({
      tool: 'postgres_terminate_backend',
      target: 'shop-db',
      input: { pid: 4711, backend_start: '2026-11-21T10:00:00.123456Z' },
      proposal: { why: expect.stringContaining('4711') },
    });
    expect(rig.claude.requests.filter((request) => request.problem !== undefined)).toEqual([]);
    expect(rig.spent.length).toBe(rig.claude.requests.length);
    expect(rig.spent.every((usage) => usage.costUsd > 0)).toBe(true);
  });

  it.each([
    ['cause_found', 'why it stopped'],
    ['cannot_tell', undefined],
  ])('leaves the why open beside what is wrong (%s)', async (verdict, unexplained) => {
    const says = report({ verdict, unexplained: 'why it stopped' });
    rig = await startInvestigation([look, says, says]);
    expect((await rig.investigator.diagnose(rig.work, TRIAGED)).unexplained).toBe(unexplained);
  });

  it('asks for several calls of one message as one plan, each step with its own reason', async () => {
    const end = (pid: number, why: string) => ({
      tool: 'postgres_terminate_backend',
      input: { target: 'shop-db', pid, backend_start: '2026-11-21T10:00:00.123456Z', why },
    });
    rig = await startInvestigation([{ blocks: [end(4711, 'It is the root.'), end(4712, 'It is next.')] }]);
    expect(await rig.investigator.plan(rig.work, DIAGNOSED)).toMatchObject({ kind: 'proposed' });
    expect(rig.requests).toEqual([
      {
        tool: 'postgres_terminate_backend',
        target: 'shop-db',
        input: { pid: 4711, backend_start: '2026-11-21T10:00:00.123456Z' },
        proposal: {
          why: 'It is the root.',
          runbookId: null,
          verify: null,
          andThen: [
            {
              tool: 'postgres_terminate_backend',
              input: { pid: 4712, backend_start: '2026-11-21T10:00:00.123456Z' },
              why: 'It is next.',
            },
          ],
        },
      },
    ]);
  });

  it('names no runbook for a plan of its own, whichever its diagnosis names: no rule lets that run unasked', async () => {
    const input = {
      target: 'shop-db',
      pid: 4711,
      backend_start: '2026-11-21T10:00:00.123456Z',
      why: 'Root.',
    };
    const end = { tool: 'postgres_terminate_backend', input };
    rig = await startInvestigation([{ blocks: [end] }, { blocks: [end, end] }]);
    const diagnosis = { ...(DIAGNOSED as Diagnosis), runbookId: 'blocked-sessions' };
    await rig.investigator.plan(rig.work, diagnosis);
    await rig.investigator.plan({ ...rig.work, incident: { ...rig.work.incident, round: 2 } }, diagnosis);
    expect(rig.requests.map(({ proposal }) => proposal?.runbookId)).toEqual([null, null]);
  });

  it('asks for nothing when the steps of one plan are on two targets, and says so to the model', async () => {
    const on = (target: string) => ({
      tool: 'postgres_terminate_backend',
      input: { target, pid: 4711, backend_start: '2026-11-21T10:00:00.123456Z', why: 'Root.' },
    });
    const none = { blocks: [{ tool: 'report_no_action', input: { reason: 'Nothing is safe.' } }] };
    rig = await startInvestigation([{ blocks: [on('shop-db'), on('other-db')] }, none]);
    expect(await rig.investigator.plan(rig.work, DIAGNOSED)).toMatchObject({ kind: 'none' });
    expect(rig.requests).toEqual([]);
    expect(JSON.stringify(rig.claude.requests.at(-1)?.body.messages)).toContain('names other-db');
  });

  it('offers each role only its tools, and says its words while it works', async () => {
    rig = await startInvestigation(blockedSessions);
    await rig.investigator.triage(rig.work);
    const diagnosis = await rig.investigator.diagnose(rig.work, TRIAGED);
    await rig.investigator.plan(rig.work, diagnosis);
    const bodies = rig.claude.requests.map(({ body }) => body);
    const names = (index: number) => bodies.at(index)?.tools?.map((tool) => tool.name);
    expect(names(0)).toEqual(['postgres_blocking_tree', 'report_triage']);
    expect(names(1)).toEqual(['postgres_blocking_tree', 'postgres_long_transactions', 'report_diagnosis']);
    expect(names(-1)).toEqual(['postgres_terminate_backend', 'report_no_action']);
    const efforts = bodies.map((body) => (body['output_config'] as { effort: string }).effort);
    expect(efforts).toEqual(['low', 'high', 'high', 'medium']);
    expect(rig.said.some((words) => words?.startsWith('I am reading who'))).toBe(true);
  });

  it('keeps system text and tools the same in every incident, and hostile titles inside their quotes', async () => {
    rig = await startInvestigation(blockedSessions);
    await rig.investigator.triage(rig.work);
    const other = { ...rig.work.incident, id: rig.work.incident.id, title: 'Disk full', round: 2 };
    await rig.investigator.triage({ ...rig.work, incident: other });
    const [first, second] = rig.claude.requests.map(({ body }) => body);
    expect(second?.system).toEqual(first?.system);
    expect(second?.tools).toEqual(first?.tools);
    const text = JSON.stringify(first?.messages);
    expect(text.split('</incident_data>')).toHaveLength(2);
    expect(JSON.stringify(first?.system).length + JSON.stringify(first?.tools).length).toBeLessThan(
      6_000 * 4,
    );
  });
});

describe('triage', () => {
  it('that only talks, even when asked, ends with what the alert says; the detective goes on', async () => {
    rig = await startInvestigation(() => ({ blocks: [{ text: 'Looks bad.' }] }));
    expect(await rig.investigator.triage(rig.work)).toMatchObject({ severity: 'critical', ignore: false });
    expect(rig.claude.requests).toHaveLength(2);
  });

  const ignore = { severity: 'info', incidentType: null, routine: false, ignore: true, reason: 'all quiet' };

  it('may not wave an alert away that nobody looked into', async () => {
    rig = await startInvestigation([{ blocks: [{ tool: 'report_triage', input: ignore }] }]);
    expect(await rig.investigator.triage(rig.work)).toMatchObject({ ignore: false });
  });

  it('may ignore an alert after a look at the live system', async () => {
    rig = await startInvestigation([look, { blocks: [{ tool: 'report_triage', input: ignore }] }]);
    expect(await rig.investigator.triage(rig.work)).toMatchObject({ ignore: true });
  });

  it('may not ignore an alert where code has nothing to look at', async () => {
    rig = await startInvestigation([look, { blocks: [{ tool: 'report_triage', input: ignore }] }]);
    expect(await rig.investigator.triage({ ...rig.work, looks: [] })).toMatchObject({ ignore: false });
  });

  it('may not ignore what the tools measure to be wrong, whatever it looked at', async () => {
    rig = await startInvestigation([look, { blocks: [{ tool: 'report_triage', input: ignore }] }]);
    const work = { ...rig.work, redNow: async () => ['sessions waiting for a lock: 8 sessions'] };
    expect(await rig.investigator.triage(work)).toMatchObject({
      ignore: false,
      reason: 'all quiet (Not ignored: sessions waiting for a lock: 8 sessions.)',
    });
    expect(rig.requests.map(({ tool }) => tool)).toContain('postgres_connections');
  });
});

describe('what a model writes otherwise than declared', () => {
  it('is taken as it is meant: other spellings, per cent, its own ids, one string for a list, extra fields', async () => {
    rig = await startInvestigation([
      { blocks: [{ tool: 'postgres_blocking_tree', id: 'toolu_mine', input: {} }] },
      {
        blocks: [
          {
            tool: 'report_diagnosis',
            input: {
              report: {
                verdict: 'Cause found',
                root_cause: 'Pid 4711 blocks 8 sessions.',
                category: 'Blocked sessions!',
                confidence: '95 %',
                evidence: { claim: 'It blocks 8.', tool_call_id: 'toolu_mine', quote: 'pid 4711' },
                ruled_out: 'a deadlock',
                mood: 'sunny',
              },
            },
          },
        ],
      },
    ]);
    const diagnosis = await rig.investigator.diagnose(rig.work, TRIAGED);
    expect(diagnosis).toMatchObject({
      verdict: 'cause_found',
      rootCause: 'Pid 4711 blocks 8 sessions.',
      category: 'blocked_sessions',
      confidence: 0.95,
      evidence: [{ claim: 'It blocks 8.', toolCallIds: [REAL], quote: 'pid 4711' }],
      ruledOut: ['a deadlock'],
    });
    expect(diagnosis).not.toHaveProperty('mood');
    expect(rig.requests[0]).toMatchObject({ tool: 'postgres_blocking_tree', target: 'shop-db', input: {} });
  });

  it('is asked for once more when it is only text, and taken when it then comes as a report', async () => {
    rig = await startInvestigation([
      look,
      { blocks: [{ text: 'It is pid 4711.' }] },
      report({ evidence: [claim(REAL, 'pid 4711')] }),
    ]);
    expect(await rig.investigator.diagnose(rig.work, TRIAGED)).toMatchObject({ verdict: 'cause_found' });
    expect(JSON.stringify(rig.claude.requests.at(-1)?.body.messages.at(-1))).toContain('report_diagnosis');
  });

  it('leaves what the gate has to judge as it is: a target of its own making, input of the wrong kind', async () => {
    rig = await startInvestigation([
      { blocks: [{ tool: 'postgres_long_transactions', input: { target: 'prod-db', limit: 'all' } }] },
      report({ evidence: [] }),
    ]);
    await rig.investigator.diagnose(rig.work, TRIAGED);
    expect(rig.requests[0]).toMatchObject({ target: 'prod-db', input: { limit: 'all' } });
  });
});

describe('a model that cannot go on', () => {
  it.each<[string, () => ScriptedReply, RegExp]>([
    ['is overloaded', (): ScriptedReply => ({ fault: { kind: 'http', status: 529 } }), /overloaded/i],
    [
      'drops mid-stream',
      (): ScriptedReply => ({ ...look, fault: { kind: 'cut', afterBytes: 700 } }),
      /broke off/,
    ],
    [
      'writes nonsense tool input',
      (): ScriptedReply => ({ blocks: [{ tool: 'report_diagnosis', rawInput: '{"a' }] }),
      /./,
    ],
    [
      'reports nonsense',
      (): ScriptedReply => ({ blocks: [{ tool: 'report_diagnosis', input: { x: 1 } }] }),
      /invalid/,
    ],
    ['refuses', (): ScriptedReply => ({ stop: 'refusal' }), /declined/],
    ['goes in circles', (): ScriptedReply => look, /no progress/],
  ])('when it %s, hands over with a reason for people', async (_, reply, reason) => {
    rig = await startInvestigation(reply);
    const failure = await rig.investigator.diagnose(rig.work, TRIAGED).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(InvestigatorFailed);
    expect((failure as InvestigatorFailed).reason).toMatch(reason);
  });

  it('hands over to another model first when one is configured for refusals', async () => {
    const refuse: ScriptedReply = { blocks: [{ text: 'I' }], stop: 'refusal' };
    const scenario = (request: MessagesRequest): ScriptedReply =>
      request.model === 'claude-opus-5-5'
        ? refuse
        : toolResultTexts(request).length === 0
          ? look
          : report({ evidence: [claim(REAL, 'pid 4711')] });
    rig = await startInvestigation(scenario, undefined, { fallbackModel: 'claude-opus-5' });
    expect(await rig.investigator.diagnose(rig.work, TRIAGED)).toMatchObject({ verdict: 'cause_found' });
    expect(rig.claude.requests.map(({ body }) => body.model)).toEqual([
      'claude-opus-5-5',
      'claude-opus-5',
      'claude-opus-5',
    ]);
    expect(rig.claude.requests.filter(({ problem }) => problem)).toEqual([]);
    expect(new Set(rig.spent.map(({ model }) => model))).toEqual(
      new Set(['claude-opus-5-5', 'claude-opus-5']),
    );
    // Both refuse: then the playbook.
    rig.claude.play(() => refuse);
    await expect(rig.investigator.triage(rig.work)).rejects.toThrow(/declined/);
  });

  it('withdraws its half sentence before it hands over', async () => {
    rig = await startInvestigation(() => ({
      blocks: [{ text: 'The cause is the session of billing, which' }],
      fault: { kind: 'cut', afterBytes: 900 },
    }));
    await expect(rig.investigator.diagnose(rig.work, TRIAGED)).rejects.toBeInstanceOf(InvestigatorFailed);
    expect(rig.said).toContainEqual(expect.stringContaining('The cause'));
    expect(rig.said.at(-1)).toBeNull();
  });

  it('is not blamed when a person stops it', async () => {
    rig = await startInvestigation([{ blocks: [{ text: 'half of it' }], holdBefore: 'of it' }]);
    const diagnosing = rig.investigator.diagnose(rig.work, TRIAGED).catch((error: unknown) => error);
    await rig.claude.held();
    rig.stop.abort(new Error('stopped by U1'));
    expect(await diagnosing).toMatchObject({ message: 'stopped by U1' });
  });

  it('proposes one plan at most, and none with a step that it was not offered', async () => {
    rig = await startInvestigation([
      {
        blocks: [
          { tool: 'drop_database', input: { target: 'shop-db', why: 'x' } },
          {
            tool: 'postgres_terminate_backend',
            input: { target: 'shop-db', pid: 1, backend_start: 'x', why: 'x' },
          },
        ],
      },
      { blocks: [{ tool: 'report_no_action', input: { reason: 'Nothing is safe.' } }] },
    ]);
    expect(await rig.investigator.plan(rig.work, DIAGNOSED)).toEqual({
      kind: 'none',
      reason: 'Claude proposes no action.',
      said: 'Nothing is safe.',
    });
    expect(rig.requests.map((request) => request.tool)).toEqual(['drop_database']);
  });
});
