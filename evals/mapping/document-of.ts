import type { Json } from '../../src/core/tool-call.ts';
import type { RecordedOutput } from '../replay/scenario.ts';

/** The JSON document that a tool gave last; not every recorded output is one: those are read by models only. */
export function documentOf(outputs: readonly RecordedOutput[], tool: string): Json | undefined {
  return outputs
    .filter((one) => one.tool === tool)
    .flatMap(({ output }): Json[] => {
      try {
        return [JSON.parse(output) as Json];
      } catch (error) {
        if (error instanceof SyntaxError) return [];
        throw error;
      }
    })
    .at(-1);
}
