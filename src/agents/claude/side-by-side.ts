import { setMaxListeners } from 'node:events';
import { anySignal } from '../../core/any-signal.ts';
import { clip } from '../../core/clip.ts';
import { count } from '../../core/count.ts';
import type { FirstLook } from '../../core/target.ts';
import type { ToolCallResult } from '../../core/tool-call.ts';
import { CLOSING_MS } from '../loop/types.ts';
import { type Investigation, InvestigatorFailed } from '../ports.ts';
import { ExplanationsReport, TestReport } from './reports.ts';
import { tellsOfNow } from './role-tools.ts';
import { type Finished, type RoleDeps, type RoleRun, runRole } from './run-role.ts';
import { tidyExplanations, tidyTest } from './tidy-report.ts';

/** Explanations that are tested at once. */
const MOST = 4;
/** Fewer are nothing to choose between. */
const LEAST = 2;
const LEAD_USD = 0.25;
const TEST_USD = 0.4;
/** What it may cost at most, US dollars. */
export const SIDE_BY_SIDE_USD = LEAD_USD + MOST * TEST_USD;
/** From here on each of them is told to conclude, ms. A report alone has been seen to take a minute and a half. */
export const TEST_CONCLUDES_MS = 2 * 60_000;
/** Of the lead, and of each test; whoever has not answered then is a gap. */
const LIMIT_MS = TEST_CONCLUDES_MS + CLOSING_MS;
/** What naming the explanations takes at most, ms. */
export const LEAD_MS = LIMIT_MS;
/** What naming and testing them takes at most, ms. */
export const SIDE_BY_SIDE_MS = LEAD_MS + LIMIT_MS;
/** Characters of what one first look shows. */
const OF_A_LOOK = 1_200;

/** An explanation, and what came of testing it. The ids are those on record. */
export interface Tested extends Pick<TestReport, 'end' | 'says' | 'evidence' | 'unknown'> {
  readonly explanation: string;
  /** Why nobody has tested it; null: somebody has. */
  readonly gap: string | null;
}

interface Look extends FirstLook {
  readonly result: ToolCallResult;
}

/** What came of it: what the target showed first, and each explanation. */
export interface SideBySide {
  readonly looked: readonly Look[];
  readonly tested: readonly Tested[];
}

/**
 * A lead names what could be the cause, and of each the read that would disprove it; all are tested at once, each in a context of its own.
 * None where no two could be named. Meanwhile the target is looked at, so that the first finding does not wait for a lead. Each is one
 * durable step: what a crash cuts off is done again, what was done is not.
 *
 * @param data the first turn without the explanation; @param limitMs of each, default three minutes
 * @throws the signal's reason, when the work is stopped
 */
export async function testSideBySide(
  deps: RoleDeps,
  work: Investigation,
  data: (more: object) => string,
  limitMs = LIMIT_MS,
): Promise<SideBySide> {
  const prefix = `r${work.incident.round}`;
  const looking = lookFirst(work, `claude:looks:${prefix}`);
  // It reads nothing, so it is offered nothing.
  const leading = apart({ ...deps, tools: [] }, work, `claude:lead:${prefix}`, limitMs, {
    role: 'lead',
    data: data({}),
    task: 'Name the explanations and call report_explanations.',
    about: '',
    effort: 'medium',
    maxTokens: 8_000,
    report: {
      name: 'report_explanations',
      description: 'Ends your work: what could be the cause, and the read that would disprove each.',
      schema: ExplanationsReport,
      tidy: tidyExplanations,
    },
    limits: { turns: 3, toolCalls: 1, usd: LEAD_USD, wallMs: TEST_CONCLUDES_MS },
  });
  await allEnded([looking, leading]);
  const [looked, led] = await Promise.all([looking, leading]);
  const named = led.ok ? led.report.explanations : [];
  if (named.length < LEAST) return { looked, tested: [] };
  const explanations = named.slice(0, MOST);
  const beyond = named.slice(MOST).map(({ cause }) => untested(cause, `${MOST} are tested at once`));
  work.say(
    `Testing ${count(explanations.length, 'explanation')} side by side: ${explanations.map(({ cause }) => clip(cause, 120)).join('; ')}`,
  );
  // What one writes into memory the others would read, and who is tested again would write it again.
  const reading = { ...deps, tools: deps.tools.filter(({ kind }) => kind !== 'memory_write') };
  const tests = explanations.map(async ({ cause, disprovedBy }, nth): Promise<Tested> => {
    const others = explanations.filter((_, other) => other !== nth).map((other) => other.cause);
    const tested = await apart(reading, work, `claude:specialist:${prefix}:${nth}`, limitMs, {
      role: 'specialist',
      data: data({
        ...lookedData(looked),
        test: { explanation: cause, disproved_by: disprovedBy, others },
      }),
      task: 'Test this explanation and call report_test.',
      about: '',
      effort: 'medium',
      maxTokens: 8_000,
      report: {
        name: 'report_test',
        description: 'Ends your work: whether the explanation stands, with the reads that show it.',
        schema: TestReport,
        tidy: tidyTest,
      },
      limits: { turns: 8, toolCalls: 20, usd: TEST_USD, wallMs: TEST_CONCLUDES_MS },
    });
    return tested.ok ? { explanation: cause, ...tested.report, gap: null } : untested(cause, tested.reason);
  });
  await allEnded(tests);
  return { looked, tested: [...(await Promise.all(tests)), ...beyond] };
}

