import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { containerFaults } from '../../../../playground/faults/containers/container-faults.ts';
import { engineNames } from '../../../../playground/faults/containers/shop-engine.ts';
import type { ShopFault } from '../../../../playground/faults/fault.ts';
import { type ContainerScene, startContainerScene } from '../../../support/container-scene.ts';
import { missingFor } from '../../../support/engines.ts';

/** What is said of each, and what is asked for. */
const cases = [
  {
    id: 'container_down',
    cause: ['shop-cart is not running', 'ended with code 2'],
    command: 'container start shop-cart',
  },
  {
    id: 'crash_loop',
    cause: ['shop-orders dies and is started again and again', 'shop-queue, which it needs, is not running'],
    command: 'container start shop-queue',
  },
  {
    id: 'oom_kill',
    cause: ['shop-reports', '32 MiB'],
    command: 'container start shop-reports',
  },
  {
    id: 'unhealthy',
    cause: ['shop-web', 'GET /health: no answer within 2 s'],
    command: 'container restart --time 10 shop-web',
  },
  {
    id: 'log_fills_disk',
    cause: ['shop-mailer writes about', 'ERROR mail 4711 refused by the relay'],
    command: 'container restart --time 10 shop-mailer',
  },
  {
    id: 'port_clash',
    cause: ['shop-api dies and is started again and again', 'shop-debug has its port'],
    command: 'container stop --time 10 shop-debug',
  },
  {
    id: 'missing_image',
    cause: ['shop-search was ended', 'The old container is still there'],
    command: 'container start shop-search',
  },
];

describe.each(engineNames)('%s', (name) => {
  const missing = missingFor(name);
  const title = missing === null ? 'a fault of the playground' : `a fault (skipped: ${missing})`;
  describe.skipIf(missing !== null)(title, () => {
    let scene: ContainerScene;
    let faults: readonly ShopFault[];
    beforeAll(async () => {
      scene = await startContainerScene(name);
      faults = containerFaults(name, { engine: scene.engine, missing: null });
    });
    afterAll(() => scene.stop());

    test('is one of those that are played here', () => {
      expect(faults.map(({ id }) => id)).toEqual(cases.map(({ id }) => `${name}_${id}`));
    });

    // All at once: seven incidents of one engine, each with its own cause.
    test.concurrent.each(cases)(
      '$id: alert, cause, card, approval, fixed',
      async ({ id, cause, command }) => {
        const fault = faults.find((each) => each.id === `${name}_${id}`);
        if (!fault) throw new Error(`no fault ${id}`);
        const held = await fault.cause();
        try {
          expect(await fault.read()).toMatchObject({ holds: true });
          const incident = await scene.alert(fault);
          const asked = await scene.until(incident, ({ incident: { state } }) =>
            ['awaiting_approval', 'reported'].includes(state),
          );
          const found = JSON.stringify(asked.events.findLast(({ type }) => type === 'diagnosis.concluded'));
          for (const words of cause) expect(asked.incident.cause, found).toContain(words);
          expect(
            asked.actions.map((action) => action.command),
            found,
          ).toEqual([command]);
          const done = await scene.approve(incident);
          expect(done.incident).toMatchObject({
            state: 'resolved',
            verdict: 'fixed',
            resolvedBy: 'confirmed',
          });
          expect(await fault.read()).toMatchObject({ holds: false });
        } finally {
          await held.release();
          await fault.undo();
        }
      },
    );
  });
});
