import { describe, expect, it } from 'vitest';
import { checkVerifyStep } from '../../../src/agents/playbook/check-verify-step.ts';
import { asToolCallId } from '../../../src/domain/ids.ts';
import type { Json, ToolCallResult } from '../../../src/domain/tool-call.ts';

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
    expect(checkVerifyStep(step, result).holds).toBe(holds);
  });

  it('cannot tell when the test is no test', () => {
    expect(checkVerifyStep({ ...step, holds: 'result.jobs' }, ok({ jobs: 0 })).holds).toBeNull();
    expect(checkVerifyStep({ ...step, holds: 'result.jobs ==' }, ok({ jobs: 0 })).holds).toBeNull();
    expect(checkVerifyStep({ ...step, holds: 'result.jobs > 1' }, ok({ jobs: null })).holds).toBeNull();
  });
});
