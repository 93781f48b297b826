import { expect, test } from 'vitest';
import type { Engine, EngineEvent } from '../../../../src/targets/containers/engine.ts';
import { watchEngine } from '../../../../src/targets/containers/watch.ts';

const event = (second: number, action: string, attributes: Record<string, string> = {}): EngineEvent => ({
  at: new Date(Date.UTC(2026, 2, 1) + second * 1_000).toISOString(),
  type: 'container',
  action,
  name: 'shop-api',
  attributes: { id: 'a', ...attributes },
});
const died = (second: number, exitCode: string, more: Record<string, string> = {}) =>
  event(second, 'die', { exitCode, ...more });

/** What is told of these events, with their exit codes. */
async function told(...events: readonly EngineEvent[]): Promise<readonly string[]> {
  const engine: Pick<Engine, 'follow'> = {
    async *follow() {
      yield* events;
    },
  };
  const watch = watchEngine(engine as Engine, { target: 'shop', runtime: 'docker' });
  const all: string[] = [];
  for await (const sighting of watch('2026-03-01T00:00:00.000Z', new AbortController().signal)) {
    const payload = sighting.told?.payload as { readonly event: string; readonly exit_code?: number };
    all.push([payload.event, payload.exit_code ?? ''].join(' ').trim());
  }
  return all;
}

test.each<[string, readonly EngineEvent[], readonly string[]]>([
  ['a job that is done', [died(0, '0')], []],
  ['an error', [died(0, '3')], ['died 3']],
  ['an end that the engine was asked for', [event(0, 'kill', { signal: '15' }), died(9, '3')], []],
  ['an error long after such a request', [event(0, 'kill', { signal: '15' }), died(60, '3')], ['died 3']],
  [
    'an error after a signal that ends nothing',
    [event(0, 'kill', { signal: '1' }), died(1, '3')],
    ['died 3'],
  ],
  ['SIGTERM from whoever it was', [died(0, '143')], []],
  ['SIGKILL that nobody asked the engine for', [died(0, '137')], ['died 137']],
  ['another container’s request', [event(0, 'kill', { id: 'b' }), died(1, '3')], ['died 3']],
  ['the lack of memory, once', [event(0, 'oom'), died(1, '137')], ['out_of_memory']],
  ['a later end after such a lack', [event(0, 'oom'), died(60, '137')], ['out_of_memory', 'died 137']],
  ['how Podman counts', [event(0, 'die', { containerExitCode: '4' })], ['died 4']],
  ['an end without a code', [event(0, 'die')], ['died']],
  ['what is no container', [{ ...died(0, '3'), type: 'network' }], []],
  ['a command in it', [event(0, 'exec_die', { exitCode: '1' })], []],
  [
    'each change of its health, however often it is checked',
    ['healthy', 'unhealthy', 'unhealthy', 'healthy', 'healthy'].map((health, second) =>
      event(second, `health_status: ${health}`),
    ),
    ['healthy', 'unhealthy', 'healthy'],
  ],
])('%s', async (_what, events, expected) => {
  expect(await told(...events)).toEqual(expected);
});
