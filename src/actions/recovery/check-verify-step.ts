import { formatMeasure, type Measure, readMeasure, staysAsItIs } from '../../core/measure.ts';
import type { ToolCallResult, VerifyStep } from '../../core/tool-call.ts';
import { evaluate } from '../../runbooks/expression.ts';

export interface VerifyCheck {
  /** Null: cannot tell, because the read or the test itself failed. Never to be counted as fixed. */
  readonly holds: boolean | null;
  /** For the thread; empty where there is nothing to say. */
  readonly line: string;
  /** What its measure read; null where it has none or could not be told. */
  readonly value: number | null;
}

/** Judges one verify step by what its tool has just returned. No model is asked. `measures`: the tool's own. */
export function checkVerifyStep(
  step: VerifyStep,
  result: ToolCallResult,
  measures: readonly Measure[],
): VerifyCheck {
  if (result.kind === 'proposed') return untold(`${step.tool} is no tool that reads.`);
  if (result.kind !== 'ok') return untold(`${step.tool} failed (${result.code}): ${result.reason}`);
  if (step.measure !== undefined) return checkMeasure(step, step.measure, result.data, measures);
  if (step.holds === undefined) return untold(`nothing is said about what ${step.tool} must show.`);
  const value = evaluate(step.holds, { ...step.given, result: result.data });
  if (!value.ok) return untold(value.reason);
  if (typeof value.value !== 'boolean') return untold(`\`${step.holds}\` is neither true nor false`);
  return {
    holds: value.value,
    line: value.value ? `✓ ${step.says}` : `✗ Not yet: ${step.says}`,
    value: null,
  };
}

function checkMeasure(
  step: VerifyStep,
  { name, bound: wanted }: NonNullable<VerifyStep['measure']>,
  data: Parameters<typeof readMeasure>[2],
  measures: readonly Measure[],
): VerifyCheck {
  const measure = measures.find((one) => one.name === name);
  if (measure === undefined) return untold(`${step.tool} has no measure "${name}".`);
  const bound = wanted ?? measure.bound;
  const { value, isHealthy } = readMeasure(measure, bound, data);
  // A counter that nobody keeps is not worth a line, nor is a number that only names something.
  if (measure.healthy === 'same' || (value === null && staysAsItIs(measure)))
    return { holds: true, line: '', value };
  const said = formatMeasure(measure, bound, value);
  if (isHealthy === null)
    return untold(
      value === null
        ? `${step.tool} does not show it (${said})`
        : `${said}, as far as it can be seen; part of it is hidden or was not read`,
      value,
    );
  return { holds: isHealthy, line: `${isHealthy ? '✓' : '✗'} ${said}`, value };
}

function untold(why: string, value: number | null = null): VerifyCheck {
  return { holds: null, line: `Cannot tell: ${why}`, value };
}
