import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ScratchEngine } from '../../../../evals/record/scratch-engine.ts';
import { containerFaults } from '../../../../playground/faults/containers/container-faults.ts';
import { findEngine, removeAll } from '../../../../playground/faults/containers/find-engine.ts';
import { engineNames, IMAGE } from '../../../../playground/faults/containers/shop-engine.ts';
import { SLEEPS } from '../../../support/container-scene.ts';
import { missingFor, startEngine } from '../../../support/engines.ts';

test.each(engineNames)(
  '%s: where it does not answer, its faults say why they cannot be caused',
  async (name) => {
    const found = await findEngine(name, ['/nowhere/engine.sock']);
    const faults = containerFaults(name, found);
    expect(faults.length).toBeGreaterThan(5);
    for (const fault of faults) {
      expect(fault.impossible).toMatch(/does not answer on this machine\. .*restart the playground/);
      await expect(fault.cause()).rejects.toThrow('does not answer');
      expect(await fault.read()).toMatchObject({ holds: false });
    }
  },
);

describe.each(engineNames)('%s', (name) => {
  const missing = missingFor(name);
  const title = missing === null ? 'somebody’s own engine' : `an engine (skipped: ${missing})`;
  describe.skipIf(missing !== null)(title, () => {
    let engine: ScratchEngine;
    beforeAll(async () => {
      engine = await startEngine(name);
    });
    afterAll(() => engine.stop());

    test('keeps the containers and volumes that the playground has not made', async () => {
      const { api } = engine;
      await api.createVolume({ Name: 'sentry-shop-queue' });
      const theirs = await api.createContainer({
        name: 'shop-cart',
        Image: IMAGE,
        Cmd: ['sh', '-c', SLEEPS],
      });
      const stopped = await api.createContainer({ name: 'shop-reports', Image: IMAGE, Cmd: ['true'] });
      const ours = await engine.run('shop-left', { sh: SLEEPS });

      const found = await findEngine(name, ['/nowhere/engine.sock', engine.socket]);
      if (found.engine === null) throw new Error(found.missing);
      await expect(api.getContainer(ours).inspect(), 'left by an earlier run').rejects.toThrow();
      const faults = containerFaults(name, found);
      for (const fault of faults) await fault.undo().catch(() => undefined);
      const cart = faults.find(({ id }) => id === `${name}_container_down`);
      await expect(cart?.cause()).rejects.toThrow('shop-cart is not a container of the playground');
      const reports = faults.find(({ id }) => id === `${name}_oom_kill`);
      expect(await reports?.read()).toMatchObject({ holds: false });
      await removeAll(found.engine);

      for (const container of [theirs, stopped]) expect((await container.inspect()).Id).toBe(container.id);
      expect((await api.getVolume('sentry-shop-queue').inspect()).Name).toBe('sentry-shop-queue');
    });
  });
});
