import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engineNames } from '../../../../playground/faults/containers/shop-engine.ts';
import { type ContainerScene, SLEEPS, startContainerScene } from '../../../support/container-scene.ts';
import { missingFor } from '../../../support/engines.ts';
import { waitFor } from '../../../support/wait-for.ts';

const MIB = 1024 * 1024;

/** What the playground does not cause: the alert, how it comes to be, what is said of it and asked for. */
const cases = [
  {
    alert: 'ContainerMemoryNearLimit',
    container: 'shop-cache',
    async make({ run, engine }: ContainerScene) {
      await run('shop-cache', {
        sh: `[ -e /full ] || { echo > /full; head -c ${58 * MIB} /dev/zero > /dev/shm/data; }; ${SLEEPS}`,
        host: { Memory: 62 * MIB, MemorySwap: 62 * MIB },
      });
      await steady(engine, 'shop-cache');
    },
    cause: /shop-cache uses 9\d(?:\.\d)? % of its memory limit of 62 MB/,
    // Podman goes on telling the limit that was declared.
    commands: {
      docker: 'container update --memory 124m --memory-swap 124m shop-cache',
      podman: 'container restart --time 10 shop-cache',
    },
  },
  {
    alert: 'DockerDiskFilling',
    container: 'shop-build',
    async make({ run, engine }: ContainerScene) {
      await engine.api.getContainer(await run('shop-build', { sh: 'echo x > /made' })).commit({});
    },
    cause: /1 dangling image of this engine hold/,
    commands: {
      docker: 'image rm (each dangling image of the list)',
      podman: 'image rm (each dangling image of the list)',
    },
  },
] as const;

const steady = ({ api }: ContainerScene['engine'], container: string) =>
  waitFor(`${container} has run for a while`, async () => {
    const { State: state } = await api.getContainer(container).inspect();
    return state.Running && Date.now() - Date.parse(state.StartedAt) > 11_000;
  });

describe.each(engineNames)('%s', (name) => {
  const missing = missingFor(name);
  const title = missing === null ? 'an alert' : `an alert (skipped: ${missing})`;
  describe.skipIf(missing !== null)(title, () => {
    let scene: ContainerScene;
    beforeAll(async () => {
      scene = await startContainerScene(name);
    });
    afterAll(() => scene.stop());

    test.concurrent.each(cases)(
      '$alert: cause, card, approval, fixed',
      { timeout: 240_000 },
      async ({ alert, container, make, cause, commands }) => {
        await make(scene);
        const id = await scene.open(container, { name: alert, title: alert });
        const asked = await scene.until(id, ({ incident: { state } }) =>
          ['awaiting_approval', 'reported'].includes(state),
        );
        const found = JSON.stringify(asked.events.findLast(({ type }) => type === 'diagnosis.concluded'));
        expect(asked.incident.cause, found).toMatch(cause);
        expect(
          asked.actions.map(({ command }) => command),
          found,
        ).toEqual([commands[name]]);
        const { incident } = await scene.approve(id);
        expect(incident).toMatchObject({ state: 'resolved', verdict: 'fixed', resolvedBy: 'confirmed' });
      },
    );
  });
});
