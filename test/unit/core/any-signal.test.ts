import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { anySignal } from '../../../src/core/any-signal.ts';
import { waitFor } from '../../support/wait-for.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
/** Long enough for the garbage to be collected before. */
const MS = 400;

async function collectTwice(): Promise<void> {
  for (let n = 0; n < 2; n += 1) {
    await sleep(1);
    collect();
  }
}

test('a time limit beside another signal is up, whatever garbage is collected meanwhile', async () => {
  const signal = anySignal([new AbortController().signal, AbortSignal.timeout(MS)]);
  await collectTwice();
  await waitFor('the time to be up', async () => signal.aborted);
  expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
});

test('so it is where only a listener waits for it, and through one signal after the other', async () => {
  let heard = false;
  const listen = (): void => {
    const inner = anySignal([AbortSignal.timeout(MS)]);
    const outer = anySignal([inner, new AbortController().signal]);
    outer.addEventListener('abort', () => {
      heard = true;
    });
  };
  listen();
  await collectTwice();
  await waitFor('the time to be up', async () => heard);
});

test('the first that aborts is the reason, and one that has aborted already', () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const signal = anySignal([first.signal, second.signal]);
  second.abort('second');
  first.abort('first');
  expect(signal.reason).toBe('second');
  expect(anySignal([signal]).reason).toBe('second');
});
