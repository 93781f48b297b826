import { canonicalJson } from '../../src/core/canonical-json.ts';
import { OpsError } from '../../src/core/errors.ts';
import type { Json } from '../../src/core/tool-call.ts';
import type { ActiveTool, Preflight, ReadTool, Tool } from '../../src/tools/define.ts';
import { createRecordings, type Recordings } from '../replay/recordings.ts';
import type { RecordedOutput } from '../replay/scenario.ts';
import { normalInput } from '../score/run-evals.ts';
import type { Change, Moment, RecoveryCase } from './recovery-case.ts';

/**
 * A system that shows what was recorded, by a clock that is given. Behind the real tools: their inputs, measures, commands,
 * objects and checks are Sentry's own, only what they would ask a live system is recorded.
 */
export interface RecordedSystem {
  readonly tools: readonly Tool[];
  /** Changes that ran, by name, in order. */
  readonly ran: readonly string[];
  /** When the last one ran, ms since the epoch; null: none did. */
  ranAt(): number | null;
  /** Since when the problem is really gone, ms since the epoch; null: it is there. */
  goneSince(): number | null;
  /** The change that such a call would make; null: the case has none. */
  changeOf(tool: string, input: Json): string | null;
}

interface Past {
  readonly from: number;
  readonly isGone: boolean | undefined;
  readonly fails: Moment['fails'];
  readonly recordings: Recordings;
}

export interface SystemOptions {
  readonly tools: readonly Tool[];
  /** The reads of a recorded incident. Throws OpsError EVALS_FILE when there is none of that name. */
  readonly recorded: (id: string) => readonly RecordedOutput[];
  /** Ms since the epoch. */
  readonly now: () => number;
}

export function createRecordedSystem(
  { world, changes }: Pick<RecoveryCase, 'world' | 'changes'>,
  { tools, recorded, now }: SystemOptions,
): RecordedSystem {
  const moments: Past[] = [];
  const ran: string[] = [];
  let ranAt: number | null = null;
  const normal = normalInput(tools);
  const begin = (list: readonly Moment[]): void => {
    for (const { after_seconds, is_gone, recorded: id, replaced, fails, reads } of list)
      moments.push({
        from: now() + after_seconds * 1_000,
        isGone: is_gone,
        fails,
        // The case's own first: of two reads of the same the first is what the first look sees.
        recordings: createRecordings(
          [
            ...reads,
            ...(id === undefined ? [] : withoutThese(replacedIn(recorded(id), replaced), reads, normal)),
          ],
          normal,
        ),
      });
  };
  begin(world);
  /** What has begun, the earliest first. */
  const begun = (): readonly Past[] =>
    moments.filter(({ from }) => from <= now()).toSorted((a, b) => a.from - b.from);

  function read(tool: string, input: Json): RecordedOutput {
    const past = begun().toReversed();
    const fails = past[0]?.fails;
    if (fails !== undefined) throw new OpsError(fails.code, fails.reason, { hint: 'So it was recorded.' });
    for (const { recordings } of past) {
      const found = recordings.find(tool, input);
      if (found.kind === 'found') return found.recorded;
    }
    throw notRecorded(`${tool} ${JSON.stringify(input)}`);
  }

  function changeOf(tool: string, input: Json): string | null {
    const asked = canonicalJson(normal(tool, input));
    const found = Object.entries(changes).find(
      ([, change]) => change.tool === tool && canonicalJson(normal(tool, change.input)) === asked,
    );
    return found?.[0] ?? null;
  }

  const acts: Acts = {
    change(tool, input) {
      const name = changeOf(tool, input);
      const change = name === null ? undefined : changes[name];
      if (name === null || change === undefined) throw notRecorded(`${tool} ${JSON.stringify(input)}`);
      return { name, change };
    },
    make(name, change) {
      const isInTime = change.only_after === undefined || ran.includes(change.only_after);
      ran.push(name);
      ranAt = now();
      if (isInTime) begin(change.afterwards);
    },
    hasRun: (name) => ran.includes(name),
  };
  return {
    ran,
    ranAt: () => ranAt,
    goneSince: () =>
      begun().reduce<number | null>(
        (since, { isGone, from }) => (isGone === true ? (since ?? from) : isGone === false ? null : since),
        null,
      ),
    changeOf,
    tools: tools.map((tool): Tool => (tool.kind === 'active' ? acting(tool, acts) : reading(tool, read))),
  };
}

interface Acts {
  /** Throws OpsError NOT_RECORDED for one that the case does not have. */
  change(tool: string, input: Json): { readonly name: string; readonly change: Change };
  make(name: string, change: Change): void;
  hasRun(name: string): boolean;
}

/** What a host declares is part of its configuration, which no recording has: its rules would have nothing to go by. */
function withoutHost<T extends Tool>({ rules, ...tool }: T) {
  return { ...tool, ...(rules === undefined || tool.targetKinds?.includes('host') ? {} : { rules }) };
}

function reading(tool: ReadTool, read: (tool: string, input: Json) => RecordedOutput): ReadTool {
  return {
    ...withoutHost(tool),
    run: async (_, input) => {
      const { status, output, data, code } = read(tool.name, input as Json);
      if (status === 'error')
        throw new OpsError(code ?? 'RECORDED_ERROR', output || 'It failed.', { hint: 'So it was recorded.' });
      return { text: output || '(no output)', data: data ?? null };
    },
  };
}

function acting(
  tool: ActiveTool<unknown, Json>,
  { change: of, make, hasRun }: Acts,
): ActiveTool<unknown, Json> {
  return {
    ...withoutHost(tool),
    preflight: async (_, input) => preflightOf(of(tool.name, input as Json).change),
    run: async (_, input) => {
      const { name, change } = of(tool.name, input as Json);
      make(name, change);
      return change.outcome;
    },
    look: async (_, input) => (hasRun(of(tool.name, input as Json).name) ? 'done' : 'not_done'),
  };
}

function preflightOf({ preflight }: Change): Preflight {
  if ('code' in preflight)
    throw new OpsError(preflight.code, preflight.reason, { hint: 'So it was recorded.' });
  const { guard, about, lines, blast_radius, undo, risk, objection } = preflight;
  return {
    guard,
    clock: null,
    lines,
    blastRadius: blast_radius,
    undo,
    risk,
    ...(about === undefined ? {} : { about }),
    ...(objection === undefined ? {} : { objection }),
  };
}

function replacedIn(
  outputs: readonly RecordedOutput[],
  replaced: Readonly<Record<string, string>>,
): readonly RecordedOutput[] {
  let text = JSON.stringify(outputs);
  for (const [was, is] of Object.entries(replaced)) text = text.replaceAll(was, is);
  return JSON.parse(text) as readonly RecordedOutput[];
}

function withoutThese(
  outputs: readonly RecordedOutput[],
  instead: readonly RecordedOutput[],
  normal: (tool: string, input: Json) => Json,
): readonly RecordedOutput[] {
  const key = ({ tool, args }: RecordedOutput): string => `${tool} ${canonicalJson(normal(tool, args))}`;
  const replaced = new Set(instead.map(key));
  return outputs.filter((output) => !replaced.has(key(output)));
}

function notRecorded(what: string): OpsError {
  return new OpsError('NOT_RECORDED', `This was not recorded: ${what}`, {
    hint: 'The case says nothing of it; look at what it has.',
  });
}
