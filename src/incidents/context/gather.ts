import { anySignal } from '../../core/any-signal.ts';
import { clip } from '../../core/clip.ts';
import type { GatheredPart } from '../../core/context.ts';
import { messageOf } from '../../core/errors.ts';
import { within } from '../../core/within.ts';
import type { ContextAbout, ContextPart } from './part.ts';

/** What is there when the work goes on, and all of it, once the last part has answered or is given up. */
export interface Gathering {
  readonly now: readonly GatheredPart[];
  /** Null: nothing is late. Never rejects. */
  readonly later: Promise<readonly GatheredPart[]> | null;
}

/** All parts begin at once. Only those that are awaited are waited for. Never throws. */
export async function gatherContext(parts: readonly ContextPart[], about: ContextAbout): Promise<Gathering> {
  const begun = performance.now();
  const since = (): number => Math.round(performance.now() - begun);
  const going = parts
    .filter((part) => part.concerns?.(about) ?? true)
    .map((part) => {
      const running = {
        part,
        settled: undefined as GatheredPart | undefined,
        done: runPart(part, about, since).then((settled) => {
          running.settled = settled;
          return settled;
        }),
      };
      return running;
    });
  await Promise.all(going.filter(({ part }) => part.awaited).map(({ done }) => done));
  // What needs nobody else has answered by the next turn of the loop.
  await new Promise(setImmediate);
  const now = going.map(({ part, settled }) => settled ?? gone(part, 'late', since()));
  const isLate = going.some(({ settled }) => settled === undefined);
  return { now, later: isLate ? Promise.all(going.map(({ done }) => done)) : null };
}

async function runPart(part: ContextPart, about: ContextAbout, since: () => number): Promise<GatheredPart> {
  const over = new AbortController();
  const signal = anySignal([about.signal, over.signal]);
  try {
    const answer = (async () => ({ found: await part.gather({ ...about, signal }) }))();
    const result = await within(part.limitMs, answer, () => null);
    if (result === null) return gone(part, 'late', since());
    const { found } = result;
    if (found === null) return gone(part, 'nothing', since());
    const { line, toolCallId } = found;
    return {
      ...gone(part, 'found', since(), clip(line, 500)),
      ...(toolCallId === undefined ? {} : { toolCallId }),
    };
  } catch (error) {
    return gone(part, 'could_not', since(), clip(messageOf(error), 200));
  } finally {
    over.abort();
  }
}

const gone = (
  { name, label }: ContextPart,
  state: GatheredPart['state'],
  ms: number,
  line = '',
): GatheredPart => ({ name, label, state, ms, line });
