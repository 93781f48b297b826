import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { IncidentId } from '../../../src/core/ids.ts';
import { defineReadTool, type Tool } from '../../../src/tools/define.ts';
import {
  boxAlert,
  boxInvestigator,
  boxTools,
  type Core,
  createCore,
  type Machine,
} from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Questions for this very moment, without a model: one look, with its time, and never what was seen before. */
let machine: Machine;
let readable: boolean;
let database: ScratchDatabase;
let core: Core;
let id: IncidentId;

const tools = (): readonly Tool[] =>
  boxTools(machine).map((tool) =>
    tool.kind === 'active'
      ? tool
      : defineReadTool({
          ...tool,
          run: async (context, input) => {
            if (!readable) throw new Error('the box does not answer');
            return tool.run(context, input);
          },
        }),
  );

beforeEach(async () => {
  machine = { broken: true, generation: 1, effects: 0, helps: true };
  readable = true;
  database = await scratchDatabase({ migrate: true });
  core = await createCore({ url: database.url, tools: tools(), investigator: boxInvestigator });
  await core.start();
  id = (await core.accept(boxAlert())).incidentId as IncidentId;
  await waitFor('a proposal', async () => (await core.records.incident(id))?.state === 'awaiting_approval', {
    timeoutMs: 60_000,
  });
});
afterEach(async () => {
  await core.stop();
  await database.drop();
});

async function asked(text: string) {
  const record = await core.records.load(id);
  if (!record) throw new Error('no record');
  return core.questions.readNow(record, text);
}

describe('how it is now', () => {
  test.each(['how many boxes are broken now?', 'is the box still broken?', 'is it over?', 'what is it now?'])(
    '“%s” is answered by a look of now, not by what was seen before',
    async (text) => {
      const before = Date.now();
      expect(await asked(text)).toMatchObject({
        state: 'red',
        lines: ['✗ boxes that are broken: 1 boxes (healthy: at most 0 boxes)'],
      });
      machine.broken = false;
      const now = await asked(text);
      expect(now).toMatchObject({
        state: 'green',
        lines: ['✓ boxes that are broken: 0 boxes (healthy: at most 0 boxes)'],
      });
      expect(Date.parse(now?.at ?? '')).toBeGreaterThanOrEqual(before);
    },
  );

  test('that cannot be read is said so', async () => {
    readable = false;
    expect(await asked('is it still broken?')).toMatchObject({
      state: 'unread',
      lines: [expect.stringContaining('Cannot tell')],
    });
  });

  test('is one read on record as the validator’s, and moves nothing', async () => {
    const before = await core.records.load(id);
    await asked('is it still broken?');
    const after = await core.records.load(id);
    const calls = after?.toolCalls.slice(before?.toolCalls.length) ?? [];
    expect(calls).toMatchObject([{ role: 'validator', tool: 'box_state', state: 'ok' }]);
    expect(after?.incident).toMatchObject({ state: 'awaiting_approval', round: 1 });
    expect(machine.effects).toBe(0);
  });

  test.each([
    'who approved this?',
    'what about replication?',
    'was it broken yesterday?',
    'write a post-mortem',
  ])('is not what “%s” asks', async (text) => {
    expect(await asked(text)).toBeNull();
  });
});

test('without a diagnosis there is nothing to look at', async () => {
  await core.sql`DELETE FROM action`;
  await core.sql`DELETE FROM event WHERE type = 'diagnosis.concluded'`;
  expect(await asked('is it still broken?')).toBeNull();
});
