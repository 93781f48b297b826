import { canonicalJson } from '../../src/core/canonical-json.ts';
import type { Json } from '../../src/core/tool-call.ts';
import { entriesOf } from './incident-of.ts';
import type { RecordedOutput } from './scenario.ts';

/** What a replayed call is answered with. */
export type Found =
  | { readonly kind: 'found'; readonly recorded: RecordedOutput; readonly exact: boolean }
  | { readonly kind: 'missing'; readonly reason: string }
  | { readonly kind: 'unknown_tool' };

export interface Recordings {
  readonly tools: readonly string[];
  find(tool: string, input: Json): Found;
}

/** They change how much is shown, not what is looked at. */
const HOW_MUCH =
  /^(?:limit|page|offset|lines|tail|min_\w+|max_\w+|sample_seconds|order_by|sort|filter|start_time|end_time|since|until)$/;

/**
 * Answers calls from what was recorded. The same call again gets the next recording of it, the last one from then on: a
 * second look sees what the second look saw. A call that was never made is answered by one that looked at the same
 * thing, with more or fewer lines; one about another thing (pid, table) is not. `normal`: an input as its tool reads it.
 */
export function createRecordings(
  outputs: readonly RecordedOutput[],
  normal: (tool: string, input: Json) => Json = (_, input) => input,
): Recordings {
  const recorded = outputs.map((output) => ({ output, input: normal(output.tool, output.args) }));
  const tools = [...new Set(outputs.map(({ tool }) => tool))];
  const asked = new Map<string, number>();

  return {
    tools,
    find(tool, raw) {
      const ofTool = recorded.filter(({ output }) => output.tool === tool);
      if (ofTool.length === 0) return { kind: 'unknown_tool' };
      const input = normal(tool, raw);
      const key = `${tool} ${canonicalJson(input)}`;
      const same = ofTool.filter((one) => canonicalJson(one.input) === canonicalJson(input));
      const times = asked.get(key) ?? 0;
      asked.set(key, times + 1);
      const exact = same[Math.min(times, same.length - 1)];
      if (exact) return { kind: 'found', recorded: exact.output, exact: true };
      const near = ofTool
        .filter((one) => sameSubject(one.input, input))
        .toSorted((a, b) => agreement(b.input, input) - agreement(a.input, input))[0];
      if (near) return { kind: 'found', recorded: near.output, exact: false };
      return {
        kind: 'missing',
        reason: notRecorded(
          tool,
          ofTool.map((one) => one.output),
        ),
      };
    },
  };
}

function subject(input: Json): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    Object.entries(entriesOf(input)).filter(([name, value]) => !HOW_MUCH.test(name) && value !== null),
  );
}

const sameSubject = (a: Json, b: Json): boolean => canonicalJson(subject(a)) === canonicalJson(subject(b));

function agreement(a: Json, b: Json): number {
  const other = entriesOf(b);
  return Object.entries(entriesOf(a)).filter(
    ([name, value]) => canonicalJson(value) === canonicalJson(other[name] ?? null),
  ).length;
}

function notRecorded(tool: string, recorded: readonly RecordedOutput[]): string {
  const inputs = [...new Set(recorded.map(({ args }) => JSON.stringify(args)))];
  return `This call of ${tool} was not recorded. Recorded inputs: ${inputs.slice(0, 12).join(', ')}${inputs.length > 12 ? ', …' : ''}.`;
}
