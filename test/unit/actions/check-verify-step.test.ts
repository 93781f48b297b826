import { describe, expect, it } from 'vitest';
import { checkVerifyStep } from '../../../src/actions/recovery/check-verify-step.ts';
import { asToolCallId } from '../../../src/core/ids.ts';
import { measureAt } from '../../../src/core/measure.ts';
import type { Json, ToolCallResult } from '../../../src/core/tool-call.ts';

const step = { tool: 'queue_depth', input: {}, holds: 'result.jobs == 0', says: 'The queue is empty.' };
const toolCallId = asToolCallId('tc_000000000000');
const ok = (data: Json): ToolCallResult => ({ kind: 'ok', toolCallId, text: '', data, truncated: false });

describe('a verify step', () => {
  it.each<readonly [string, ToolCallResult, boolean | null]>([
    ['holds when its test does', ok({ jobs: 0 }), true],
    ['does not hold when its test does not', ok({ jobs: 3 }), false],
    ['cannot tell when the tool failed', { kind: 'failed', toolCallId, code: 'X', reason: 'down' }, null],
    ['cannot tell when the tool was refused', { kind: 'refused', toolCallId, code: 'X', reason: 'no' }, null],
    ['cannot tell when the data lacks what the test names', ok({}), null],
    ['does not hold when the value is of another type', ok({ jobs: 'none' }), false],
    ['cannot tell when there is no data', ok(null), null],
  ])('%s', (_name, result, holds) => {
    expect(checkVerifyStep(step, result, []).holds).toBe(holds);
  });

  it('cannot tell when the test is no test', () => {
    expect(checkVerifyStep({ ...step, holds: 'result.jobs' }, ok({ jobs: 0 }), []).holds).toBeNull();
    expect(checkVerifyStep({ ...step, holds: 'result.jobs ==' }, ok({ jobs: 0 }), []).holds).toBeNull();
    expect(checkVerifyStep({ ...step, holds: 'result.jobs > 1' }, ok({ jobs: null }), []).holds).toBeNull();
  });

  const jobs = measureAt('jobs', {
    name: 'jobs',
    label: 'jobs waiting',
    unit: 'jobs',
    healthy: 'at_most',
    bound: 5,
  });
  const starts = measureAt('starts', {
    name: 'starts',
    label: 'starts',
    unit: '',
    healthy: 'steady',
    bound: 0,
  });
  const measured = (name: string, bound?: number) => {
    const { holds: _, ...rest } = step;
    return { ...rest, measure: bound === undefined ? { name } : { name, bound } };
  };

  it.each<readonly [string, string, number | undefined, Json, boolean | null]>([
    ['by the measure’s own bound', 'jobs', undefined, { jobs: 5 }, true],
    ['beyond it', 'jobs', undefined, { jobs: 6 }, false],
    ['beyond another bound', 'jobs', 2, { jobs: 3 }, false],
    ['not at all where the number is missing', 'jobs', undefined, {}, null],
    ['not at all where it is no number', 'jobs', undefined, { jobs: 'many' }, null],
    ['not at all by a measure that the tool has not', 'jobz', undefined, { jobs: 0 }, null],
    ['always by a counter, which is compared over time', 'starts', undefined, { starts: 9 }, true],
    ['also by a counter that nobody keeps', 'starts', undefined, { starts: null }, true],
  ])('a measure holds %s', (_name, name, bound, data, holds) => {
    expect(checkVerifyStep(measured(name, bound), ok(data), [jobs, starts]).holds).toBe(holds);
  });

  it('says the number and its healthy bound', () => {
    expect(checkVerifyStep(measured('jobs'), ok({ jobs: 6 }), [jobs]).line).toBe(
      '✗ jobs waiting: 6 jobs (healthy: at most 5 jobs)',
    );
  });
});
