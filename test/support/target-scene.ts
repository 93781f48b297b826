import { fileURLToPath } from 'node:url';
import { createClaude } from '../../src/agents/claude/create-claude.ts';
import { createPlaybook } from '../../src/agents/playbook/create-playbook.ts';
import { parseTargets } from '../../src/config/targets.ts';
import type { Diagnosis } from '../../src/core/diagnosis.ts';
import type { IncidentId } from '../../src/core/ids.ts';
import type { IncidentRecord } from '../../src/core/incident-record.ts';
import { createAccept } from '../../src/ingest/accept.ts';
import { createAnthropicBackend } from '../../src/llm/anthropic.ts';
import { createModelGateway } from '../../src/llm/gateway.ts';
import { loadRunbooks } from '../../src/runbooks/load-runbooks.ts';
import { runbooksFor } from '../../src/runbooks/runbooks-for.ts';
import { allTools } from '../../src/targets/all-tools.ts';
import { kinds } from '../../src/targets/kinds.ts';
import { connectSystems, toTarget } from '../../src/targets/systems.ts';
import { createRegistry } from '../../src/tools/registry.ts';
import { boxAlert, type Core, createCore } from './core.ts';
import { patience } from './patience.ts';
import { scratchDatabase } from './postgres.ts';
import { domainOf, domains, noDocs } from './targets.ts';
import { waitFor } from './wait-for.ts';

/** A real engine on a busy machine answers late. What acts has its own time: its claim is judged by it. */
const patientTools = allTools.map((tool) =>
  tool.kind === 'active' ? tool : { ...tool, timeoutMs: tool.timeoutMs * patience },
);

/** The alert that opens an incident of a scene. */
export interface SceneAlert {
  readonly name: string;
  readonly title: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** One target, and a core whose playbook investigates it with the runbooks of the repository. */
export interface TargetScene {
  readonly core: Core;
  open(alert: SceneAlert): Promise<IncidentId>;
  until(id: IncidentId, holds: (record: IncidentRecord) => boolean): Promise<IncidentRecord>;
  /** What was found of an incident that this alert opens, once nobody works on it. */
  diagnosis(alert: SceneAlert): Promise<{ readonly record: IncidentRecord; readonly diagnosis: Diagnosis }>;
  /** Presses *Approve* on the incident's newest card, again where the system overtakes it; the record when it has ended. */
  approve(id: IncidentId): Promise<IncidentRecord>;
  stop(): Promise<void>;
}

const hasEnded = ({ incident: { state } }: IncidentRecord): boolean =>
  state === 'resolved' || state === 'escalated';

/**
 * @param entry of `sentry.yaml`
 * @param claudeUrl a Messages API; where it is given Claude investigates, without runbooks
 */
export async function startTargetScene(
  entry: { readonly name: string; readonly kind: string } & Readonly<Record<string, unknown>>,
  claudeUrl?: string,
): Promise<TargetScene> {
  const database = await scratchDatabase({ migrate: true });
  const configs = parseTargets({ targets: [entry] }, {}, 'sentry.yaml', kinds);
  const targets = new Map(configs.map((config) => [config.name, toTarget(config)]));
  const registry = createRegistry(patientTools);
  const { runbooks } = await loadRunbooks(fileURLToPath(new URL('../../runbooks', import.meta.url)), {
    tools: registry,
    domains,
  });
  const systems = connectSystems(kinds, configs, { ownPorts: [] });
  const claude =
    claudeUrl &&
    createClaude({
      llm: createModelGateway({ backend: createAnthropicBackend({ apiKey: 'k', baseUrl: claudeUrl }) }),
      tools: patientTools,
      targets: [...targets.keys()],
      toolCalls: async (id) => (await core.records.load(id))?.toolCalls ?? [],
    });
  const core: Core = await createCore({
    url: database.url,
    tools: patientTools,
    ...(claude ? { claude } : {}),
    judged: { holdMs: 5_000, timeoutMs: 120_000 },
    investigator: createPlaybook({ runbooks: () => runbooksFor(runbooks, entry.kind, registry) }),
    gate: { targets, ports: { ...systems, docs: noDocs }, identity: systems.identity },
  });
  await core.start();

  const until: TargetScene['until'] = async (id, holds) => {
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
  const open: TargetScene['open'] = async ({ labels, ...alert }) => {
    const own = { alertname: alert.name, instance: entry.name, ...labels };
    const { incidentId } = await accept(boxAlert({ ...alert, labels: own, target: entry.name }));
    if (!incidentId) throw new Error('not accepted');
    return incidentId;
  };
  return {
    core,
    open,
    until,
    async diagnosis(alert) {
      const record = await until(await open(alert), ({ incident: { state } }) =>
        ['reported', 'awaiting_approval', 'ignored'].includes(state),
      );
      const found = record.events.findLast(({ type }) => type === 'diagnosis.concluded');
      if (found?.type !== 'diagnosis.concluded') throw new Error('no diagnosis');
      return { record, diagnosis: found.diagnosis };
    },
    async approve(id) {
      const pressed = new Set<string>();
      for (;;) {
        const { incident, actions } = await until(
          id,
          (record) =>
            hasEnded(record) ||
            (record.incident.state === 'awaiting_approval' && !pressed.has(record.actions.at(-1)?.id ?? '')),
        );
        const card = actions.at(-1);
        if (!card) throw new Error('no card');
        if (incident.state !== 'awaiting_approval') return until(id, hasEnded);
        // On a busy machine the system moves on under a card: then nothing was run, and whoever is asked again presses again.
        const isOvertaken = actions.every(
          ({ id: each, state }) => !pressed.has(each) || state === 'void' || state === 'failed',
        );
        if (!isOvertaken || pressed.size >= 3) throw new Error(`asked again: ${JSON.stringify(actions)}`);
        pressed.add(card.id);
        const by = { actionId: card.id, planHash: card.planHash, by: 'UONCALL', reason: '' } as const;
        await core.approvals.decide({ ...by, anotherWay: false, decision: 'approve' });
      }
    },
    async stop() {
      await core.stop();
      await systems.close();
      await database.drop();
    },
  };
}
