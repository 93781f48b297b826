import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ScratchEngine } from '../../../evals/record/scratch-engine.ts';
import { engineNames } from '../../../playground/faults/containers/shop-engine.ts';
import { parseTargets } from '../../../src/config/targets.ts';
import { createAccept } from '../../../src/ingest/accept.ts';
import { createTargetWatch } from '../../../src/ingest/watch-targets.ts';
import { kinds } from '../../../src/targets/kinds.ts';
import { connectSystems, type Systems, toTarget } from '../../../src/targets/systems.ts';
import { type AcceptDatabase, acceptDatabase } from '../../support/accept-database.ts';
import { SAYS_READY, SLEEPS, untilReady } from '../../support/container-scene.ts';
import { missingFor, startEngine } from '../../support/engines.ts';
import { quiet } from '../../support/quiet.ts';
import { domainOf } from '../../support/targets.ts';
import type { Row } from '../../support/typed.ts';
import { waitFor } from '../../support/wait-for.ts';

const SHOP = { 'shop.care': 'yes' };
const Labels = SHOP;

describe.each(engineNames)('%s', (name) => {
  const missing = missingFor(name);
  const title = missing === null ? 'a watched engine' : `a watched engine (skipped: ${missing})`;
  describe.skipIf(missing !== null)(title, () => {
    let engine: ScratchEngine;
    let db: AcceptDatabase;
    let systems: Systems;
    beforeAll(async () => {
      engine = await startEngine(name);
      db = await acceptDatabase();
    });
    afterAll(async () => {
      await db.close();
      await systems.close();
      await engine.stop();
    });

    const alerts = () =>
      db.sql<Row>`SELECT labels->>'alertname' AS name, labels->>'container' AS of, status FROM alert ORDER BY id`;
    const told = async () =>
      (await alerts()).map(({ name: alert, of, status }) => `${alert} ${of} ${status}`);
    const positions = () => db.sql<Row>`SELECT position FROM watch_position`;
    const ended = (container: string) =>
      waitFor(
        `${container} has ended`,
        async () => !(await engine.api.getContainer(container).inspect()).State.Running,
      );
    /** A watch of the engine, as one process has it. */
    async function watch() {
      const entry = { name: 'shop', kind: name, socket: engine.socket, watch: true, only: SHOP };
      const configs = parseTargets({ targets: [entry] }, {}, 'sentry.yaml', kinds);
      systems = connectSystems(kinds, configs, { ownPorts: [] });
      const accept = createAccept(db.sql, configs.map(toTarget), domainOf);
      const watching = createTargetWatch({ sql: db.sql, accept, watched: systems.watched, log: quiet });
      watching.look();
      await waitFor('it has begun', async () => (await positions()).length > 0);
      return watching;
    }

    test('opens an incident for what dies by itself, once, and for nothing that was to end', async () => {
      await engine.run('before', { sh: 'exit 9', Labels });
      await ended('before');
      // Engines tell their events by seconds: what is in the second before the watch belongs to it.
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      const first = await watch();
      await engine.run('job', { sh: 'exit 0', Labels });
      await engine.run('others', { sh: 'exit 3' });
      await engine.run('stopped', { sh: SAYS_READY, Labels });
      await untilReady(engine, 'stopped');
      await engine.api.getContainer('stopped').stop({ t: 60 });
      await engine.run('ended', {
        sh: SAYS_READY.replace('exit 0', 'exit 143'),
        Labels,
      });
      await untilReady(engine, 'ended');
      await engine.api.getContainer('ended').stop({ t: 60 });
      await engine.run('died', { sh: 'exit 3', Labels });
      await waitFor('it is told', async () => (await told()).length > 0);
      await first.stop();
      expect(await told()).toEqual(['ContainerDied died firing']);

      // Nobody watches; whoever watches next tells it, and what was told before not again.
      await engine.run('unwatched', { sh: 'exit 4', Labels });
      await ended('unwatched');
      const [second, third] = await Promise.all([watch(), watch()]);
      await waitFor('it is told', async () => (await told()).length > 1);
      await engine.run('last', { sh: 'exit 5', Labels });
      await waitFor('the last is told', async () => (await told()).length > 2);
      await Promise.all([second.stop(), third.stop()]);
      expect(await told()).toEqual([
        'ContainerDied died firing',
        'ContainerDied unwatched firing',
        'ContainerDied last firing',
      ]);
      expect(await db.sql`SELECT 1 FROM incident WHERE target = 'shop'`).toHaveLength(3);
    });

    test('tells when a container becomes unhealthy and when it is well again, once each', async () => {
      await db.sql`TRUNCATE incident, alert, event, asked_turn, watch_position CASCADE`;
      const watching = await watch();
      const check = { Test: ['CMD-SHELL', 'test -e /well'], Interval: 1e9, Retries: 1, Timeout: 5e9 };
      await engine.run('ill', { sh: SLEEPS, Labels, Healthcheck: check });
      // Without systemd nobody asks Podman's checks to run.
      const look = async () => {
        if (name === 'podman') await podmanCheck('ill');
      };
      await waitFor('it is told', async () => {
        await look();
        return (await told()).length > 0;
      });
      const exec = await engine.api.getContainer('ill').exec({
        Cmd: ['sh', '-c', 'echo > /well'],
        AttachStdout: true,
      });
      (await exec.start({})).resume();
      await waitFor('its end is told', async () => {
        await look();
        return (await told()).length > 1;
      });
      await watching.stop();
      expect(await told()).toEqual(['ContainerUnhealthy ill firing', 'ContainerUnhealthy ill resolved']);
    });

    const podmanCheck = (container: string) =>
      new Promise((resolve, reject) => {
        engine.api.modem.dial(
          {
            path: `/v4.0.0/libpod/containers/${container}/healthcheck`,
            method: 'GET',
            statusCodes: { 200: true, 409: true },
          },
          (error: unknown, answer: unknown) => (error ? reject(error) : resolve(answer)),
        );
      });
  });
});