/** So that what fails in one ends none of the others half-way: nobody works on after its turn. */
const allEnded = async (works: readonly Promise<unknown>[]): Promise<void> =>
  void (await Promise.allSettled(works));

/** What the playbook would look at first, all at once. */
async function lookFirst(work: Investigation, name: string): Promise<readonly Look[]> {
  const { target } = work.incident;
  if (target === null) return [];
  if (work.looks.length > 0) work.say(work.looks.map(({ why }) => `${why} …`).join('\n'));
  return work.durably(name, () =>
    Promise.all(
      work.looks.map(
        async (look): Promise<Look> => ({
          ...look,
          result: await work.callTool({ tool: look.tool, target, input: {} }, look.why),
        }),
      ),
    ),
  );
}

const untested = (explanation: string, gap: string): Tested => ({
  explanation,
  end: 'open',
  says: '',
  evidence: [],
  unknown: [],
  gap,
});

/** For a first turn: what the target showed first, and what each test came to. */
export const sideBySideData = ({ looked, tested }: SideBySide): object => ({
  ...lookedData(looked),
  ...(tested.length === 0
    ? {}
    : {
        tested: tested.map(({ explanation, end, says, evidence, unknown, gap }) =>
          gap === null
            ? { explanation, end, says, evidence, ...(unknown.length === 0 ? {} : { unknown }) }
            : { explanation, end: 'not tested', because: gap },
        ),
      }),
});

const lookedData = (looked: readonly Look[]): object =>
  looked.length === 0
    ? {}
    : {
        looked: looked.map(({ tool, result }) =>
          'reason' in result
            ? { tool, could_not_be_read: clip(result.reason, 200) }
            : { tool_call_id: result.toolCallId, tool, output: clip(result.text, OF_A_LOOK) },
        ),
      };

/** What nobody has tested, for people. */
export const gapsOf = (tested: readonly Tested[]): readonly string[] =>
  tested.flatMap(({ explanation, gap }) =>
    gap === null ? [] : [clip(`Not tested (${gap}): ${explanation}`, 600)],
  );

type Apart<T> = { readonly ok: true; readonly report: T } | { readonly ok: false; readonly reason: string };

/** A role that is nobody's voice in the thread and hears nobody, as one durable step; its claims cite calls by the ids on record. */
function apart<T extends ExplanationsReport | TestReport>(
  deps: RoleDeps,
  work: Investigation,
  name: string,
  limitMs: number,
  run: RoleRun<T>,
): Promise<Apart<T>> {
  return work.durably(name, async (): Promise<Apart<T>> => {
    const late = AbortSignal.timeout(limitMs);
    // Not only unseen: what it is not offered, the gate refuses it.
    const calls = { ...work, ...work.only?.(deps.tools.map((tool) => tool.name)) };
    const read = new Set<string>();
    const alone: Investigation = {
      ...calls,
      callTool: async (request, ...more) => {
        const result = await calls.callTool(request, ...more);
        const kind = deps.tools.find(({ name: tool }) => tool === request.tool)?.kind;
        if (result.kind === 'ok' && kind !== undefined && tellsOfNow(kind)) read.add(result.toolCallId);
        return result;
      },
      signal: anySignal([work.signal, late]),
      durably: (_, fn) => fn(),
      say: () => undefined,
      unsay: () => undefined,
      memoryFor: async () => null,
      hintsSince: async () => [],
    };
    // Every parallel call listens.
    setMaxListeners(0, alone.signal);
    try {
      const report = onRecord(await runRole(deps, alone, run));
      return isShown(report, read) ? { ok: true, report } : { ok: false, reason: 'nothing was read for it' };
    } catch (error) {
      work.signal.throwIfAborted();
      if (late.aborted) return { ok: false, reason: 'no answer in time' };
      // A fault of ours is no gap: the turn is tried again, and what was tested stays so.
      if (!(error instanceof InvestigatorFailed)) throw error;
      return { ok: false, reason: clip(error.reason.replace(/\.$/, ''), 200) };
    }
  });
}

/** Words alone rule nothing in or out: neither what others have read, nor memory, nor a read that failed. */
function isShown(report: ExplanationsReport | TestReport, read: ReadonlySet<string>): boolean {
  if (!('end' in report) || report.end === 'open') return true;
  return report.evidence.some(({ toolCallIds }) => toolCallIds.some((id) => read.has(id)));
}

function onRecord<T extends ExplanationsReport | TestReport>({ report, recordedAs }: Finished<T>): T {
  if (report === undefined) throw new InvestigatorFailed('it stopped without a conclusion');
  if (!('evidence' in report)) return report;
  return {
    ...report,
    evidence: report.evidence.map((claim) => ({
      ...claim,
      toolCallIds: claim.toolCallIds.map((id) => recordedAs.get(id) ?? id),
    })),
  };
}
