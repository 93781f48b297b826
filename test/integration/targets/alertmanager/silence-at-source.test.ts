import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createUndo } from '../../../../src/actions/undo.ts';
import { parseTargets } from '../../../../src/config/targets.ts';
import type { Action } from '../../../../src/core/action.ts';
import type { IncidentId } from '../../../../src/core/ids.ts';
import type { Target } from '../../../../src/core/target.ts';
import { readFacts } from '../../../../src/escalation/read-facts.ts';
import { createSilencing, type Silencing } from '../../../../src/incidents/silence-at-source.ts';
import { createTurn } from '../../../../src/incidents/turn.ts';
import { isIdentifying } from '../../../../src/sources/fingerprint.ts';
import { alertmanager } from '../../../../src/targets/alertmanager/kind.ts';
import { host } from '../../../../src/targets/host/kind.ts';
import { connectSystems, type Systems, toTarget } from '../../../../src/targets/systems.ts';
import { boxAlert, boxTarget, type Core, createCore } from '../../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';
import {
  alertmanagerMissing,
  PROMETHEUS_USER,
  type Served,
  startAlertmanager,
} from '../../../support/prometheus.ts';
import { noDocs } from '../../../support/targets.ts';

const basic = `Basic ${Buffer.from(`${PROMETHEUS_USER.username}:${PROMETHEUS_USER.password}`).toString('base64')}`;

