import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type PagingScore, scorePaging } from '../../evals/paging/score.ts';
import type { Deed, Fired, Found, Situation } from '../../evals/paging/situations.ts';
import type { Investigator } from '../../src/agents/ports.ts';
import type { Alert } from '../../src/core/alert.ts';
import type { IncidentId } from '../../src/core/ids.ts';
import type { Json } from '../../src/core/tool-call.ts';
import { deliverPages, pageQueues } from '../../src/escalation/deliver-pages.ts';
import { dueIncidents } from '../../src/escalation/due-incidents.ts';
import { createEscalation, type EscalationDeps } from '../../src/escalation/escalation.ts';
import type { Ladder } from '../../src/escalation/ladder.ts';
import { alertSource } from '../../src/sources/registry.ts';
import { defineActiveTool, defineReadTool, type Tool } from '../../src/tools/define.ts';
import { slackAlert } from './alerts.ts';
import { boxInvestigator, boxIsBroken, type Core, createCore, findsNothing } from './core.ts';
import { bell, oncall } from './escalation-scene.ts';
import { scratchDatabase } from './postgres.ts';
import { quiet } from './quiet.ts';
import { scratchDir } from './scratch-dir.ts';
import { waitFor } from './wait-for.ts';

const MINUTE = 60_000;
/** After its last alert nothing happens for so long: whoever is needed has been called by then. */
const AFTERWARDS = 45;
const APPROVAL_MINUTES = 30;

/** As docs/escalation.md shows it. */
const ladder: Ladder = {
  levels: [
    { afterMs: 0, mention: oncall, page: [] },
    { afterMs: 5 * MINUTE, mention: [], page: ['pd'] },
  ],
  reasons: ['unsolved', 'unacknowledged', 'approval_expiry', 'failed_verification'],
  unacknowledgedMs: 15 * MINUTE,
  approvalExpiryMs: 5 * MINUTE,
  quietHours: [],
};

const POLICY = `
rules: [{ name: everything }]
effort:
  - { match: 'job="batch"', effort: none }
`;

/** Things by their names: whether they are broken. */
type Things = Map<string, boolean>;

function thingTools(things: Things): readonly Tool[] {
  const isBroken = (thing: string): boolean => things.get(thing) ?? true;
  return [
    defineReadTool({
      name: 'box_state',
      description: 'Says whether a thing is broken.',
      kind: 'read',
      domain: 'postgres',
      measures: [boxIsBroken],
      input: z.strictObject({ thing: z.string() }),
      timeoutMs: 10_000,
      run: async (_, { thing }) => ({
        text: `broken: ${isBroken(thing)}`,
        data: { broken: isBroken(thing) },
      }),
    }),
    defineActiveTool<{ thing: string; helps: boolean }, Json>({
      name: 'box_mend',
      description: 'Mends a thing.',
      kind: 'active',
      verbs: { does: 'Mend', did: 'Mended', button: 'Mend it' },
      domain: 'postgres',
      input: z.strictObject({ thing: z.string(), helps: z.boolean() }),
      timeoutMs: 10_000,
      command: ({ thing }) => `mend ${thing}`,
      preflight: async (_, { thing }) => ({
        guard: { thing },
        clock: null,
        lines: [`broken: ${isBroken(thing)}`],
        blastRadius: thing,
        undo: 'break it again',
        risk: 'low',
      }),
      objects: ({ thing }) => [{ kind: 'box', key: thing, label: thing }],
      run: async (_, { thing, helps }) => {
        if (helps) things.set(thing, false);
        return { kind: 'succeeded', text: 'mended' };
      },
      look: async () => 'done',
      effect: ({ thing }) => ({
        steps: [{ tool: 'box_state', input: { thing }, holds: '!result.broken', says: 'it is whole' }],
        holdMs: 100,
        timeoutMs: 600,
      }),
    }),
  ];
}

const foundIn = ({ labels }: { readonly labels: Readonly<Record<string, string>> }): Found =>
  (labels['found'] ?? 'none') as Found;
