import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sql } from 'postgres';
import { clientSession, leaveRunning } from '../../../playground/faults/postgres/client-session.ts';
import { type Shop, startShop } from '../../../playground/faults/postgres/shop.ts';
import { until } from '../../../playground/faults/until.ts';
import type { ExecutionResult } from '../../../src/actions/ledger/execution.ts';
import { loadConfig } from '../../../src/config/config.ts';
import type { Action } from '../../../src/core/action.ts';
import type { DenialReach } from '../../../src/core/denial.ts';
import { asActionId, type IncidentId } from '../../../src/core/ids.ts';
import type { Target } from '../../../src/core/target.ts';
import type { Json, ToolCallResult } from '../../../src/core/tool-call.ts';
import { redact, redactJson } from '../../../src/safety/screen/redact.ts';
import { allTools } from '../../../src/targets/all-tools.ts';
import { localAccess } from '../../../src/targets/host/connect/local-access.ts';
import type { AnyTool } from '../../../src/tools/define.ts';
import { createRegistry } from '../../../src/tools/registry.ts';
import { blame } from '../../support/blamed.ts';
import { boxAlert, type Core, createCore } from '../../support/core.ts';
import { layDatabase } from '../../support/made-databases.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { quiet } from '../../support/quiet.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import { createHostTargets, createPostgresTargets, noSystems } from '../../support/targets.ts';
import type { Row } from '../../support/typed.ts';
import { type ScratchHost, scratchHost } from '../targets/host/host-rig.ts';

const never = new AbortController().signal;

/** A real server and a real host, each under two names, and the real tools, gate and ledger on them. */
export interface DenialsRig {
  readonly shop: Shop;
  readonly host: ScratchHost;
  readonly database: ScratchDatabase;
  /** The first process. */
  readonly core: Core;
  /** One more process of the same deployment, ended with the rig. */
  another(tools?: readonly AnyTool[]): Promise<Core>;
  incident(target?: string): Promise<IncidentId>;
  /** What the surgeon of an incident gets for a call. */
  call(incident: IncidentId, call: Call, core?: Core): Promise<ToolCallResult>;
  /** The proposal of a new incident. */
  propose(call: Call, core?: Core): Promise<Action>;
  /** The steps of a new incident's plan, as a runbook would ask for it. */
  plan(calls: readonly Call[]): Promise<readonly Action[]>;
  approve(action: Action, core?: Core): Promise<void>;
  deny(
    action: Action,
    /** Left out: as it is when nobody says more. */
    reach: DenialReach | undefined,
    options?: { readonly by?: string; readonly core?: Core },
  ): Promise<string>;
  execute(action: Action, core?: Core): Promise<ExecutionResult>;
  now(action: Action): Promise<Action>;
  /** A client's session that runs a statement for as long as the rig lives. */
  busySession(application: string): Promise<{ readonly pid: number; readonly backend_start: string }>;
  isAlive(pid: number): Promise<boolean>;
  stop(): Promise<void>;
}

export interface Call {
  readonly tool: string;
  readonly target: string;
  readonly input: Json;
}

export const OLIVIA = 'UOLIVIA';
export const NOAH = 'UNOAH';

