import type { ToolCallResult, VerifyStep } from '../../domain/tool-call.ts';
import { evaluate } from '../../memory/runbooks/expression.ts';

export interface VerifyCheck {
  /** Null: cannot tell, because the read or the test itself failed. Never to be counted as fixed. */
  readonly holds: boolean | null;
  /** For the thread. */
  readonly line: string;
}

/** Judges one verify step by what its tool has just returned. No model is asked. */
export function checkVerifyStep(step: VerifyStep, result: ToolCallResult): VerifyCheck {
  if (result.kind === 'proposed')
    return { holds: null, line: `Cannot tell: ${step.tool} is no tool that reads.` };
  if (result.kind !== 'ok')
    return { holds: null, line: `Cannot tell: ${step.tool} failed (${result.code}): ${result.reason}` };
  const value = evaluate(step.holds, { result: result.data });
  if (!value.ok) return { holds: null, line: `Cannot tell: ${value.reason}` };
  if (typeof value.value !== 'boolean')
    return { holds: null, line: `Cannot tell: \`${step.holds}\` is neither true nor false` };
  return value.value
    ? { holds: true, line: `✓ ${step.says}` }
    : { holds: false, line: `✗ Not yet: ${step.says}` };
}
