import { anySignal } from '../../core/any-signal.ts';
import { clipLine } from '../../core/clip.ts';
import type { GatheredPart } from '../../core/context.ts';
import { messageOf } from '../../core/errors.ts';
import { withoutMarks } from '../../core/model-words.ts';
import { within } from '../../core/within.ts';
import type { ContextAbout, ContextPart } from './part.ts';

/** Of what was found, and of why nothing could be. */
const [MAX_FOUND, MAX_REASON] = [300, 120];

/** What is there when the work goes on, and all of it, once the last part has answered or is given up. */
export interface Gathering {
  readonly now: readonly GatheredPart[];
  /** Null: nothing is late. Never rejects. */
  readonly later: Promise<readonly GatheredPart[]> | null;
}

/**
 * All parts begin at once. Only those that are awaited are waited for. Never throws.
 *
 * @param redact takes secrets out of what was found, before anything is cut
 */
export async function gatherContext(
  parts: readonly ContextPart[],
  about: ContextAbout,
  redact: (text: string) => string,
): Promise<Gathering> {
  const begun = performance.now();
  // An alert may write what it likes: no line of the checklist but ours, and none of our marks. A secret may be whole only without them.
  const ownLine: OwnLine = (text, max) => clipLine(redact(withoutMarks(redact(text))), max);
  const since = (): number => Math.round(performance.now() - begun);
  const going = parts
    .filter((part) => part.concerns?.(about) ?? true)
    .map((part) => {
      const running = {
        part,
        settled: undefined as GatheredPart | undefined,
        done: runPart(part, about, since, ownLine).then((settled) => {
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

type OwnLine = (text: string, max: number) => string;

async function runPart(
  part: ContextPart,
  about: ContextAbout,
  since: () => number,
  ownLine: OwnLine,
): Promise<GatheredPart> {
  const over = new AbortController();
  const signal = anySignal([about.signal, over.signal]);
  try {
    const answer = (async () => ({ found: await part.gather({ ...about, signal }) }))();
    const result = await within(part.limitMs, answer, () => null);
    if (result === null) return gone(part, 'late', since());
    const { found } = result;
    if (found === null) return gone(part, 'nothing', since());
    const { line, nothing, toolCallId, people } = found;
    return {
      ...gone(part, nothing ? 'nothing' : 'found', since(), ownLine(line, MAX_FOUND)),
      ...(toolCallId === undefined ? {} : { toolCallId }),
      ...(people === undefined ? {} : { people }),
    };
  } catch (error) {
    return gone(part, 'could_not', since(), ownLine(messageOf(error), MAX_REASON));
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