const thingOf = ({ labels }: { readonly labels: Readonly<Record<string, string>> }): string =>
  labels['instance'] ?? '';

/** Finds what the situation says that there is to find. */
const investigator: Investigator = {
  ...boxInvestigator,
  async diagnose(work) {
    const found = foundIn(work.incident);
    const input = { thing: thingOf(work.incident) };
    const seen = await work.durably('look', () =>
      work.callTool({ tool: 'box_state', target: work.incident.target, input }),
    );
    if (found === 'none') return findsNothing;
    const isBroken = seen.kind === 'ok' && (seen.data as { broken: boolean }).broken;
    return {
      ...findsNothing,
      verdict: isBroken ? 'cause_found' : 'healthy',
      rootCause: isBroken ? 'It is broken.' : 'Nothing is wrong.',
      category: isBroken ? 'broken_box' : null,
      confidence: 0.97,
      evidence: [{ claim: 'It says so.', toolCallIds: [seen.toolCallId], quote: `broken: ${isBroken}` }],
      remedy: isBroken ? 'Mend it.' : null,
    };
  },
  async plan(work) {
    const input = { thing: thingOf(work.incident), helps: foundIn(work.incident) === 'helps' };
    const proposed = await work.durably('propose', () =>
      work.callTool({
        tool: 'box_mend',
        target: work.incident.target,
        input,
        proposal: { why: 'It mends it.', runbookId: null, verify: null },
      }),
    );
    return proposed.kind === 'proposed'
      ? { kind: 'proposed', actionId: proposed.actionId }
      : { kind: 'none', reason: proposed.kind === 'ok' ? 'not active' : proposed.reason };
  },
};

/** What is on record, and the engine's delays, become older by a minute: so time passes without waiting for it. */
async function passMinute({ sql }: Core): Promise<void> {
  const columns = await sql<{ readonly table: string; readonly name: string; readonly array: boolean }>`
    SELECT c.table_name AS table, c.column_name AS name, c.data_type = 'ARRAY' AS array
      FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
     WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' AND c.is_generated = 'NEVER'
       AND c.udt_name IN ('timestamptz', '_timestamptz') AND left(c.table_name, 1) <> '_'`;
  const sets = new Map<string, string[]>();
  for (const { table, name, array } of columns)
    sets.set(table, [
      ...(sets.get(table) ?? []),
      array
        ? `"${name}" = ARRAY(SELECT t - interval '1 minute' FROM unnest("${name}") AS t)`
        : `"${name}" = "${name}" - interval '1 minute'`,
    ]);
  const statements = [...sets].map(([table, set]) => `UPDATE "${table}" SET ${set.join(', ')}`);
  const body = [
    // Nothing changes but its age: nobody is told.
    'SET LOCAL session_replication_role = replica',
    ...statements,
    `UPDATE dbos.workflow_status SET delay_until_epoch_ms = delay_until_epoch_ms - ${MINUTE}, created_at = created_at - ${MINUTE} WHERE status = 'DELAYED'`,
  ].join('; ');
  await sql.begin(async (tx) => {
    await tx`SELECT sentry_test_run(${body})`;
  });
}

/** Every turn that is due has ended. */
async function idle({ sql }: Core): Promise<void> {
  await waitFor(
    'the turns to end',
    async () => {
      const rows = await sql`
        SELECT 1 FROM dbos.workflow_status WHERE status IN ('ENQUEUED', 'PENDING')
            OR status = 'DELAYED' AND delay_until_epoch_ms <= extract(epoch FROM clock_timestamp()) * 1000 + 2000 LIMIT 1`;
      return rows.length === 0;
    },
    { timeoutMs: 120_000 },
  );
}

