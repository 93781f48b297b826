import { formatMeasure, type Measure, readMeasure } from '../../core/measure.ts';
import type { ToolCall } from '../../core/tool-call.ts';

type MeasuresOf = (tool: string) => readonly Measure[];

/** What was read before is superseded by the same read again. */
export function latest(calls: readonly ToolCall[]): readonly ToolCall[] {
  return [...new Map(calls.map((call) => [`${call.tool} ${JSON.stringify(call.input)}`, call])).values()];
}

/** What reads show beyond its healthy bound, a line each: `sessions waiting for a lock: 4 sessions (healthy: …)`. */
export function redNow(calls: readonly ToolCall[], measuresOf: MeasuresOf): readonly string[] {
  return calls.flatMap((call) =>
    symptoms(call, measuresOf).flatMap((measure) => {
      const { value, isHealthy } = readMeasure(measure, measure.bound, call.result);
      return isHealthy === false ? [formatMeasure(measure, measure.bound, value)] : [];
    }),
  );
}

/** Whether a read shows anything beyond its bound; null: it measures nothing. */
export function isRed(call: ToolCall, measuresOf: MeasuresOf): boolean | null {
  const read = symptoms(call, measuresOf).map(
    (measure) => readMeasure(measure, measure.bound, call.result).isHealthy,
  );
  if (read.includes(false)) return true;
  return read.includes(true) ? false : null;
}

/** Those that tell of the problem itself: a counter says nothing by one read, and one thing may be gone with it still there. */
const symptoms = ({ tool }: ToolCall, measuresOf: MeasuresOf): readonly Measure[] =>
  measuresOf(tool).filter(({ healthy, ofOneThing }) => healthy !== 'steady' && !ofOneThing);
