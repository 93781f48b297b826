import { anySignal } from '../core/any-signal.ts';
import { messageOf } from '../core/errors.ts';
import type { Target } from '../core/target.ts';
import type { Json } from '../core/tool-call.ts';
import type { ReadNumber, UsualReading } from '../core/usual.ts';
import { within } from '../core/within.ts';
import type { ToolContext } from '../tools/define.ts';
import type { UsualRead } from './kind.ts';

/** No number is read out of a page of documentation. */
const NO_DOCS: ToolContext['docs'] = {
  hosts: [],
  fetch: async () => {
    throw new Error('a read of usual numbers asks for no documentation');
  },
};

/**
 * Reads the few numbers of a target, one read after the other, so that a tool which is called meanwhile waits for one at most. A read
 * that fails takes its own numbers with it and is said under `unread`; throws only when aborted.
 */
export async function readUsual(
  target: Target,
  reads: readonly UsualRead[],
  system: unknown,
  signal: AbortSignal,
): Promise<UsualReading> {
  const numbers: ReadNumber[] = [];
  const unread: string[] = [];
  for (const read of reads) {
    const { numbers: wanted } = read;
    const data = await answerOf(read, target, system, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      unread.push(`${wanted.map(({ label }) => label).join(', ')}: ${messageOf(error)}`);
      return null;
    });
    for (const { value, ...number } of wanted)
      numbers.push({ ...number, now: data === null ? null : value(data) });
  }
  return { numbers, unread };
}

async function answerOf(
  { tool, input }: UsualRead,
  target: Target,
  system: unknown,
  signal: AbortSignal,
): Promise<Json> {
  const { timeoutMs } = tool;
  const late = new AbortController();
  const context = {
    target,
    system,
    docs: NO_DOCS,
    signal: anySignal([signal, late.signal]),
    timeoutMs,
  };
  try {
    return (await within(timeoutMs, tool.run(context, tool.input.parse(input)))).data;
  } finally {
    late.abort();
  }
}