/** What Alertmanager posts of one alert, or of one of a group. */
function delivery({ labels, group }: Fired, status: 'firing' | 'resolved', startsAt: Date): object {
  const { found: _found, ...shown } = labels;
  const groupLabels = group === undefined ? labels : { alertname: labels['alertname'] ?? '' };
  return {
    version: '4',
    receiver: 'sentry',
    status,
    groupKey: `{}:${JSON.stringify(groupLabels)}`,
    truncatedAlerts: 0,
    groupLabels,
    commonLabels: shown,
    commonAnnotations: {},
    externalURL: 'http://alertmanager:9093',
    alerts: [
      {
        status,
        labels,
        annotations: { summary: `${labels['alertname']} fires` },
        startsAt: startsAt.toISOString(),
        endsAt: status === 'resolved' ? new Date().toISOString() : '0001-01-01T00:00:00Z',
        generatorURL: 'http://prometheus:9090/graph?g0.expr=x',
      },
    ],
  };
}

async function readDelivery(...args: Parameters<typeof delivery>): Promise<Alert> {
  const read = await alertSource('alertmanager').read(delivery(...args), { receivedAt: new Date() });
  if (!read.ok || !read.alerts[0]) throw new Error(JSON.stringify(read));
  return { ...read.alerts[0], target: 'box', deliveryKey: `${Math.random()}` };
}

/** As its default template writes it. */
function message({ labels }: Fired, status: 'firing' | 'resolved'): Alert {
  const { alertname = '', ...others } = labels;
  const values = Object.entries(others)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, value]) => value);
  const title = `[${status === 'firing' ? 'FIRING:1' : 'RESOLVED'}]  (${[alertname, ...values].join(' ')})`;
  return slackAlert({
    username: 'Alertmanager',
    text: '',
    attachments: [{ title, fallback: `${title} | <http://alertmanager:9093/#/alerts?receiver=sentry>` }],
  });
}

/** Plays all situations at once through accepting, turns, mutes and calls, a minute at a time, and says who was paged. */
export async function playPaging(all: readonly Situation[]): Promise<PagingScore> {
  const database = await scratchDatabase({ migrate: true });
  const things: Things = new Map();
  const begun = Date.now() - 12 * 3_600_000;
  const policyPath = join(scratchDir(), 'paging-policy.yaml');
  writeFileSync(policyPath, POLICY);
  const core = await createCore({
    url: database.url,
    tools: thingTools(things),
    investigator,
    policyPath,
    approvalMinutes: APPROVAL_MINUTES,
    windows: () => [
      {
        matcher: 'job="upgrade"',
        reason: 'upgrade',
        when: { from: new Date(begun).toISOString(), to: new Date(begun + 24 * 3_600_000).toISOString() },
      },
    ],
  });
  try {
    return await play(core, all, things);
  } finally {
    await core.stop();
    await database.drop();
  }
}

