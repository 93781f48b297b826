import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPlaybook } from '../../../../src/agents/playbook/create-playbook.ts';
import { toTarget } from '../../../../src/app/targets.ts';
import { parseTargets } from '../../../../src/config/targets.ts';
import type { IncidentId } from '../../../../src/core/ids.ts';
import type { IncidentRecord } from '../../../../src/core/incident-record.ts';
import { createAccept } from '../../../../src/ingest/accept.ts';
import { loadRunbooks } from '../../../../src/runbooks/load-runbooks.ts';
import { allTools } from '../../../../src/targets/all-tools.ts';
import { kinds } from '../../../../src/targets/kinds.ts';
import { connectSystems, type Systems } from '../../../../src/targets/systems.ts';
import { createRegistry } from '../../../../src/tools/registry.ts';
import { boxAlert, type Core, createCore } from '../../../support/core.ts';
import { engineKinds, missingFor, type ScratchEngine, startEngine } from '../../../support/engines.ts';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';
import { domainOf, domains, noDocs } from '../../../support/targets.ts';
import { waitFor } from '../../../support/wait-for.ts';

const SLEEPS = 'trap "exit 0" TERM; while true; do sleep 0.1; done';

describe.each(engineKinds)('%s', (name) => {
  const missing = missingFor(name);
  const title = missing === null ? 'a container' : `a container (skipped: ${missing})`;
  describe.skipIf(missing !== null)(title, () => {
    let engine: ScratchEngine;
    let database: ScratchDatabase;
    let systems: Systems;
    let core: Core;

    beforeAll(async () => {
      engine = await startEngine(name);
      database = await scratchDatabase({ migrate: true });
      const given = { targets: [{ name: 'shop', kind: name, socket: engine.socket, acts: true }] };
      const configs = parseTargets(given, {}, 'sentry.yaml', kinds);
      const targets = new Map(configs.map((config) => [config.name, toTarget(config)]));
      const { runbooks } = await loadRunbooks(
        fileURLToPath(new URL('../../../../runbooks', import.meta.url)),
        {
          tools: createRegistry(allTools),
          domains,
        },
      );
      systems = connectSystems(kinds, configs, { ownPorts: [] });
      core = await createCore({
        url: database.url,
        tools: allTools,
        investigator: createPlaybook({ runbooks: () => runbooks }),
        gate: { targets, ports: { ...systems, docs: noDocs }, identity: systems.identity },
      });
      await core.start();
    });
    afterAll(async () => {
      await core.stop();
      await systems.close();
      await database.drop();
      await engine.stop();
    });

    async function open(container: string): Promise<IncidentId> {
      const targets = [{ name: 'shop', kind: name, domain: name, environment: 'production', aliases: [] }];
      const alert = boxAlert({
        name: 'ContainerDown',
        title: `${container} is down`,
        labels: { alertname: 'ContainerDown', instance: 'shop', container },
        target: 'shop',
      });
      const { incidentId } = await createAccept(core.sql, targets, domainOf)(alert);
      if (!incidentId) throw new Error('not accepted');
      return incidentId;
    }
    async function until(
      id: IncidentId,
      holds: (record: IncidentRecord) => boolean,
    ): Promise<IncidentRecord> {
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
    }
    const ended = async (container: string) =>
      waitFor(
        `${container} has ended`,
        async () => !(await engine.api.getContainer(container).inspect()).State.Running,
      );

    test('that died once is named with its cause, started by one approval, and seen to run', async () => {
      // It dies the first time only.
      await engine.run('shop-api', {
        sh: `test -e /once || { echo x > /once; for i in 1 2 3 4 5 6 7 8; do echo "INFO request GET /orders/$i 200 12ms"; done; exit 2; }; ${SLEEPS}`,
      });
      await ended('shop-api');
      const id = await open('shop-api');
      const asked = await until(id, ({ incident }) => incident.state === 'awaiting_approval');
      expect(asked.incident).toMatchObject({ domain: name, target: 'shop', incidentType: 'container_died' });
      expect(asked.incident.cause).toContain('shop-api is not running');
      expect(asked.incident.cause).toContain('it ended with code 2');
      const [action] = asked.actions;
      if (!action) throw new Error('no card');
      expect(action).toMatchObject({
        tool: 'container_start',
        command: 'container start shop-api',
        purpose: 'repair',
      });
      const by = { actionId: action.id, planHash: action.planHash, by: 'UONCALL', reason: '' } as const;
      await core.approvals.decide({ ...by, anotherWay: false, decision: 'approve' });
      const { incident } = await until(
        id,
        ({ incident: { state } }) => state === 'resolved' || state === 'escalated',
      );
      expect(incident).toMatchObject({ state: 'resolved', verdict: 'fixed', resolvedBy: 'confirmed' });
      expect((await engine.api.getContainer('shop-api').inspect()).State.Running).toBe(true);
    });

    test('that keeps dying is told with its reason, and not started once more', async () => {
      await engine.run('shop-worker', {
        sh: "echo 'Error: connect ECONNREFUSED 127.0.0.1:6379'; exit 1",
        host: { RestartPolicy: { Name: 'always' } },
      });
      await waitFor(
        'it was started again',
        async () => (await engine.api.getContainer('shop-worker').inspect()).RestartCount > 0,
      );
      const { incident, actions } = await until(
        await open('shop-worker'),
        ({ incident: { state } }) => state === 'reported',
      );
      expect(incident.cause).toContain('shop-worker dies and is started again and again');
      expect(incident.cause).toContain('ECONNREFUSED');
      expect(actions).toEqual([]);
      await engine.remove('shop-worker');
    });

    test('that runs is healthy, whatever the alert says', async () => {
      await engine.run('shop-web', { sh: SLEEPS });
      await waitFor('it has run for a while', async () => {
        const { State: state } = await engine.api.getContainer('shop-web').inspect();
        return Date.now() - Date.parse(state.StartedAt) > 11_000;
      });
      const { events } = await until(
        await open('shop-web'),
        ({ incident: { state } }) => state === 'reported',
      );
      const found = events.findLast((event) => event.type === 'diagnosis.concluded');
      expect(found).toMatchObject({ diagnosis: { verdict: 'healthy' } });
    });
  });
});
