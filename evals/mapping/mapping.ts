import type { Json } from '../../src/core/tool-call.ts';
import type { RecordedOutput } from '../replay/scenario.ts';
import { postgresOfCloudWatch } from './cloudwatch.ts';

/**
 * Reads what another system's tools recorded as one of ours would have answered. Only what means the same is taken over;
 * what was not recorded is left out of `data`, so that a runbook's test of it counts as not made.
 */
export interface Mapping {
  /** The recorded tools it reads. */
  readonly from: readonly string[];
  /** The tool of ours whose answer it gives. */
  readonly to: string;
  /** Undefined: nothing in there that this tool would show. `outputs`: of the `from` tools, parsed, by tool. */
  read(outputs: Readonly<Record<string, Json>>): MappedOutput | undefined;
}

export interface MappedOutput {
  readonly text: string;
  readonly data: Json;
}

/** Every mapping there is. */
const mappings: readonly Mapping[] = postgresOfCloudWatch;

/** The recorded outputs, and after them what they say in terms of our tools. */
export function withMapped(outputs: readonly RecordedOutput[]): readonly RecordedOutput[] {
  const own = new Set(outputs.map(({ tool }) => tool));
  const mapped = mappings
    .filter(({ to }) => !own.has(to))
    .flatMap((mapping): RecordedOutput[] => {
      const parsed = parsedOutputs(outputs, mapping.from);
      const read = Object.keys(parsed).length === 0 ? undefined : mapping.read(parsed);
      return read === undefined
        ? []
        : [{ tool: mapping.to, args: {}, status: 'success', output: read.text, data: read.data as never }];
    });
  return [...outputs, ...mapped];
}

function parsedOutputs(
  outputs: readonly RecordedOutput[],
  from: readonly string[],
): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    outputs
      .filter(({ tool, status }) => from.includes(tool) && status === 'success')
      .flatMap(({ tool, output }): [string, Json][] => {
        try {
          return [[tool, JSON.parse(output) as Json]];
        } catch (error) {
          // Not every recorded output is a document; those are read by models only.
          if (error instanceof SyntaxError) return [];
          throw error;
        }
      }),
  );
}
