import type { Json } from '../../src/core/tool-call.ts';
import type { RecordedOutput } from '../replay/scenario.ts';
import { postgresOfCloudWatch } from './cloudwatch.ts';
import { kubernetesOfEks } from './eks.ts';
import { kubernetesOfKubectl } from './kubectl.ts';

/**
 * Reads what another system's tools recorded as one of ours would have answered. Only what means the same is taken over;
 * what was not recorded is left out of `data`, so that a runbook's test of it counts as not made.
 */
export interface Mapping {
  /** The recorded tools it reads. */
  readonly from: readonly string[];
  /** The tool of ours whose answers it gives. */
  readonly to: string;
  /** Empty: nothing in there that this tool would show. `outputs`: of the `from` tools, those that worked. */
  read(outputs: readonly RecordedOutput[]): readonly MappedOutput[];
}

export interface MappedOutput {
  /** What the tool would have been asked; nothing in particular, when left out. */
  readonly args?: Readonly<Record<string, string>>;
  readonly text: string;
  readonly data: Json;
}

/** Every mapping there is. */
const mappings: readonly Mapping[] = [...postgresOfCloudWatch, ...kubernetesOfEks, ...kubernetesOfKubectl];

/** The recorded outputs, and after them what they say in terms of our tools. */
export function withMapped(outputs: readonly RecordedOutput[]): readonly RecordedOutput[] {
  const own = new Set(outputs.map(({ tool }) => tool));
  const mapped = mappings
    .filter(({ to }) => !own.has(to))
    .flatMap(({ from, to, read }) =>
      read(outputs.filter(({ tool, status }) => from.includes(tool) && status === 'success')).map(
        ({ args, text, data }): RecordedOutput => ({
          tool: to,
          args: { ...args },
          status: 'success',
          output: text,
          data: data as never,
        }),
      ),
    );
  return [...outputs, ...mapped];
}

/** Of the recorded tools those that a call of `tool` showed: itself, or what it was mapped from. */
export function shownBy(tool: string, recorded: readonly string[]): readonly string[] {
  if (recorded.includes(tool)) return [tool];
  return mappings
    .filter(({ to }) => to === tool)
    .flatMap(({ from }) => from.filter((one) => recorded.includes(one)));
}
