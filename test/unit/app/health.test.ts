import { expect, it } from 'vitest';
import { type Probes, readHealth } from '../../../src/app/health.ts';

const well: Probes = {
  record: async () => undefined,
  turnQueue: async () => ({ oldestWaitMs: 40, stalledMs: 40, waiting: 1, running: 3, beatMs: 900 }),
  slack: () => ({
    ok: true,
    mode: 'socket',
    connections: 2,
    problem: null,
    oldestWaitMs: 300,
    lastEventMs: 5,
    givenUp: 0,
  }),
};
const turns = await well.turnQueue();

async function statesOf(probes: Partial<Probes>): Promise<Record<string, string>> {
  const parts = await readHealth({ ...well, ...probes }, 20);
  return Object.fromEntries(parts.map(({ name, state }) => [name, state]));
}

const allOk = { record: 'ok', engine: 'ok', slack: 'ok', outbox: 'ok' };

it('says of each part that it is well', async () => {
  expect(await statesOf({})).toEqual(allOk);
});

it.each<[string, Partial<Probes>, Record<string, string>]>([
  ['the record cannot be read', { record: () => Promise.reject(new Error('refused')) }, { record: 'away' }],
  ['the record does not answer', { record: () => new Promise(() => undefined) }, { record: 'away' }],
  ['the engine cannot be asked', { turnQueue: () => Promise.reject(new Error('x')) }, { engine: 'away' }],
  ['its heart stands still', { turnQueue: async () => ({ ...turns, beatMs: 11_000 }) }, { engine: 'silent' }],
  ['it has not begun', { turnQueue: async () => ({ ...turns, beatMs: null }) }, { engine: 'silent' }],
  [
    'due turns do not begin',
    { turnQueue: async () => ({ ...turns, stalledMs: 31_000 }) },
    { engine: 'stalled' },
  ],
  ['turns wait behind others', { turnQueue: async () => ({ ...turns, oldestWaitMs: 300_000 }) }, {}],
  ['Slack is cut', { slack: () => ({ ...well.slack(), ok: false, problem: 'cut' }) }, { slack: 'away' }],
  ['messages wait', { slack: () => ({ ...well.slack(), oldestWaitMs: 121_000 }) }, { outbox: 'behind' }],
])('names the part that is ill: %s [F19]', async (_, probes, ill) => {
  expect(await statesOf(probes)).toEqual({ ...allOk, ...ill });
});

it('only record and engine keep it from working', async () => {
  const vital = (await readHealth(well)).filter(({ isVital }) => isVital).map(({ name }) => name);
  expect(vital).toEqual(['record', 'engine']);
});