/** `/sentry silence`: a proposal with the incident's own labels, approved, run, seen to hold, and taken back. */
describe.skipIf(alertmanagerMissing() !== null)('an alert is silenced at its source', () => {
  let server: Served & { readonly url: string };
  let database: ScratchDatabase;
  let systems: Systems;
  let core: Core;
  let silencing: Silencing;
  const targets = new Map<string, Target>([['box', boxTarget]]);
  const never = new AbortController().signal;

  beforeAll(async () => {
    server = await startAlertmanager();
    const entry = {
      name: 'alerts-1',
      kind: 'alertmanager',
      environment: 'test',
      url: server.url,
      username: PROMETHEUS_USER.username,
      password_env: 'ALERTS_PASSWORD',
    };
    const kinds = [host, alertmanager];
    const env = { ALERTS_PASSWORD: PROMETHEUS_USER.password };
    const [config] = parseTargets({ targets: [entry] }, env, 'sentry.yaml', kinds);
    if (!config) throw new Error('no target');
    targets.set('alerts-1', toTarget(config));
    systems = connectSystems(kinds, [config], { ownPorts: [] });
    database = await scratchDatabase({ migrate: true });
    core = await createCore({
      url: database.url,
      tools: alertmanager.tools,
      approvers: [{ kind: 'user', id: 'UONCALL' }],
      judged: { holdMs: 100, timeoutMs: 5_000 },
      gate: { targets, ports: { ...systems, docs: noDocs }, identity: systems.identity },
    });
    silencing = createSilencing({
      ...core,
      targets,
      canSilence: ({ kind }) => kind === 'alertmanager',
      isIdentifying,
    });
  });
  afterAll(async () => {
    await core?.stop();
    await systems?.close();
    await database?.drop();
    await server?.stop();
  });

  async function fire(...alerts: ReadonlyArray<Readonly<Record<string, string>>>): Promise<void> {
    const answer = await fetch(`${server.url}/api/v2/alerts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: basic },
      body: JSON.stringify(alerts.map((labels) => ({ labels }))),
    });
    expect(answer.status).toBe(200);
  }

  /** What Alertmanager itself says of its alerts: `box suppressed`. */
  async function states(alertname: string): Promise<readonly string[]> {
    const answer = await fetch(`${server.url}/api/v2/alerts?filter=alertname=${alertname}`, {
      headers: { authorization: basic },
    });
    const alerts = (await answer.json()) as ReadonlyArray<{
      readonly labels: Readonly<Record<string, string>>;
      readonly status: { readonly state: string };
    }>;
    return alerts.map(({ labels, status }) => `${labels['instance']} ${status.state}`).toSorted();
  }

  async function incident(labels: Readonly<Record<string, string>>): Promise<IncidentId> {
    const { incidentId } = await core.accept(boxAlert({ name: labels['alertname'] ?? null, labels }));
    if (!incidentId) throw new Error('not accepted');
    await core.sql`UPDATE incident SET state = 'reported' WHERE id = ${incidentId}`;
    return incidentId;
  }

  /** Of a system that is not configured. */
  async function elsewhere(labels: Readonly<Record<string, string>>): Promise<IncidentId> {
    const id = await incident(labels);
    await core.sql`UPDATE incident SET target = NULL WHERE id = ${id}`;
    return id;
  }

  async function proposed(id: IncidentId): Promise<Action> {
    const action = (await core.records.load(id))?.actions.at(-1);
    if (!action) throw new Error('nothing was proposed');
    return action;
  }

  async function drive(id: IncidentId, isThere: () => Promise<boolean>, reason = 'test'): Promise<void> {
    const turn = createTurn(core);
    for (let turns = 0; turns < 200; turns += 1) {
      if (await isThere()) return;
      await turn(id, reason, (_, work) => work());
    }
    throw new Error(
      `still ${JSON.stringify((await core.records.load(id))?.actions.map(({ state, outcome }) => [state, outcome]))}`,
    );
  }

  test('by a proposal that names it, for as long as was asked, and Undo has it notify again', async () => {
    const labels = { alertname: 'DiskFull', instance: 'orders-db', severity: 'warning', prometheus: 'a/b' };
    await fire(labels, { ...labels, instance: 'other-db' });
    const id = await incident(labels);
    expect(await silencing.ask(`${id} 2h`, 'UASKS', null)).toMatchObject({ ok: true });
    const action = await proposed(id);
    expect(action).toMatchObject({
      state: 'proposed',
      target: 'alerts-1',
      purpose: 'prevent',
      requestedBy: 'UASKS',
      autonomousAt: null,
      // What only says who noticed it is not among them.
      input: {
        labels: { alertname: 'DiskFull', instance: 'orders-db', severity: 'warning' },
        minutes: 120,
        incident: id,
      },
    });
    expect(action.preflight).toContain('silences the 1 alert with these labels that fires now, 0 others');
    expect(await states('DiskFull')).toEqual(['orders-db active', 'other-db active']);

    const { planHash } = action;
    const click = { actionId: action.id, planHash, by: 'UONCALL', reason: '', anotherWay: false } as const;
    expect(await core.approvals.decide({ ...click, decision: 'approve' })).toMatchObject({ ok: true });
    await drive(id, async () => (await core.records.incident(id))?.verdict === 'done');
    expect(await states('DiskFull')).toEqual(['orders-db suppressed', 'other-db active']);
    expect((await core.records.incident(id))?.state).toBe('reported');

    // Nobody is called while it lasts, and somebody is once it does not.
    const until = async () => {
      const silence = (await core.sql.begin((tx) => readFacts(tx, id)))?.facts.silence;
      return silence && Math.round((silence.until.getTime() - Date.now()) / 60_000);
    };
    expect(await until()).toBe(120);

    const undo = createUndo({ ...core, ...core.gateDeps, shutdown: never });
    const ran = await core.records.action(action.id);
    expect(ran && undo.can(ran)).toBe(true);
    expect(await undo.press({ actionId: action.id, planHash, by: 'UONCALL' })).toMatchObject({ ok: true });
    await drive(
      id,
      async () => (await proposed(id)).state === 'succeeded' && (await proposed(id)).undoes !== null,
      'undo',
    );
    expect(await states('DiskFull')).toEqual(['orders-db active', 'other-db active']);
    expect(await until()).toBeCloseTo(0);
  });

  test('with what says how bad it is, whatever that is called', async () => {
    const labels = { alertname: 'Slow', instance: 'orders-db', priority: 'P3' };
    await fire(labels);
    const id = await incident(labels);
    expect(await silencing.ask(`${id} 2h`, 'UASKS', null)).toMatchObject({ ok: true });
    expect((await proposed(id)).input).toMatchObject({ labels: { ...labels, severity: '' } });
  });

  test('an undo says so when somebody has ended the silence at Alertmanager meanwhile', async () => {
    const labels = { alertname: 'HighLoad', instance: 'orders-db', severity: 'warning' };
    await fire(labels);
    const id = await incident(labels);
    await silencing.ask('30m at alerts-1', 'UASKS', id);
    const action = await proposed(id);
    const { planHash } = action;
    const click = { actionId: action.id, planHash, by: 'UONCALL', reason: '', anotherWay: false } as const;
    await core.approvals.decide({ ...click, decision: 'approve' });
    await drive(id, async () => (await core.records.incident(id))?.verdict === 'done');
    const headers = { authorization: basic };
    const list = await fetch(`${server.url}/api/v2/silences`, { headers });
    const silences = (await list.json()) as ReadonlyArray<{ readonly id: string; readonly comment: string }>;
    const own = silences.find(({ comment }) => comment.startsWith(`${id}:`));
    await fetch(`${server.url}/api/v2/silence/${own?.id}`, { method: 'DELETE', headers });
    const undo = createUndo({ ...core, ...core.gateDeps, shutdown: never });
    expect(await undo.press({ actionId: action.id, planHash, by: 'UONCALL' })).toMatchObject({
      ok: false,
      reason: expect.stringContaining('ended'),
    });
  });

  test.each([
    ['', 'UNKNOWN_INCIDENT'],
    ['INC-999999 2h', 'UNKNOWN_INCIDENT'],
    ['soon', 'BAD_TIME'],
    ['2h at nowhere', 'UNKNOWN_TARGET'],
    ['2h please', 'UNKNOWN_TARGET'],
    ['25h', 'TOO_LONG'],
  ])('“%s” asks for nothing: %s', async (text, code) => {
    const id = await incident({
      alertname: `Odd${code}${text.length}`,
      instance: 'box',
      severity: 'warning',
    });
    const answer = await silencing.ask(text, 'UASKS', text === '' ? null : id);
    expect(answer).toMatchObject({ ok: false, code });
    expect((await core.records.load(id))?.actions).toEqual([]);
    expect((await core.records.incident(id))?.state).toBe('reported');
  });

  test('at that of its environment, where several are declared, and at none where that is not clear', async () => {
    const own = targets.get('alerts-1');
    if (!own) throw new Error('no target');
    targets.set('alerts-2', { ...own, name: 'alerts-2', environment: 'staging' });
    try {
      const labels = { alertname: 'Which', instance: 'elsewhere', severity: 'warning' };
      await fire(labels, { ...labels, env: 'test' });
      const unclear = await silencing.ask('2h', 'UASKS', await elsewhere(labels));
      expect(unclear).toMatchObject({ ok: false, code: 'UNKNOWN_TARGET' });
      expect(unclear.ok ? '' : unclear.reason).toMatch(/not clear.*alerts-1, alerts-2/s);
      const strange = await elsewhere({ ...labels, env: 'moon' });
      expect(await silencing.ask('2h', 'UASKS', strange)).toMatchObject({ code: 'UNKNOWN_TARGET' });
      const id = await elsewhere({ ...labels, deployment_environment: 'TEST' });
      // It is asked there, where nothing carries a label as it is written here.
      expect(await silencing.ask('2h', 'UASKS', id)).not.toMatchObject({ code: 'UNKNOWN_TARGET' });
      const here = await elsewhere({ ...labels, env: 'test' });
      expect(await silencing.ask('2h', 'UASKS', here)).toMatchObject({ ok: true });
      expect((await proposed(here)).target).toBe('alerts-1');
    } finally {
      targets.delete('alerts-2');
    }
  });

  test('at none where nothing with its labels fires', async () => {
    const id = await incident({ alertname: 'OverThere', instance: 'box', severity: 'warning' });
    const answer = await silencing.ask('2h', 'UASKS', id);
    expect(answer).toMatchObject({ ok: false });
    expect(answer.ok ? '' : answer.reason).toMatch(
      /^Nothing was asked for\. .*No alert with these labels fires/s,
    );
    expect((await core.records.load(id))?.actions).toEqual([]);
    expect((await core.records.incident(id))?.state).toBe('reported');
  });

  test('an incident that is at work, and one whose alert has no name, are left alone', async () => {
    const nameless = await incident({ instance: 'box', severity: 'warning' });
    expect(await silencing.ask('2h', 'UASKS', nameless)).toMatchObject({ ok: false, code: 'NO_LABELS' });
    const busy = await incident({ alertname: 'Busy', instance: 'box', severity: 'warning' });
    await core.sql`UPDATE incident SET state = 'diagnosing' WHERE id = ${busy}`;
    expect(await silencing.ask('2h', 'UASKS', busy)).toMatchObject({ ok: false, code: 'AT_WORK' });
  });
});
