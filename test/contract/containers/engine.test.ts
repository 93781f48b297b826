import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ScratchEngine } from '../../../evals/record/scratch-engine.ts';
import { engineNames, IMAGE } from '../../../playground/faults/containers/shop-engine.ts';
import { parseTargets } from '../../../src/config/targets.ts';
import type { Json } from '../../../src/core/tool-call.ts';
import type { ContainerSystem } from '../../../src/targets/containers/tool.ts';
import { docker } from '../../../src/targets/docker/kind.ts';
import type { Connection, TargetConfig } from '../../../src/targets/kind.ts';
import { podman } from '../../../src/targets/podman/kind.ts';
import type { ToolContext } from '../../../src/tools/define.ts';
import { missingFor, startEngine } from '../../support/engines.ts';
import { noDocs } from '../../support/targets.ts';
import { waitFor } from '../../support/wait-for.ts';

/** A signal that ends it at once, as a shell alone waits for its child. */
const SLEEPS = 'trap "exit 0" TERM; while true; do sleep 0.1; done';
const SHOP = { 'com.docker.compose.project': 'shop' };

describe.each(engineNames)('%s', (name) => {
  const kind = { docker, podman }[name];
  const missing = missingFor(name);
  describe.skipIf(missing !== null)(
    missing === null ? 'a real engine' : `a real engine (skipped: ${missing})`,
    () => {
      let engine: ScratchEngine;
      let config: TargetConfig;
      let connection: Connection<ContainerSystem>;

      beforeAll(async () => {
        engine = await startEngine(name);
        ({ config, connection } = connectTo({ acts: true }));
      });
      function connectTo(fields: object) {
        const entry = { name: 'shop', kind: name, environment: 'test', socket: engine.socket, ...fields };
        const [found] = parseTargets({ targets: [entry] }, {}, 'sentry.yaml', [docker, podman]);
        if (!found) throw new Error('no target');
        return {
          config: found,
          connection: kind.connect(found as never, { ownPorts: [] }) as Connection<ContainerSystem>,
        };
      }
      afterAll(() => engine.stop());

      const toolOf = (tool: string) => {
        const found = kind.tools.find((each) => each.name === `container_${tool}`);
        if (!found) throw new Error(`no container_${tool}`);
        return found;
      };
      const context = (system = connection.system): ToolContext<ContainerSystem> => ({
        target: { ...config, kind: name },
        system,
        docs: noDocs,
        signal: new AbortController().signal,
        timeoutMs: 20_000,
      });
      async function read(tool: string, input: Json = {}, system = connection.system) {
        const found = toolOf(tool);
        if (found.kind === 'active') throw new Error(`${tool} changes something`);
        const { text, data } = await found.run(context(system), found.input.parse(input));
        return { text, data: data as Record<string, any> };
      }
      const look = (container: string) => read('inspect', { container });
      async function act(tool: string, given: Json, withinMs = 60_000) {
        const found = toolOf(tool);
        if (found.kind !== 'active') throw new Error(`${tool} changes nothing`);
        const input = found.input.parse(given);
        const before = await found.preflight(context(), input);
        return {
          before,
          run: () =>
            found.run(context(), input, before.guard, { clock: before.clock, withinMs, risk: before.risk }),
          look: () => found.look(context(), input, before.guard),
          undo: (data: Json) => found.inverse?.(data),
        };
      }
      const until = (what: string, holds: () => Promise<boolean>) => waitFor(what, holds);

      test('is who it is, and says its version to the doctor', async () => {
        const { systemIdentifier } = await connection.identity();
        expect(systemIdentifier).not.toBe('');
        expect(await connection.identity()).toEqual({ systemIdentifier, timelineId: 0 });
        expect(await kind.doctor(config, connection)).toMatch(/^(?:Docker|Podman) \d+\.\d+.*containers run$/);
        expect(await kind.facts(connection.system)).toEqual({ [name]: expect.stringMatching(/\d+\.\d+/) });
      });

      test('leaves alone what its target leaves out, by name and by id', async () => {
        const care = { 'shop.care': 'yes' };
        await engine.run('care-ours', { sh: SLEEPS, Labels: care });
        const other = await engine.run('care-other', { sh: SLEEPS, Labels: { 'shop.care': 'no' } });
        const { system } = connectTo({ acts: true, only: care }).connection;
        expect((await read('list', {}, system)).data).toMatchObject({ total: 1 });
        expect((await read('networks', {}, system)).text).not.toContain('care-other');
        expect((await read('events', {}, system)).text).not.toContain('care-other');
        await read('inspect', { container: 'care-ours' }, system);
        for (const container of ['care-other', other, other.slice(0, 12)]) {
          const refused = { code: 'ENGINE_NOT_IN_CARE' };
          for (const tool of ['inspect', 'logs', 'top', 'diff', 'why_died', 'stats'])
            await expect(read(tool, { container }, system), tool).rejects.toMatchObject(refused);
          for (const tool of kind.tools) {
            if (tool.kind !== 'active' || tool.name === 'container_prune') continue;
            const given = [{ container }, { container, signal: 'SIGHUP' }, { container, cpus: 1 }];
            const input = given
              .map((each) => tool.input.safeParse(each))
              .find(({ success }) => success)?.data;
            await expect(tool.preflight(context(system), input), tool.name).rejects.toMatchObject(refused);
          }
        }
        const prune = toolOf('prune');
        if (prune.kind !== 'active') throw new Error('prunes nothing');
        expect(prune.rules?.(context(system), {})).toMatchObject({ code: 'ENGINE_NOT_IN_CARE' });
        expect(prune.rules?.(context(), {})).toBeUndefined();
      });

      test('lists what is in trouble first, and finds by a part of the name', async () => {
        await engine.run('list-good', { sh: SLEEPS });
        await engine.run('list-bad', { sh: 'exit 4' });
        await until('it has ended', async () => (await look('list-bad')).data['state'] === 'exited');
        const { text, data } = await read('list', { name: 'list-' });
        expect(data['containers'].map((each: { name: string }) => each.name)).toEqual([
          'list-bad',
          'list-good',
        ]);
        expect(data).toMatchObject({
          total: 2,
          containers: [{ exit_code: 4, running: false }, { exit_code: null }],
        });
        expect(text).toContain('list-bad: exited with code 4');
      });

      test('shows a container without the value of any variable', async () => {
        await engine.run('inspected', {
          sh: SLEEPS,
          Env: ['DATABASE_URL=postgres://shop:hunter2@db/shop'],
          Labels: {
            ...SHOP,
            'com.docker.compose.service': 'api',
            'com.docker.compose.depends_on': 'db:service_started:false',
          },
          host: {
            Memory: 64 * 1024 * 1024,
            NanoCpus: 500_000_000,
            RestartPolicy: { Name: 'on-failure', MaximumRetryCount: 3 },
          },
        });
        const { text, data } = await look('inspected');
        expect(JSON.stringify([text, data])).not.toContain('hunter2');
        expect(data).toMatchObject({
          name: 'inspected',
          state: 'running',
          health: 'none',
          well: null,
          restart_policy: 'on-failure:3',
          memory_limit: 64 * 1024 * 1024,
          cpu_limit: 0.5,
          project: 'shop',
          service: 'api',
          depends_on: ['db'],
        });
        expect(data['environment']).toContain('DATABASE_URL');
      });

      test('reads both streams of a log in their order, its end, and what matches', async () => {
        await engine.run('logs', {
          sh: 'for i in 1 2 3 4 5 6 7 8; do echo "line $i"; echo "error $i" >&2; done',
        });
        await until('it has ended', async () => (await look('logs')).data['state'] === 'exited');
        const { data } = await read('logs', { container: 'logs', tail: 100 });
        expect(data).toMatchObject({ count: 16, complete: true });
        const ofStream = (stream: string) =>
          data['lines']
            .filter((line: { stream: string }) => line.stream === stream)
            .map((line: { text: string }) => line.text);
        expect(ofStream('stdout')).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((n) => `line ${n}`));
        expect(ofStream('stderr')).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((n) => `error ${n}`));
        const end = await read('logs', { container: 'logs', tail: 2 });
        expect(end.data).toMatchObject({ count: 2, complete: false });
        expect((await read('logs', { container: 'logs', grep: 'ERROR [78]' })).data).toMatchObject({
          text: 'error 7\nerror 8',
        });
        expect((await read('logs', { container: 'logs', stream: 'stdout' })).data).toMatchObject({
          count: 8,
        });
      });

      test('a line that is longer than may be shown is cut, and says so', async () => {
        await engine.run('long-line', {
          sh: 'x=aaaaaaaaaaaaaaaa; x="$x$x$x$x$x$x$x$x"; x="$x$x$x$x$x$x$x$x"; x="$x$x$x$x$x$x$x$x"; echo "$x$x$x"',
        });
        await until('it has ended', async () => (await look('long-line')).data['state'] === 'exited');
        const { data } = await read('logs', { container: 'long-line' });
        expect(data['lines'][0].text).toMatch(/^a{2000}… \(\+22576 characters\)$/);
      });

      test('measures what it uses as rates', async () => {
        await engine.run('busy', {
          sh: 'while true; do :; done',
          host: { Memory: 64 * 1024 * 1024, NanoCpus: 200_000_000 },
        });
        const { data } = await read('stats', { container: 'busy' });
        expect(data).toMatchObject({ running: true, memory_limit: 64 * 1024 * 1024 });
        expect(data['cpu_percent']).toBeGreaterThan(2);
        expect(data['cpu_percent']).toBeLessThan(60);
        // It is held back at a fifth of a CPU, however little that is of one.
        expect(data['cpu_of_limit_percent']).toBeCloseTo(data['cpu_percent'] / 0.2, 0);
        expect(data['memory_percent']).toBeGreaterThan(0);
        await engine.remove('busy');
      });

      test('says why one died: by itself, and with what it wrote last', async () => {
        await engine.run('failed', {
          sh: 'echo starting; echo "FATAL: cannot open /etc/shop.conf" >&2; exit 78',
        });
        await until('it has ended', async () => (await look('failed')).data['state'] === 'exited');
        const { text, data } = await read('why_died', { container: 'failed' });
        expect(data).toMatchObject({
          end: 'failed',
          exit_code: 78,
          oom_killed: false,
          looping: false,
          signal: null,
        });
        expect(data['log']).toContain('FATAL: cannot open /etc/shop.conf');
        expect(text).toContain('It ended by itself with code 78.');
      });

      test('says why one died: it keeps dying', async () => {
        await engine.run('loops', {
          sh: 'echo no config; exit 3',
          host: { RestartPolicy: { Name: 'always' } },
        });
        await until('it was started again', async () => (await look('loops')).data['restarts'] > 0);
        expect((await read('why_died', { container: 'loops' })).data).toMatchObject({
          looping: true,
          restart_policy: 'always',
        });
        await engine.remove('loops');
      });

      test('says why one died: somebody asked for it', async () => {
        await engine.run('asked', { sh: SLEEPS.replace('while', 'echo ready; while') });
        // Before its trap is set, a first process takes no notice of a signal, and is killed.
        await until('it is ready', async () =>
          String((await read('logs', { container: 'asked' })).text).includes('ready'),
        );
        await engine.api.getContainer('asked').stop({ t: 60 });
        const { data, text } = await read('why_died', { container: 'asked' });
        // Podman writes it down itself only when it is done before its own clean-up of what has ended.
        const isTold = data['events'].some((line: string) => / container (?:kill|stop) /.test(line));
        if (name === 'docker') expect(isTold, text).toBe(true);
        expect(data['end'], text).toBe(isTold ? 'asked' : 'finished');
      });

      test('says why one died: it used more memory than its limit', async () => {
        await engine.run('eats', {
          sh: 'x=a; while true; do x="$x$x$x$x"; done',
          host: { Memory: 16 * 1024 * 1024, MemorySwap: 16 * 1024 * 1024 },
        });
        await until('it has ended', async () => (await look('eats')).data['state'] === 'exited');
        const { data } = await read('why_died', { container: 'eats' });
        // Where Podman is not told by the kernel, it is a SIGKILL that nobody asked it for.
        expect(data).toMatchObject(
          name === 'docker'
            ? { end: 'out_of_memory', oom_killed: true }
            : { end: expect.stringMatching(/^(?:killed|out_of_memory)$/) },
        );
        expect(data).toMatchObject({ exit_code: 137, memory_limit: 16 * 1024 * 1024 });
      });

      describe('what changes something', () => {
        test('starts what has ended, once it is seen to run, and is taken back by a stop', async () => {
          await engine.run('idle', { sh: SLEEPS });
          await engine.api.getContainer('idle').stop({ t: 60 });
          const { before, run, look: again, undo } = await act('start', { container: 'idle' });
          expect(before).toMatchObject({ risk: 'low', losesNothing: true });
          expect(await again()).toBe('not_done');
          const outcome = await run();
          expect(outcome).toEqual({
            kind: 'succeeded',
            text: 'idle was started.',
            data: { container: 'idle' },
          });
          expect(await again()).toBe('done');
          expect(undo({ container: 'idle' })).toEqual({
            tool: 'container_stop',
            input: { container: 'idle' },
          });
        });

        test.each(['restart', 'stop', 'pause', 'kill'])(
          '%s does it once to the start that was approved',
          async (tool) => {
            const container = `target-${tool}`;
            await engine.run(container, { sh: SLEEPS });
            const input = { container, ...(tool === 'kill' ? { signal: 'SIGKILL' } : {}) };
            const { run, look: again } = await act(tool, input);
            expect(await again()).toBe('not_done');
            expect(await run()).toMatchObject({ kind: 'succeeded' });
            await waitFor('it is seen', async () => (await again()) === 'done');
            expect(await run()).toMatchObject({
              kind: 'failed',
              text: expect.stringContaining('Nothing was done'),
            });
          },
        );

        test('goes on where it was paused', async () => {
          await engine.run('frozen', { sh: SLEEPS });
          await engine.api.getContainer('frozen').pause();
          const { run } = await act('unpause', { container: 'frozen' });
          expect(await run()).toMatchObject({ kind: 'succeeded' });
          expect((await look('frozen')).data).toMatchObject({ state: 'running' });
        });

        test('does nothing to another container of the same name', async () => {
          await engine.run('replaced', { sh: SLEEPS });
          const { run } = await act('restart', { container: 'replaced' });
          await engine.remove('replaced');
          await engine.run('replaced', { sh: SLEEPS });
          const { data } = await look('replaced');
          await expect(run()).rejects.toMatchObject({ code: 'GONE' });
          expect((await look('replaced')).data['process']).toBe(data['process']);
        });

        test('does nothing after its deadline', async () => {
          await engine.run('late', { sh: SLEEPS });
          const { before, run } = await act('restart', { container: 'late' }, 1);
          await waitFor(
            'it has passed',
            async () => (await act('restart', { container: 'late' })).before.clock !== before.clock,
          );
          expect(await run()).toEqual({ kind: 'failed', text: 'Nothing was done: the deadline had passed.' });
        });

        // Podman 4 goes on telling the limit that was declared.
        test.each([name].filter((each) => each === 'docker'))('%s changes a limit, and back', async () => {
          const MiB = 1024 * 1024;
          await engine.run('limited', { sh: SLEEPS, host: { Memory: 64 * MiB, MemorySwap: 64 * MiB } });
          const { run, look: again, undo } = await act('update', { container: 'limited', memory_mib: 96 });
          const back = { container: 'limited', memory_mib: 64 };
          expect(await run()).toMatchObject({ kind: 'succeeded', data: back });
          expect((await look('limited')).data['memory_limit']).toBe(96 * MiB);
          expect(await again()).toBe('done');
          expect(undo(back)).toEqual({ tool: 'container_update', input: back });
          await expect(act('update', { container: 'limited', cpus: 1 })).rejects.toMatchObject({
            code: 'GONE',
          });
        });

        test('removes dangling images and no others', async () => {
          const image = engine.api.getImage(IMAGE);
          const { Id: kept } = await image.inspect();
          await engine.api.getContainer(await engine.run('author', { sh: 'echo x > /made' })).commit({});
          const { before, run } = await act('prune', {});
          expect(before.lines[0]).toMatch(/^1 dangling image/);
          expect(await run()).toMatchObject({ kind: 'succeeded' });
          expect((await image.inspect()).Id).toBe(kept);
          await expect(act('prune', {})).rejects.toMatchObject({ code: 'GONE' });
        });

        test('what is not there is gone, and what is not so any more cannot be done', async () => {
          await expect(act('restart', { container: 'nobody' })).rejects.toMatchObject({ code: 'GONE' });
          await engine.run('runs', { sh: SLEEPS });
          await expect(act('start', { container: 'runs' })).rejects.toMatchObject({ code: 'GONE' });
          await expect(act('unpause', { container: 'runs' })).rejects.toMatchObject({ code: 'GONE' });
        });

        test('a name that is none never reaches the engine', () => {
          for (const container of ['../images/json', 'a/../../b', 'x?all=1', 'x y', '', '-x', 'ä'])
            expect(toolOf('restart').input.safeParse({ container }).success).toBe(false);
        });

        test('an engine that may only be read takes no order', async () => {
          const system = { ...connection.system, acts: false };
          for (const tool of kind.tools.filter((each) => each.kind === 'active'))
            expect(await tool.rules?.({ ...context(), system }, {})).toMatchObject({
              code: 'ENGINE_READ_ONLY',
            });
        });
      });
    },
  );
});