async function play(core: Core, all: readonly Situation[], things: Things): Promise<PagingScore> {
  const { sql } = core;
  await sql`CREATE FUNCTION sentry_test_run(body text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN EXECUTE body; END $$`;
  await core.start();
  const pager = bell();
  const deps: EscalationDeps = {
    sql,
    records: core.records,
    ladder,
    pagers: new Map([['pd', pager]]),
    schedules: new Map(),
    slack: { groupId: async () => 'SONCALL', userByEmail: async () => null, name: async (id) => id },
    fallback: oncall,
    contentOf: async () => ({ severity: 'critical', target: 'box', evidence: ['seen'], url: null }),
    counted: () => undefined,
    log: quiet,
  };
  const escalation = createEscalation(deps);
  const incidents = new Map<IncidentId, string>();
  const pages = new Map<string, number[]>();
  const mutes = new Map<string, string>();
  const begins = new Map(all.map(({ id }, n) => [id, n % 10]));
  const last = Math.max(
    ...all.map(({ id, steps }) => (begins.get(id) ?? 0) + Math.max(...steps.map(({ at }) => at))),
  );
  /** When an alert began, by this process's clock and in minutes played. */
  const started = new Map<
    string,
    { readonly real: number; readonly minute: number; readonly over: boolean }
  >();
  let minute = 0;

  async function take(situation: Situation, alert: Alert): Promise<void> {
    const { incidentId } = await core.accept(alert);
    if (incidentId !== null) incidents.set(incidentId, situation.id);
  }
  function startOf(alert: Fired, isAgain: boolean): Date {
    const key = JSON.stringify(alert.labels);
    const known = started.get(key);
    const begins = known && !(isAgain && known.over) ? known : { real: Date.now(), minute, over: false };
    started.set(key, begins);
    return new Date(begins.real - (minute - begins.minute) * MINUTE);
  }
  const incidentsOf = (situation: Situation): readonly IncidentId[] =>
    [...incidents].filter(([, id]) => id === situation.id).map(([id]) => id);

  async function doIt(situation: Situation, deed: Deed): Promise<void> {
    switch (deed.kind) {
      case 'fires':
        return take(situation, await readDelivery(deed.alert, 'firing', startOf(deed.alert, true)));
      case 'ends': {
        const start = startOf(deed.alert, false);
        const key = JSON.stringify(deed.alert.labels);
        started.set(key, { real: start.getTime(), minute, over: true });
        things.set(deed.alert.labels['instance'] ?? '', false);
        return take(situation, await readDelivery(deed.alert, 'resolved', start));
      }
      case 'message':
        return take(situation, message(deed.alert, deed.status));
      case 'mutes': {
        const said = await core.mutes.mute(`${deed.matcher} ${deed.minutes}m`, 'UONCALL');
        const [, id] = (said.ok && /\((M\d+)\)/.exec(said.text)) || [];
        if (id === undefined) throw new Error(JSON.stringify(said));
        mutes.set(situation.id, id);
        return;
      }
      case 'unmutes':
        await core.mutes.unmute(mutes.get(situation.id) ?? '', 'UONCALL');
        return;
      case 'approves':
      case 'takes':
      case 'gives back':
      case 'writes':
        for (const id of incidentsOf(situation)) await asPerson(id, deed.kind);
    }
  }
  async function asPerson(
    id: IncidentId,
    what: 'approves' | 'takes' | 'gives back' | 'writes',
  ): Promise<void> {
    if (what === 'takes') await escalation.take(id, 'UONCALL');
    if (what === 'gives back') await escalation.release(id, 'UONCALL');
    if (what === 'writes') await escalation.wrote(id, 'UONCALL');
    if (what !== 'approves') return;
    const action = (await core.records.load(id))?.actions.findLast(({ state }) => state === 'proposed');
    if (!action) throw new Error(`${id} has nothing to approve`);
    const said = await core.approvals.decide({
      actionId: action.id,
      planHash: action.planHash,
      by: 'UONCALL',
      decision: 'approve',
      reason: '',
      anotherWay: false,
    });
    if (!said.ok) throw new Error(JSON.stringify(said));
    await core.engine.enqueueTurn(id, 'decided');
  }
  async function call(): Promise<void> {
    for (let round = 0; round < 3; round += 1) {
      const due = await dueIncidents(sql, true);
      if (due.length === 0) break;
      for (const id of due) await escalation.look(id);
    }
    const before = pager.pages.length;
    for (const queue of pageQueues(deps.pagers))
      await deliverPages(deps, queue, new AbortController().signal);
    for (const { dedupKey } of pager.pages.slice(before)) {
      const [id] =
        [...incidents].find(([each]) => dedupKey === each || dedupKey.startsWith(`${each}-`)) ?? [];
      const situation = id && incidents.get(id);
      if (situation === undefined) throw new Error(`a page of nothing: ${dedupKey}`);
      pages.set(situation, [...(pages.get(situation) ?? []), minute - (begins.get(situation) ?? 0)]);
    }
  }

  for (; minute <= last + AFTERWARDS; minute += 1) {
    for (const situation of all)
      for (const { at, does } of situation.steps)
        if (at + (begins.get(situation.id) ?? 0) === minute) {
          if (['approves', 'takes', 'writes'].includes(does.kind)) await idle(core);
          await doIt(situation, does);
        }
    await core.mutes.look();
    await idle(core);
    await call();
    await idle(core);
    await passMinute(core);
  }
  return scorePaging(all, pages);
}
