import { anySignal } from '../../core/any-signal.ts';
import { clip } from '../../core/clip.ts';
import { count } from '../../core/count.ts';
import { type Investigation, InvestigatorFailed } from '../ports.ts';
import { ExplanationsReport, TestReport } from './reports.ts';
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
/** Of the lead, and of each test; whoever has not answered then is a gap. */
const LIMIT_MS = 3 * 60_000;
/** From here on a test is told to conclude. */
const CONCLUDE_MS = 90_000;

/** An explanation, and what came of testing it. The ids are those on record. */
export interface Tested extends Pick<TestReport, 'end' | 'says' | 'evidence' | 'unknown'> {
  readonly explanation: string;
  /** Why nobody has tested it; null: somebody has. */
  readonly gap: string | null;
}

/**
 * A lead names what could be the cause, and of each the read that would disprove it; all are tested at once, each in a context of its own.
 * None where no two could be named. Each is one durable step: what a crash cuts off is tested again, what was tested is not.
 *
 * @param data the first turn without the explanation; @param limitMs of each, default three minutes
 * @throws the signal's reason, when the work is stopped
 */
export async function testSideBySide(
  deps: RoleDeps,
  work: Investigation,
  data: (more: object) => string,
  limitMs = LIMIT_MS,
): Promise<readonly Tested[]> {
  const prefix = `r${work.incident.round}`;
  // It reads nothing, so it is offered nothing.
  const led = await apart({ ...deps, tools: [] }, work, `claude:lead:${prefix}`, limitMs, {
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
    limits: { turns: 3, toolCalls: 1, usd: LEAD_USD, wallMs: CONCLUDE_MS },
  });
  const named = led.ok ? led.report.explanations : [];
  if (named.length < LEAST) return [];
  const explanations = named.slice(0, MOST);
  const beyond = named.slice(MOST).map(({ cause }) => untested(cause, `${MOST} are tested at once`));
  work.say(
    `Testing ${count(explanations.length, 'explanation')} side by side: ${explanations.map(({ cause }) => clip(cause, 120)).join('; ')}`,
  );
  // What one writes into memory the others would read, and who is tested again would write it again.
  const reading = { ...deps, tools: deps.tools.filter(({ kind }) => kind !== 'memory_write') };
  const tests = await Promise.allSettled(
    explanations.map(async ({ cause, disprovedBy }, nth): Promise<Tested> => {
      const others = explanations.filter((_, other) => other !== nth).map((other) => other.cause);
      const tested = await apart(reading, work, `claude:specialist:${prefix}:${nth}`, limitMs, {
        role: 'specialist',
        data: data({ test: { explanation: cause, disproved_by: disprovedBy, others } }),
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
        limits: { turns: 8, toolCalls: 20, usd: TEST_USD, wallMs: CONCLUDE_MS },
      });
      return tested.ok ? { explanation: cause, ...tested.report, gap: null } : untested(cause, tested.reason);
    }),
  );
  // Only when all have ended: none of them works on after its turn.
  const broken = tests.find((test) => test.status === 'rejected');
  if (broken) throw broken.reason;
  return [...tests.flatMap((test) => (test.status === 'fulfilled' ? [test.value] : [])), ...beyond];
}

const untested = (explanation: string, gap: string): Tested => ({
  explanation,
  end: 'open',
  says: '',
  evidence: [],
  unknown: [],
  gap,
});

/** For a first turn: what each test came to. */
export const testedData = (tested: readonly Tested[]): object =>
  tested.length === 0
    ? {}
    : {
        tested: tested.map(({ explanation, end, says, evidence, unknown, gap }) =>
          gap === null
            ? { explanation, end, says, evidence, ...(unknown.length === 0 ? {} : { unknown }) }
            : { explanation, end: 'not tested', because: gap },
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
    const alone: Investigation = {
      ...work,
      signal: anySignal([work.signal, late]),
      durably: (_, fn) => fn(),
      say: () => undefined,
      unsay: () => undefined,
      memoryFor: async () => null,
      hintsSince: async () => [],
      modelChanged: async () => undefined,
    };
    try {
      return { ok: true, report: onRecord(await runRole(deps, alone, run)) };
    } catch (error) {
      work.signal.throwIfAborted();
      if (late.aborted) return { ok: false, reason: 'no answer in time' };
      // A fault of ours is no gap: the turn is tried again, and what was tested stays so.
      if (!(error instanceof InvestigatorFailed)) throw error;
      return { ok: false, reason: clip(error.reason.replace(/\.$/, ''), 200) };
    }
  });
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
