import type { Investigator } from '../../src/agents/ports.ts';
import { createLooks } from '../../src/changes/looks/looks.ts';
import { readLooks } from '../../src/changes/looks/read-looks.ts';
import { createRecordPush } from '../../src/changes/pushed-commits.ts';
import { createRecordChange } from '../../src/changes/record-change.ts';
import { createWhatChanged } from '../../src/changes/what-changed.ts';
import { OpsError } from '../../src/core/errors.ts';
import type { Incident } from '../../src/core/incident.ts';
import type { Inventory } from '../../src/core/inventory.ts';
import type { Log } from '../../src/core/log.ts';
import type { Sql } from '../../src/core/sql.ts';
import type { Target } from '../../src/core/target.ts';
import { createHttpServer } from '../../src/http/server.ts';
import { webhookRoutes } from '../../src/http/webhook-route.ts';
import { readChangesSubject } from '../../src/incidents/changes-around.ts';
import type { InvestigationDeps } from '../../src/incidents/deps.ts';
import { createAccept } from '../../src/ingest/accept.ts';
import { createRecords, type IncidentRecords } from '../../src/record/record.ts';
import type { Runbook } from '../../src/runbooks/runbook.ts';
import { allTools } from '../../src/targets/all-tools.ts';
import { domainOfLabels } from '../../src/targets/domains.ts';
import { kinds } from '../../src/targets/kinds.ts';
import { changesTools } from '../../src/tools/changes/changes-tools.ts';
import type { ChangesPort } from '../../src/tools/changes/ports.ts';
import type { AnyTool, ChangesTool, Tool } from '../../src/tools/define.ts';
import { createRegistry } from '../../src/tools/registry.ts';
import { openRecordedDeps } from '../recovery/recorded-deps.ts';
import { createRecordedSystem } from '../recovery/recorded-system.ts';
import type { RecoveryCase } from '../recovery/recovery-case.ts';
import { incidentOf } from '../replay/incident-of.ts';
import { kindOfDomain } from '../replay/kind-of-domain.ts';
import type { Scenario } from '../replay/scenario.ts';
import type { Situation } from './situation.ts';
import type { Ways } from './tell.ts';

/** Who investigates, made for one scene. */
export interface Who {
  readonly name: string;
  make(on: {
    readonly tools: readonly AnyTool[];
    readonly target: Target;
    readonly records: IncidentRecords;
  }): { readonly playbook: Investigator; readonly claude: Investigator | null };
}

/** One incident's Sentry: its own record, the recorded system behind the real tools, and the real way in. */
export interface Scene extends Ways {
  readonly deps: InvestigationDeps;
  readonly target: Target;
  /** As its alert will open it. */
  readonly incident: Incident;
  close(): Promise<void>;
}

export interface SceneOptions {
  readonly situation: Situation;
  readonly scenario: Scenario;
  readonly who: Who;
  readonly runbooks: readonly Runbook[];
  readonly sql: Sql;
  /** By the record's clock, ms since the epoch. */
  readonly now: () => number;
  readonly log: Log;
}

export async function openScene(options: SceneOptions): Promise<Scene> {
  const { situation, scenario, who, runbooks, sql, log } = options;
  const incident = incidentOf(scenario, options.now());
  const kind = kindOfDomain(
    incident.domain,
    scenario.tool_outputs.map(({ tool }) => tool),
  );
  const { aliases, neighbours, changes_from: changesFrom } = situation.target;
  const plain = { kind: kind.name, domain: incident.domain ?? 'docker', environment: 'production' } as const;
  const target: Target = {
    ...plain,
    name: incident.target ?? 'recorded-system',
    aliases,
    neighbours,
    // Recorded alerts name some systems by labels that only their own configuration knows.
    alerts: [{ labels: { alertname: incident.alertName ?? '*' } }],
    ...(changesFrom === undefined ? {} : { changesFrom }),
  };
  const targets = [target, ...neighbours.map((name): Target => ({ ...plain, name, aliases: [] }))];
  const system = createRecordedSystem(NOTHING_MORE, {
    tools: allTools,
    recorded: () => scenario.tool_outputs,
    now: options.now,
  });
  // What a system declares of itself is its configuration, which no recording has: rules would have nothing to go by.
  const recorded = system.tools.map(({ rules: _rules, ...tool }): Tool => tool);
  const tools: readonly AnyTool[] = [...recorded, ...changesTools];
  const records = createRecords(sql);
  const byName = new Map(targets.map((one) => [one.name, one]));
  const record = createRecordChange(sql);
  let inventory: Inventory = { items: [], unread: [] };
  const looks = createLooks({
    nameOf: async () => null,
    sql,
    targets: new Map([[target.name, target]]),
    read: async () => ({ system: 'recorded', inventory }),
    record,
    log,
  });
  const changes = createWhatChanged({
    sql,
    subjectOf: (id) => readChangesSubject({ sql, records, targets: byName }, id),
    looks: { now: looks.lookNow, read: readLooks },
  });
  const { deps, shutdown, close } = await openRecordedDeps({
    sql,
    records,
    kind,
    targets: byName,
    registry: createRegistry<Tool | ChangesTool>([...recorded, ...changesTools]),
    changes: situation.broken ? broken : changes,
    runbooks,
    people: ['U0FIRST'],
    investigators: who.make({ tools, target, records }),
    confirmation: { sourceWaitMs: 0, holdMs: 0, timeoutMs: 0 },
    log,
  });
  const http = createHttpServer({
    host: '127.0.0.1',
    port: 0,
    routes: webhookRoutes({
      accept: createAccept(sql, targets, domainOfLabels(kinds)),
      recordChange: record,
      recordPush: createRecordPush(sql),
      secret: null,
      ownSecrets: new Map(),
      log,
    }),
    log,
  });
  const { port } = await http.listen();
  return {
    deps,
    target,
    incident,
    record,
    async lookAt(at, items, empty = []) {
      inventory = { items, empty, unread: [] };
      await setClock(sql, Math.min(at, options.now()));
      await looks.lookNow(target.name, shutdown);
      await setClock(sql, options.now());
    },
    post: (source, payload) => post(`http://127.0.0.1:${port}/webhooks/${source}`, payload),
    async close() {
      await http.close(0);
      await close();
    },
  };
}

/** The record's clock: looks tell times by it. */
async function setClock(sql: Sql, at: number): Promise<void> {
  await sql`UPDATE simulated_clock SET at = to_timestamp(${at}::float8 / 1000)`;
}

async function post(url: string, payload: unknown): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(payload) });
  const said = await answer.text();
  if (answer.status !== 202 || said.includes('"refused"'))
    throw new OpsError('EVALS_FILE', `${url} does not take ${JSON.stringify(payload)}: ${said}`, {
      hint: 'A situation tells what no sender would.',
    });
}

const broken: ChangesPort = {
  whatChanged: () => Promise.reject(new Error('the record of changes is away')),
  scopeOf: () => Promise.reject(new Error('the record of changes is away')),
};

/** A system that nobody changes while it is looked at. */
const NOTHING_MORE: Pick<RecoveryCase, 'world' | 'changes'> = {
  world: [{ after_seconds: 0, recorded: 'it', replaced: {}, reads: [] }],
  changes: {},
};
