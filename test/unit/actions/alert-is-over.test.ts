import { expect, it } from 'vitest';
import { z } from 'zod';
import { notRed, readRed } from '../../../src/actions/proposals/aim.ts';
import type { AlertCheck } from '../../../src/actions/recovery/alert-checks.ts';
import { type CriterionQuestion, readCriterion } from '../../../src/actions/recovery/criterion.ts';
import type { VerifyPlan, VerifyStep } from '../../../src/core/tool-call.ts';

type World = Readonly<Record<string, number>>;

const tool = {
  input: z.object({}),
  measures: [
    { name: 'n', label: 'n', unit: '', healthy: 'at_most', bound: 0, value: (data: { n: number }) => data.n },
  ],
};
const registry = { get: () => tool as never };
const vault = { mint: () => ({}), revoke: () => undefined } as never;
const step = (name: string): VerifyStep => ({ tool: name, input: {}, measure: { name: 'n' }, says: name });
const check = (name: string, isCertain: boolean): AlertCheck => ({
  step: step(name),
  runbookId: 'a',
  isCertain,
});
const signal = new AbortController().signal;

const look = (world: World) => (question: CriterionQuestion) =>
  readCriterion(
    {
      vault,
      registry,
      identity: async () => ({ systemIdentifier: 'box', timelineId: 1 }),
      call: async (_, { tool: name }) => ({
        kind: 'ok',
        toolCallId: name as never,
        text: '',
        data: { n: world[name] ?? 0 },
        truncated: false,
      }),
    },
    question,
  );

const proposed = (world: World, checks: readonly AlertCheck[]) =>
  readRed(
    { criterion: look(world), registry },
    { incidentId: 'i' as never },
    { target: { name: 't' } as never, signal },
    { steps: [step('blamed')], holdMs: 1, timeoutMs: 1 },
    [],
    checks,
  );

const claimed = async (world: World, plan: VerifyPlan) =>
  notRed(await look(world)({ incidentId: 'i' as never, target: 't', plan, purpose: '', signal }));

async function criterion(world: World, checks: readonly AlertCheck[]): Promise<VerifyPlan> {
  const ground = await proposed(world, checks);
  if ('ok' in ground) throw new Error(ground.code);
  return ground.criterion;
}

it('is not over by what may be about something else, while what is blamed is red', async () => {
  const plan = await criterion({ blamed: 1, other: 1 }, [check('other', false)]);
  expect(await claimed({ blamed: 1, other: 0 }, plan)).toBeUndefined();
  expect(await claimed({ blamed: 0, other: 1 }, plan)).toMatchObject({ code: 'NOT_TO_BLAME' });
});

it('is not over by that while the alert’s own problem has come back', async () => {
  const checks = [check('alert', true), check('other', false)];
  const plan = await criterion({ blamed: 1, alert: 0, other: 1 }, checks);
  expect(await claimed({ blamed: 1, alert: 1, other: 0 }, plan)).toBeUndefined();
});

it('is over where what is surely the alert’s is', async () => {
  const plan = await criterion({ blamed: 1, alert: 1 }, [check('alert', true)]);
  expect(await claimed({ blamed: 1, alert: 0 }, plan)).toMatchObject({ code: 'OVER_BY_ITSELF' });
});

it('is not over because what is blamed is well', async () => {
  expect(await proposed({ blamed: 0, alert: 1 }, [check('alert', true)])).toMatchObject({
    code: 'NOT_TO_BLAME',
  });
  expect(await proposed({ blamed: 0, alert: 0 }, [check('alert', true)])).toMatchObject({
    code: 'OVER_BY_ITSELF',
  });
});
