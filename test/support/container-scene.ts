import { fileURLToPath } from 'node:url';
import type { ContainerOptions, EngineName } from '../../playground/faults/containers/shop-engine.ts';
import type { ShopFault } from '../../playground/faults/fault.ts';
import { createClaude } from '../../src/agents/claude/create-claude.ts';
import { createPlaybook } from '../../src/agents/playbook/create-playbook.ts';
import { toTarget } from '../../src/app/targets.ts';
import { parseTargets } from '../../src/config/targets.ts';
import type { IncidentId } from '../../src/core/ids.ts';
import type { IncidentRecord } from '../../src/core/incident-record.ts';
import { createAccept } from '../../src/ingest/accept.ts';
import { createAnthropicBackend } from '../../src/llm/anthropic.ts';
import { createModelGateway } from '../../src/llm/gateway.ts';
import { loadRunbooks } from '../../src/runbooks/load-runbooks.ts';
import { runbooksFor } from '../../src/runbooks/runbooks-for.ts';
import { allTools } from '../../src/targets/all-tools.ts';
import { kinds } from '../../src/targets/kinds.ts';
import { connectSystems } from '../../src/targets/systems.ts';
import { createRegistry } from '../../src/tools/registry.ts';
import { boxAlert, type Core, createCore } from './core.ts';
import { type ScratchEngine, startEngine } from './engines.ts';
import { scratchDatabase } from './postgres.ts';
import { domainOf, domains, noDocs } from './targets.ts';
import { waitFor } from './wait-for.ts';

/** Traps TERM, so that a stop takes no ten seconds, and sleeps for ever. */
export const SLEEPS = 'trap "exit 0" TERM; while true; do sleep 0.1; done';

/** A real engine, the target `shop`, and a core whose playbook investigates it with the runbooks of the repository. */
export interface ContainerScene {
  readonly engine: ScratchEngine;
  readonly core: Core;
  run(container: string, options: ContainerOptions): Promise<string>;
  ended(container: string): Promise<void>;
  /** The incident that an alert of this name about the container opens. */
  open(container: string, alert?: { readonly name?: string; readonly title?: string }): Promise<IncidentId>;
  /** The incident that the alert of a fault of the playground opens. */
  alert(fault: ShopFault): Promise<IncidentId>;
  until(id: IncidentId, holds: (record: IncidentRecord) => boolean): Promise<IncidentRecord>;
  /** Presses *Approve* on the incident's newest card; the record when it has ended. */
  approve(id: IncidentId): Promise<IncidentRecord>;
  stop(): Promise<void>;
}

/** @param claudeUrl a Messages API; where it is given Claude investigates, without runbooks */
export async function startContainerScene(name: EngineName, claudeUrl?: string): Promise<ContainerScene> {
  const engine = await startEngine(name);
  const database = await scratchDatabase({ migrate: true });
  const given = { targets: [{ name: 'shop', kind: name, socket: engine.socket, acts: true }] };
  const configs = parseTargets(given, {}, 'sentry.yaml', kinds);
  const targets = new Map(configs.map((config) => [config.name, toTarget(config)]));
  const registry = createRegistry(allTools);
  const { runbooks } = await loadRunbooks(fileURLToPath(new URL('../../runbooks', import.meta.url)), {
    tools: registry,
    domains,
  });
  const systems = connectSystems(kinds, configs, { ownPorts: [] });
  const claude =
    claudeUrl &&
    createClaude({
      llm: createModelGateway({ backend: createAnthropicBackend({ apiKey: 'k', baseUrl: claudeUrl }) }),
      tools: allTools,
      targets: [...targets.keys()],
      toolCalls: async (id) => (await core.records.load(id))?.toolCalls ?? [],
    });
  const core: Core = await createCore({
    url: database.url,
    tools: allTools,
    ...(claude ? { claude } : {}),
    judged: { holdMs: 5_000, timeoutMs: 120_000 },
    investigator: createPlaybook({ runbooks: () => runbooksFor(runbooks, name, registry) }),
    gate: { targets, ports: { ...systems, docs: noDocs }, identity: systems.identity },
  });
  await core.start();

  const until: ContainerScene['until'] = async (id, holds) => {
    let record: IncidentRecord | null = null;
    await waitFor(
      `${id}`,
      async () => {
        record = await core.records.load(id);
        return record !== null && holds(record);
      },
      { seen: () => record?.incident },
    );
    if (!record) throw new Error(`no ${id}`);
    return record;
  };
  const accept = createAccept(core.sql, [...targets.values()], domainOf);
  async function accepted(alert: Parameters<typeof boxAlert>[0]): Promise<IncidentId> {
    const { incidentId } = await accept(boxAlert({ ...alert, target: 'shop' }));
    if (!incidentId) throw new Error('not accepted');
    return incidentId;
  }
  return {
    engine,
    core,
    until,
    async run(container, options) {
      // A test that is tried again finds what it made before.
      await engine.remove(container);
      return engine.run(container, options);
    },
    async ended(container) {
      await waitFor(
        `${container} has ended`,
        async () => !(await engine.api.getContainer(container).inspect()).State.Running,
      );
    },
    open: (container, { name: alertname = 'ContainerDown', title = `${container} is down` } = {}) =>
      accepted({ name: alertname, title, labels: { alertname, instance: 'shop', container } }),
    alert: async ({ rule, read }) => {
      const { alertname, summary, description, labels, severity } = rule;
      return accepted({
        name: alertname,
        title: alertname,
        labels: { alertname, ...labels, severity },
        annotations: { summary, description: `${description} Now: ${(await read()).says}.` },
      });
    },
    async approve(id) {
      const { actions } = await until(id, ({ incident }) => incident.state === 'awaiting_approval');
      const card = actions.at(-1);
      if (!card) throw new Error('no card');
      const by = { actionId: card.id, planHash: card.planHash, by: 'UONCALL', reason: '' } as const;
      await core.approvals.decide({ ...by, anotherWay: false, decision: 'approve' });
      return until(id, ({ incident: { state } }) => state === 'resolved' || state === 'escalated');
    },
    async stop() {
      await core.stop();
      await systems.close();
      await database.drop();
      await engine.stop();
    },
  };
}
