import { differenceOf } from '../../agents/claude/difference.ts';
import type { StillSaid } from '../../agents/ports.ts';
import { alertRuleOf } from '../../core/alert-rule.ts';
import { count } from '../../core/count.ts';
import type { Diagnosis } from '../../core/diagnosis.ts';
import { isResting } from '../../core/effort.ts';
import type { IncidentEvent } from '../../core/event.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { mayLookAgain } from '../../core/machine.ts';
import { CLAUDES_WORDS } from '../../core/model-words.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { STILL_SO_TURN } from '../move.ts';
import { OVER_BY_ITSELF } from '../next-steps.ts';
import { criterionOnRecord } from '../recovery/criterion-on-record.ts';
import { latest } from '../recovery/red-now.ts';
import { InvestigationStopped, watchForStop } from '../work.ts';
import { concludeLook, type Judged } from './conclude-look.ts';
import type { PhaseRun } from './phase-run.ts';

/** How often it is looked again. */
export interface LookPace {
  /** After the first news, for what comes with it: a burst is one look. */
  readonly settleMs: number;
  /** From one look to the next. */
  readonly everyMs: number;
  readonly aDay: number;
}

export const LOOK_PACE: LookPace = { settleMs: 15_000, everyMs: 10 * 60_000, aDay: 12 };

/** Of what a diagnosis cites the newest are read again: they are cheap, and a target has other work to do. */
const MOST_READS = 6;
const MOST_DIFFERENCES = 8;
const MOST_TOLD = 6;
const MAX_TOLD = 300;

/** What was read, beside what stands on record. */
interface Seen {
  /** What was told since the cause was looked for, or since the last look. */
  readonly after: string;
  readonly was: 'red' | 'green' | null;
  /** Null: nothing that was read measures the problem. */
  readonly now: 'red' | 'green' | 'unread' | null;
  /** False: it is there, and not because of what was blamed. */
  readonly isToBlame: boolean;
  readonly lines: readonly string[];
  readonly differences: readonly string[];
  /** What people said and what was changed since. */
  readonly told: readonly string[];
  readonly cause: string | null;
}

/**
 * Something was told of an incident that waits for people: asks, by the reads that its cause and its fix rest on, whether it is still so.
 * A model is asked only where they differ, and only about the difference. Approves nothing, runs nothing, and calls nothing fixed.
 */
export async function lookAgain(run: PhaseRun): Promise<void> {
  const { deps, incident, durably } = run;
  const { looksAgain: pace } = deps;
  if (pace === undefined || !mayLookAgain(incident.state) || isWatchedOtherwise(run)) return;
  const isTaken = await durably('take the news', () => takeNews(run, pace));
  if (!isTaken) return;
  const seen = await durably('look whether it is still so', () => look(run));
  if (seen === 'left') return;
  const judged = await judge(run, seen);
  await durably('say whether it is still so', () => concludeLook(run, judged));
}

const isWatchedOtherwise = ({
  incident: { state, effort, mutedBy, mergedInto, sourceResolvedAt },
}: PhaseRun): boolean =>
  mutedBy !== null ||
  mergedInto !== null ||
  sourceResolvedAt !== null ||
  (state === 'reported' && isResting(effort));

/** False: there is none, or it is too early, and a turn comes when it is not. A look that was cut off goes on. */
async function takeNews({ deps, incident }: PhaseRun, pace: LookPace): Promise<boolean> {
  return deps.sql.begin(async (tx) => {
    const [row] = await tx<{ has_news: boolean; is_looking: boolean; left_ms: number | null }>`
      SELECT news_at IS NOT NULL AS has_news, is_looking,
             ceil(extract(epoch FROM greatest(
               news_at + ${pace.settleMs} * interval '1 millisecond',
               looked_at + ${pace.everyMs} * interval '1 millisecond',
               (SELECT e.at + interval '1 day' FROM event e WHERE e.incident_id = i.id AND e.type = 'incident.looked'
                 ORDER BY e.seq DESC OFFSET ${pace.aDay - 1} LIMIT 1)) - statement_timestamp()) * 1000)::float8 AS left_ms
        FROM incident i WHERE id = ${incident.id} AND state = ${incident.state} AND round = ${incident.round} FOR UPDATE`;
    if (!row?.has_news) return row?.is_looking ?? false;
    const leftMs = row.left_ms ?? 0;
    if (leftMs > 0) {
      await tx`SELECT sentry_enqueue_turn(${incident.id}, ${STILL_SO_TURN}, ${leftMs}::bigint)`;
      return false;
    }
    await tx`
      UPDATE incident SET news_at = NULL, looked_at = clock_timestamp(), is_looking = true WHERE id = ${incident.id}`;
    return true;
  });
}

