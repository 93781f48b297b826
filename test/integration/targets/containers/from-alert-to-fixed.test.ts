import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engineNames } from '../../../../playground/faults/containers/shop-engine.ts';
import { type ContainerScene, SLEEPS, startContainerScene } from '../../../support/container-scene.ts';
import { missingFor } from '../../../support/engines.ts';
import { waitFor } from '../../../support/wait-for.ts';

describe.each(engineNames)('%s', (name) => {
  const missing = missingFor(name);
  const title = missing === null ? 'a container' : `a container (skipped: ${missing})`;
  describe.skipIf(missing !== null)(title, () => {
    let scene: ContainerScene;
    beforeAll(async () => {
      scene = await startContainerScene(name);
    });
    afterAll(() => scene.stop());

    test('that died once is named with its cause, started by one approval, and seen to run', async () => {
      // It dies the first time only.
      await scene.run('shop-api', {
        sh: `test -e /once || { echo x > /once; for i in 1 2 3 4 5 6 7 8; do echo "INFO request GET /orders/$i 200 12ms"; done; exit 2; }; ${SLEEPS}`,
      });
      await scene.ended('shop-api');
      const id = await scene.open('shop-api');
      const asked = await scene.until(id, ({ incident }) => incident.state === 'awaiting_approval');
      expect(asked.incident).toMatchObject({ domain: name, target: 'shop', incidentType: 'container_died' });
      expect(asked.incident.cause).toContain('shop-api is not running');
      expect(asked.incident.cause).toContain('it ended with code 2');
      expect(asked.actions).toMatchObject([
        { tool: 'container_start', command: 'container start shop-api', purpose: 'repair' },
      ]);
      const { incident } = await scene.approve(id);
      expect(incident).toMatchObject({ state: 'resolved', verdict: 'fixed', resolvedBy: 'confirmed' });
      expect((await scene.engine.api.getContainer('shop-api').inspect()).State.Running).toBe(true);
    });

    test('that keeps dying is told with its reason, and not started once more', async () => {
      await scene.run('shop-worker', {
        sh: "echo 'Error: connect ECONNREFUSED 127.0.0.1:6379'; exit 1",
        host: { RestartPolicy: { Name: 'always' } },
      });
      await waitFor(
        'it was started again',
        async () => (await scene.engine.api.getContainer('shop-worker').inspect()).RestartCount > 0,
      );
      const { incident, actions } = await scene.until(
        await scene.open('shop-worker'),
        ({ incident: { state } }) => state === 'reported',
      );
      expect(incident.cause).toContain('shop-worker dies and is started again and again');
      expect(incident.cause).toContain('ECONNREFUSED');
      expect(actions).toEqual([]);
      await scene.engine.remove('shop-worker');
    });

    test('that runs is healthy, whatever the alert says', async () => {
      await scene.run('shop-web', { sh: SLEEPS });
      await waitFor('it has run for a while', async () => {
        const { State: state } = await scene.engine.api.getContainer('shop-web').inspect();
        return Date.now() - Date.parse(state.StartedAt) > 11_000;
      });
      const { events } = await scene.until(
        await scene.open('shop-web'),
        ({ incident: { state } }) => state === 'reported',
      );
      const found = events.findLast((event) => event.type === 'diagnosis.concluded');
      expect(found).toMatchObject({ diagnosis: { verdict: 'healthy' } });
    });
  });
});
