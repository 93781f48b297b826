import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ScratchEngine } from '../../../evals/record/scratch-engine.ts';
import { engineNames } from '../../../playground/faults/containers/shop-engine.ts';
import { parseTargets } from '../../../src/config/targets.ts';
import type { Inventory } from '../../../src/core/inventory.ts';
import type { ContainerSystem } from '../../../src/targets/containers/tool.ts';
import { docker } from '../../../src/targets/docker/kind.ts';
import type { Connection } from '../../../src/targets/kind.ts';
import { podman } from '../../../src/targets/podman/kind.ts';
import { missingFor, startEngine } from '../../support/engines.ts';
import { inventoryChanges, titlesOf } from '../../support/inventory-changes.ts';

/** A signal that ends it at once, as a shell alone waits for its child. */
const SLEEPS = 'trap "exit 0" TERM; while true; do sleep 0.1; done';
const MiB = 1024 * 1024;

describe.each(engineNames)('%s', (name) => {
  const kind = { docker, podman }[name];
  const missing = missingFor(name);
  describe.skipIf(missing !== null)(
    missing === null ? 'a real engine' : `a real engine (skipped: ${missing})`,
    () => {
      let engine: ScratchEngine;
      let system: ContainerSystem;

      beforeAll(async () => {
        engine = await startEngine(name);
        const entry = { name: 'shop', kind: name, environment: 'test', socket: engine.socket };
        const [config] = parseTargets({ targets: [entry] }, {}, 'sentry.yaml', [docker, podman]);
        system = (kind.connect(config as never, { ownPorts: [] }) as Connection<ContainerSystem>).system;
      });
      afterAll(() => engine.stop());

      const look = (): Promise<Inventory> => {
        if (!kind.inventory) throw new Error('no inventory');
        return kind.inventory(system, new AbortController().signal);
      };
      const changesBy = async (does: () => Promise<unknown>) => {
        const before = await look();
        await does();
        return inventoryChanges(before, await look());
      };
      const changes = async (does: () => Promise<unknown>) => titlesOf(await changesBy(does));
      const web = {
        sh: SLEEPS,
        Env: ['DATABASE_URL=postgres://shop:hunter2@db/shop', 'WORKERS=4'],
        Labels: { 'com.docker.compose.project': 'shop', 'com.docker.compose.service': 'web' },
        host: { Memory: 64 * MiB, RestartPolicy: { Name: 'on-failure', MaximumRetryCount: 3 } },
      };

      test('tells what a container is made of, since when, and no value of a variable', async () => {
        await engine.run('web', web);
        const { items, unread } = await look();
        expect(unread).toEqual([]);
        expect(JSON.stringify(items)).not.toContain('hunter2');
        const made = items.find(({ key }) => key === 'container web');
        expect(made).toMatchObject({ mayComeAndGo: true, objects: ['web'] });
        const own = items.filter(({ key }) => key.startsWith('container web '));
        expect(Object.fromEntries(own.map(({ key, value }) => [key.slice(14), value]))).toMatchObject({
          image: expect.stringMatching(/sentry-shop:latest \([0-9a-f]{7}\)$/),
          command: expect.stringMatching(/^sh \(#[0-9a-f]{6}\)$/),
          limits: 'memory 64.0 MiB',
          'restart policy': 'on-failure:3',
          'health check': 'none',
          variables: expect.stringMatching(/DATABASE_URL.*WORKERS/),
          'variable WORKERS': expect.stringMatching(/^#[0-9a-f]{6}$/),
        });
        expect(new Set(own.map(({ since }) => since))).toEqual(new Set([made?.since]));
        expect(made?.since).toBe(
          new Date((await engine.api.getContainer('web').inspect()).Created).toISOString(),
        );
        expect(items.find(({ part }) => part === 'engine')?.value).toMatch(/^(?:Docker|Podman) \d/);
      });

      test('a stop, a start, a restart and a kill are no change', async () => {
        await engine.run('web', web);
        const container = engine.api.getContainer('web');
        expect(await changes(() => container.stop({ t: 60 }))).toEqual([]);
        expect(await changes(() => container.start())).toEqual([]);
        expect(await changes(() => container.restart({ t: 60 }))).toEqual([]);
        expect(await changes(() => container.kill())).toEqual([]);
      });

      test('one that is made anew says so, and what of it is another', async () => {
        await engine.run('web', web);
        const [again, ...none] = await changesBy(() => engine.run('web', web));
        expect(none).toEqual([]);
        const { Created: made } = await engine.api.getContainer('web').inspect();
        expect(again).toMatchObject({
          title: 'web of shop was recreated',
          kind: 'infrastructure',
          where: ['shop', 'web'],
          at: new Date(made).toISOString(),
        });
        const anew = {
          ...web,
          Env: ['DATABASE_URL=postgres://shop:hunter3@db/shop'],
          host: { ...web.host, Memory: 16 * MiB },
          Healthcheck: { Test: ['CMD', 'true'] },
        };
        const [changed, ...others] = await changesBy(() => engine.run('web', anew));
        expect(others).toEqual([]);
        expect(changed).toMatchObject({ kind: 'config', from: 'memory 64.0 MiB', to: 'memory 16.0 MiB' });
        expect(changed?.title).toBe(
          'web of shop was recreated, health check was changed, limits memory 64.0 MiB → memory 16.0 MiB, DATABASE_URL was changed, and 1 more',
        );
      });

      test('another image under the same name is another image', async () => {
        await engine.run('web', web);
        const before = await look();
        await engine.api
          .getContainer(await engine.run('author', { sh: 'echo x > /made' }))
          .commit({ repo: 'sentry-shop', tag: 'next' });
        await engine.remove('author');
        await engine.remove('web');
        const made = await engine.api.createContainer({
          name: 'web',
          Image: 'sentry-shop:next',
          Cmd: ['sh', '-c', SLEEPS],
          Labels: { 'sentry.playground': 'shop' },
          HostConfig: { NetworkMode: 'none' },
        });
        const told = inventoryChanges(before, await look());
        expect(told).toMatchObject([{ kind: 'deployment', where: ['shop', 'web'] }]);
        expect(told[0]?.title).toMatch(
          /^web of shop was recreated, image \S*sentry-shop:latest \(\w{7}\) → \S*sentry-shop:next \(\w{7}\),/,
        );
        await made.remove({ force: true });
      });

      test('a service that comes or goes is told, a job that removes itself is not', async () => {
        await engine.remove('web');
        expect(await changes(() => engine.run('web', web))).toEqual(['web of shop was created']);
        expect(await changes(() => engine.remove('web'))).toEqual(['web of shop was removed']);
        expect(await changes(() => engine.run('job', { sh: SLEEPS, host: { AutoRemove: true } }))).toEqual(
          [],
        );
        expect(
          await changes(() =>
            engine.run('task', { sh: SLEEPS, Labels: { 'com.docker.compose.oneoff': 'True' } }),
          ),
        ).toEqual([]);
        await engine.api.getContainer('job').stop({ t: 60 });
        await engine.remove('task');
      });

      test('where a container cannot be read, none is gone, and what of the others changed is told', async () => {
        await engine.run('web', web);
        await engine.run('other', web);
        const [before, all] = [
          await look(),
          await system.engine.containers({ signal: new AbortController().signal, timeoutMs: 20_000 }),
        ];
        const blind = {
          ...system,
          engine: {
            ...system.engine,
            containers: async () => ({
              ...all,
              found: all.found.filter((each) => each.name !== 'other'),
              unread: ['3f2a'],
            }),
          },
        };
        const seen = await kind.inventory?.(blind, new AbortController().signal);
        expect(seen?.unread).toEqual([{ part: 'containers', why: '1 container could not be looked at' }]);
        expect(seen?.empty).toEqual([]);
        expect(inventoryChanges(before, seen as Inventory)).toEqual([]);
        expect(seen?.items.filter(({ key }) => key.startsWith('container web'))).not.toEqual([]);
        expect(seen?.items.filter(({ mayComeAndGo }) => mayComeAndGo)).toEqual([]);
      });

      test('an engine that does not answer has no inventory', async () => {
        const entry = { name: 'gone', kind: name, environment: 'test', socket: `${engine.socket}.gone` };
        const [config] = parseTargets({ targets: [entry] }, {}, 'sentry.yaml', [docker, podman]);
        const gone = kind.connect(config as never, { ownPorts: [] });
        await expect(kind.inventory?.(gone.system, new AbortController().signal)).rejects.toMatchObject({
          code: 'ENGINE_AWAY',
        });
      });
    },
  );
});