/** `left`: it has been stopped or decided meanwhile, and nothing is to be said. */
async function look(run: PhaseRun): Promise<Seen | 'left'> {
  const { deps, incident } = run;
  const record = await deps.records.load(incident.id);
  if (record === null || record.incident.state !== incident.state) return 'left';
  const diagnosis = lastDiagnosis(record);
  const news = newsIn(record);
  const stop = watchForStop(run);
  try {
    const criterion = await readProblem(run, record, stop.signal);
    const reads = await readCited(run, record, diagnosis, stop.signal);
    if (stop.signal.aborted && !deps.shutdown.aborted) return 'left';
    stop.signal.throwIfAborted();
    const { was, now, isToBlame, lines } = criterion ?? problemIn(run, record, reads);
    return {
      after: describeNews(news),
      was: lastSeen(record) ?? was,
      now,
      isToBlame,
      lines: lines.map((line) => deps.redact(line)),
      differences: reads
        .flatMap(changesIn)
        .slice(0, MOST_DIFFERENCES)
        .map((line) => deps.redact(line)),
      told: news.flatMap(textOf).slice(-MOST_TOLD),
      cause: diagnosis?.verdict === 'cause_found' ? diagnosis.rootCause : null,
    };
  } finally {
    stop.end();
  }
}

type Problem = Pick<Seen, 'was' | 'now' | 'isToBlame' | 'lines'>;

/** By what the fix is, or was to be, judged; null: by nothing. */
async function readProblem(
  { deps, incident }: PhaseRun,
  record: IncidentRecord,
  signal: AbortSignal,
): Promise<Problem | null> {
  const plan = criterionOnRecord(record);
  if (plan === undefined || incident.target === null) return null;
  const reading = await deps.gate.readCriterion({
    incidentId: incident.id,
    target: incident.target,
    plan,
    purpose: 'Is it still so?',
    signal,
  });
  // It was seen to be over when its fix was to run, or after a limit.
  const was = incident.nextStep === OVER_BY_ITSELF ? 'green' : 'red';
  return { was, now: reading.state, isToBlame: reading.isToBlame !== false, lines: reading.lines };
}

/** A read that a diagnosis cites, and the same made now; null: it could not be made. */
interface Again {
  readonly before: ToolCall;
  readonly now: ToolCall | null;
}

/** Exactly what was read then, with a credential for that alone, through all of the gate. */
async function readCited(
  { deps, incident }: PhaseRun,
  record: IncidentRecord,
  diagnosis: Diagnosis | null,
  signal: AbortSignal,
): Promise<readonly Again[]> {
  const cited = new Set(diagnosis?.evidence.flatMap(({ toolCallIds }) => toolCallIds));
  const calls = latest(record.toolCalls.filter(({ id, state }) => cited.has(id) && state === 'ok'))
    .filter((call) => deps.gate.mayReadAgain(call) === undefined)
    .slice(-MOST_READS);
  const again: Again[] = [];
  for (const before of calls) {
    if (signal.aborted) break;
    const { tool, target, input } = before;
    const credential = deps.vault.mint({
      role: 'detective',
      incidentId: incident.id,
      targets: incident.target === null ? [] : [incident.target],
      tools: [tool],
    });
    try {
      const { toolCallId } = await deps.gate.call(
        credential,
        { tool, target, input },
        { purpose: 'Is it still so?', signal },
      );
      const now = await deps.records.toolCall(toolCallId);
      again.push({ before, now: now?.state === 'ok' ? now : null });
    } finally {
      deps.vault.revoke(credential);
    }
  }
  return again;
}

/** Where nothing says how the problem is judged: what its reads show beyond their bounds, then and now. */
function problemIn({ deps }: PhaseRun, { alerts }: IncidentRecord, reads: readonly Again[]): Problem {
  const rule = alertRuleOf(alerts.filter(({ status }) => status === 'firing'));
  const redIn = (call: ToolCall): readonly string[] =>
    deps.gate
      .redMeasures(call, rule)
      .map(({ tool, input, measure }) => `${tool} ${JSON.stringify(input)} ${measure}`);
  const measured = reads.filter(({ before }) => deps.gate.measures(before.tool).length > 0);
  const none = { isToBlame: true, lines: [] };
  if (measured.length === 0) return { was: null, now: null, ...none };
  const [then, now] = [
    measured.flatMap(({ before }) => redIn(before)),
    measured.flatMap((each) => (each.now ? redIn(each.now) : [])),
  ];
  const was = then.length > 0 ? 'red' : 'green';
  if (now.length > 0)
    return {
      was,
      now: 'red',
      isToBlame: was === 'green' || now.some((each) => then.includes(each)),
      lines: [],
    };
  return { was, now: measured.some((each) => each.now === null) ? 'unread' : 'green', ...none };
}

function changesIn({ before, now }: Again): readonly string[] {
  if (now === null) return [];
  const seconds = Math.round((Date.parse(now.startedAt) - Date.parse(before.startedAt)) / 1000);
  return differenceOf({ before: before.result, now: now.result, seconds }).lines.map(
    (line) => `${before.tool}: ${line}`,
  );
}