export async function startDenialsRig(): Promise<DenialsRig> {
  const folder = scratchDir();
  await layDatabase('shop', folder);
  const shop = await startShop(folder, quiet);
  const host = scratchHost('web-1');
  host.start();
  mkdirSync(join(host.dir, 'app', 'conf.d'));
  writeFileSync(join(host.dir, 'app', 'conf.d', 'pool.conf'), 'pool=4\n');
  // A second way to the same folder, as a release link is one.
  symlinkSync(join(host.dir, 'app'), join(host.dir, 'current'));
  const database = await scratchDatabase({ migrate: true });
  const server = {
    kind: 'postgres',
    environment: 'test',
    aliases: [],
    readUrl: shop.readUrl,
    actUrl: shop.actUrl,
  } as const;
  const postgres = createPostgresTargets([
    { name: 'shop-db', ...server },
    { name: 'checkout-db', ...server },
  ]);
  const [worker] = host.config.services;
  if (worker?.kind !== 'command') throw new Error('the host has no service');
  // Under its second name the service is called otherwise and started by other words; its pid file is the same.
  const jobs = { ...worker, name: 'jobs', restart: [...worker.restart, 'again'] as const };
  const hosts = createHostTargets(
    [
      host.config,
      {
        ...host.config,
        name: 'web-2',
        roots: [{ path: join(host.dir, 'current'), patch: true }],
        services: [jobs],
      },
    ],
    {
      access: localAccess,
      deniedPorts: [loadConfig({}).http.port],
      steadySeconds: 0.3,
    },
  );
  const isHost = (name: string): boolean => name.startsWith('web-');
  const target = (name: string): Target => ({
    name,
    kind: isHost(name) ? 'host' : 'postgres',
    domain: isHost(name) ? 'docker' : 'postgres',
    environment: 'test',
    aliases: [],
  });
  const names = ['shop-db', 'checkout-db', 'web-1', 'web-2'];
  const cores: Core[] = [];
  const another = async (tools: readonly AnyTool[] = allTools): Promise<Core> => {
    const core = await createCore({
      url: database.url,
      tools: [],
      approvers: [OLIVIA, NOAH].map((id) => ({ kind: 'user', id }) as const),
      dataDir: scratchDir(),
      gate: {
        registry: createRegistry(tools),
        targets: new Map(names.map((name) => [name, target(name)])),
        ports: {
          ...noSystems,
          system: (name) => (isHost(name) ? hosts : postgres).system(name),
        },
        identity: async (name) => (isHost(name) ? hosts : postgres).identity(name),
        redact,
        redactJson: (value: Json) => redactJson(value),
      },
    });
    cores.push(core);
    return core;
  };
  const core = await another();
  const clients: Sql[] = [];

  const rig: DenialsRig = {
    shop,
    host,
    database,
    core,
    another,
    async incident(name = 'shop-db') {
      const { incidentId } = await core.accept(boxAlert({ target: name }));
      if (incidentId === null) throw new Error('no incident');
      return incidentId;
    },
    async call(incidentId, call, by = core) {
      await blame(by, incidentId, call.input, call.target.startsWith('web-') ? 'host' : 'postgres');
      const credential = by.vault.mint({ role: 'surgeon', incidentId, targets: [call.target] });
      return by.gate.call(credential, call, { signal: never });
    },
    async propose(call, by = core) {
      const result = await rig.call(await rig.incident(call.target), call, by);
      if (result.kind !== 'proposed') throw new Error(JSON.stringify(result));
      const action = await core.records.action(asActionId(result.actionId));
      if (!action) throw new Error('no action');
      return action;
    },
    async plan([first, ...later]) {
      if (!first) throw new Error('no step');
      const { tool, target, input } = first;
      const incidentId = await rig.incident(target);
      const andThen = later.map((step) => ({ tool: step.tool, input: step.input, why: 'It belongs to it.' }));
      const inputs = [input, ...later.map((step) => step.input)];
      await blame(core, incidentId, inputs, target.startsWith('web-') ? 'host' : 'postgres');
      const result = await core.gate.call(
        core.vault.mint({ role: 'surgeon', incidentId, targets: [target] }),
        { tool, target, input, proposal: { why: 'It helps.', runbookId: 'box', verify: null, andThen } },
        { signal: never },
      );
      if (result.kind !== 'proposed') throw new Error(JSON.stringify(result));
      return core.records.plan(asActionId(result.actionId));
    },
    async approve(action, by = core) {
      const decided = await by.approvals.decide({
        actionId: action.id,
        planHash: action.planHash,
        by: NOAH,
        decision: 'approve',
        reason: '',
        anotherWay: false,
      });
      if (!decided.ok) throw new Error(decided.reason);
    },
    async deny(action, reach, options = {}) {
      const decided = await (options.core ?? core).approvals.decide({
        actionId: action.id,
        planHash: action.planHash,
        by: options.by ?? OLIVIA,
        decision: 'deny',
        reason: 'I am working there',
        anotherWay: false,
        ...(reach ? { reach } : {}),
      });
      if (!decided.ok) throw new Error(decided.reason);
      const [row] = await core.sql<Row>`SELECT id FROM denial WHERE action_id = ${action.id}`;
      return String(row?.['id']);
    },
    execute: async (action, by = core) =>
      by.gate.execute(
        await rig.now(action),
        { claimed: async () => undefined, released: async () => undefined, ended: async () => undefined },
        never,
      ),
    async now(action) {
      const found = await core.records.action(action.id);
      if (!found) throw new Error(`no action ${action.id}`);
      return found;
    },
    async busySession(application) {
      const client = clientSession(shop.appUrl, application);
      clients.push(client);
      leaveRunning(client, 'SELECT pg_sleep(3600)');
      const find = () => shop.admin`
        SELECT pid, to_char(backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS backend_start
          FROM pg_stat_activity WHERE application_name = ${application} AND query LIKE '%pg_sleep%' AND state = 'active'`;
      await until(`${application} to run`, async () => (await find()).length > 0);
      const [row] = await find();
      return { pid: Number(row?.['pid']), backend_start: String(row?.['backend_start']) };
    },
    isAlive: async (pid) => (await shop.admin`SELECT FROM pg_stat_activity WHERE pid = ${pid}`).length > 0,
    async stop() {
      await Promise.all(clients.map((client) => client.end({ timeout: 0 })));
      host.stop();
      for (const each of cores) await each.stop();
      await postgres.close();
      await shop.stop();
      await database.drop();
    },
  };
  return rig;
}