/** By the reads; where they take nothing back, and something was told or differs, by a model that is shown that alone. */
async function judge(run: PhaseRun, seen: Seen): Promise<Judged> {
  const judged = byReads(seen);
  const said = judged.outcome === 'changed' || seen.now === 'unread' ? null : await ask(run, seen);
  if (said === null || said.verdict === 'cannot_tell') return judged;
  const why = `${CLAUDES_WORDS}: “${run.deps.redact(said.why)}”`;
  const { after, differences } = seen;
  if (said.verdict === 'falls')
    return {
      after,
      differences,
      seen: judged.seen,
      outcome: 'changed',
      kind: 'other',
      says: `It may not be so any more. ${why}`,
    };
  return judged.outcome === 'same'
    ? judged
    : { after, differences, seen: null, outcome: 'same', says: `Nothing speaks against it. ${why}` };
}

function byReads({ after, was, now, isToBlame, lines, differences }: Seen): Judged {
  const detail = lines.length > 0 ? ` ${lines.join('; ')}` : '';
  const said = { after, differences, seen: now === 'unread' ? null : now };
  if (now === 'unread') return { ...said, outcome: 'could_not_look', says: `It could not be read.${detail}` };
  if (now === null)
    return { ...said, outcome: 'could_not_look', says: 'Nothing that I found can be measured again.' };
  const changed = (kind: 'gone' | 'other', says: string): Judged => ({
    ...said,
    outcome: 'changed',
    kind,
    says: `${says}${detail}`,
  });
  if (was === 'red' && now === 'green') return changed('gone', 'What I found is no longer there.');
  if (was === 'green' && now === 'red') return changed('other', 'Something is wrong now.');
  if (now === 'red' && !isToBlame)
    return changed('other', 'The problem is still there, and not because of what I found.');
  return {
    ...said,
    outcome: 'same',
    says: now === 'red' ? 'It is still so.' : 'Still nothing wrong is seen.',
  };
}

/** Null: there is nothing to ask about, or nobody who could be asked. */
async function ask(run: PhaseRun, { cause, told, differences }: Seen): Promise<StillSaid | null> {
  const { deps, incident, durably } = run;
  if (cause === null || (told.length === 0 && differences.length === 0)) return null;
  if (incident.investigator === 'playbook' || deps.claude?.stillSo === undefined) return null;
  const stop = watchForStop(run);
  try {
    return await deps.claude.stillSo(
      {
        incident,
        durably,
        signal: stop.signal,
        spent: (usage, as) => deps.records.addUsage(incident.id, as ?? 'detective', usage),
      },
      { cause, told, differences },
    );
  } catch (error) {
    throw stop.signal.aborted ? new InvestigationStopped(error) : error;
  } finally {
    stop.end();
  }
}

/** How a look of this round last saw the problem: the next one is held against that. */
function lastSeen({ events, incident }: IncidentRecord): 'red' | 'green' | null {
  const seen = events.flatMap((event) =>
    event.type === 'incident.looked' && event.round === incident.round && event.seen ? [event.seen] : [],
  );
  return seen.at(-1) ?? null;
}

function lastDiagnosis({ events }: IncidentRecord): Diagnosis | null {
  const last = events.findLast((event) => event.type === 'diagnosis.concluded');
  return last?.type === 'diagnosis.concluded' ? last.diagnosis : null;
}

/** What is news, with what one is called and what several are. */
const NEWS: Partial<Readonly<Record<IncidentEvent['type'], readonly [string, string]>>> = {
  'alert.repeated': ['an alert', 'alert'],
  'alert.resolved': ['the end of one of its alerts', 'ended alert'],
  'member.merged': ['a related incident', 'related incident'],
  'hint.given': ['a hint', 'hint'],
  'change.told': ['a change', 'change'],
};

/** What was told since the cause was looked for, or since the last look. */
function newsIn({ events }: IncidentRecord): readonly IncidentEvent[] {
  const from = events.findLastIndex(
    (event) =>
      event.type === 'incident.looked' ||
      (event.type === 'state.changed' && event.to === 'diagnosing' && event.from !== 'stopped'),
  );
  return events.slice(from + 1);
}

/** In words: “a hint and 3 changes”. */
function describeNews(events: readonly IncidentEvent[]): string {
  const told = events.filter((event) => event.type !== 'alert.repeated' || event.over !== true);
  const parts = Object.entries(NEWS).flatMap(([type, [one, many]]) => {
    const n = told.filter((event) => event.type === type).length;
    return n === 0 ? [] : [n === 1 ? one : count(n, many)];
  });
  return parts.length < 2
    ? (parts[0] ?? 'what was told')
    : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

const textOf = (event: IncidentEvent): readonly string[] => {
  if (event.type === 'hint.given') return [`A person: ${event.text.slice(0, MAX_TOLD)}`];
  return event.type === 'change.told' ? [`Changed: ${event.title.slice(0, MAX_TOLD)}`] : [];
};
