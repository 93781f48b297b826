import {
  type Diagnosis,
  type Evidence,
  MEMORY_ONLY_CONFIDENCE,
  MUTATION_CONFIDENCE,
} from '../../core/diagnosis.ts';
import type { IncidentEvent } from '../../core/event.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import type { Measure } from '../../core/measure.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import type { UnreadCall } from '../../core/unread.ts';
import { findUnread } from '../failed-reads/find-unread.ts';
import { isRed, latest, redNow } from '../recovery/red-now.ts';
import { blameProblems } from './blamed-changes.ts';
import { isAnswer, judgeChanges } from './judged-changes.ts';
import { isShownOnset } from './onset.ts';
import { carriersOf, isCarrier, isSound, showsMemory } from './originals.ts';
import { causeProblems, isSoundChain, problemWith } from './problems.ts';
import { flat, isQuoteOf, lineWith, standsIn } from './quote.ts';
import { settleHypotheses } from './settle-hypotheses.ts';

/** A diagnosis after its claims were held against the record. */
export interface CheckedDiagnosis {
  readonly diagnosis: Diagnosis;
  readonly dropped: readonly { readonly claim: string; readonly reason: string }[];
  /** At least one claim stands on what the target showed in this round: what a mutation needs. */
  readonly live: boolean;
  /** It said more than *cannot tell*, and nothing of it stands on what the target showed. */
  readonly isUnproven: boolean;
  /** What of a model's cause does not stand on what it cites, each as a sentence; empty: all of it does. */
  readonly unsupported: readonly string[];
  /** Changes that it has for the cause and that are suspects, or less, each with why. */
  readonly notTheCause: readonly string[];
}

/** Quotes shorter than this stand in nearly every output. */
const MIN_QUOTE = 3;
/** The same where no call is cited and all of them are searched. */
const MIN_LOOSE_QUOTE = 8;
/** A piece of so much, or with a number in it, is shown as the whole line, where it stands in one only. */
const MIN_PIECE = 12;
const MAX_QUOTE = 600;

/**
 * Promise 5 by code, for every investigator: a claim stands only when every tool call it cites happened in this incident
 * and succeeded, its quote stands in one of their outputs, and so do its numbers and names. Confidence falls with the
 * share of claims that fell; when none is left that rests on a read of the target in this round, it is worth what memory
 * is and a cause becomes *cannot tell*. What a tool measures outweighs what is said of it: nobody is *healthy*, and no
 * symptom is over, while the latest reads show a measure beyond its bound.
 *
 * @param measuresOf what a tool measures, as it declares it
 */
export function checkEvidence(
  diagnosis: Diagnosis,
  record: Pick<IncidentRecord, 'incident' | 'events' | 'toolCalls'> & Partial<Pick<IncidentRecord, 'alerts'>>,
  measuresOf: (tool: string) => readonly Measure[] = () => [],
): CheckedDiagnosis {
  const calls = new Map(record.toolCalls.map((call) => [call.id as string, call]));
  const current = callsOfThisRound(record.events);
  const kept: Evidence[] = [];
  const dropped: { claim: string; reason: string }[] = [];
  let live = false;
  for (const evidence of diagnosis.evidence) {
    const held = hold(evidence, record, calls, diagnosis.origin !== 'runbook');
    if (typeof held === 'string') {
      dropped.push({ claim: evidence.claim, reason: held });
      continue;
    }
    kept.push({ claim: evidence.claim, toolCallIds: held.cited.map((call) => call.id), quote: held.quote });
    // That it cannot be reached is a cause, and never that all is well.
    live ||= held.showing.some(
      (call) =>
        call.target !== null &&
        current.has(call.id) &&
        (call.state === 'ok' || diagnosis.verdict === 'cause_found'),
    );
  }
  const unproven = diagnosis.verdict !== 'cannot_tell' && !live;
  const { missed = [], unread: _, changes: __, chain, onset, symptomNow, ...said } = diagnosis;
  const answered = record.toolCalls.filter((call) => isSound(call, record.incident.id));
  const read = answered.filter((call) => isCarrier(call, record.incident.id, calls));
  // When something was changed is not when it began.
  const looked = read.filter((call) => !isAnswer(call));
  const isOnsetShown = onset !== undefined && isShownOnset(onset, looked, record);
  const judged = judgeChanges(diagnosis, {
    incident: record.incident,
    read,
    current,
    evidence: kept,
    onset: isOnsetShown ? onset : undefined,
    isCause: diagnosis.verdict === 'cause_found' && live,
  });
  const behind = new Set<string>([
    ...kept.flatMap(({ toolCallIds }) => toolCallIds),
    // What it says of a change is a claim on the answer that told of it.
    ...(diagnosis.changes === undefined ? [] : judged.changes.flatMap(({ toolCallIds }) => toolCallIds)),
  ]);
  const cited = withSources(
    read.filter(({ id }) => behind.has(id)),
    record.incident.id,
    calls,
  );
  const red = redOfThisRound(record, measuresOf);
  const behindCause = { incident: record.incident, read, cited, judged: judged.changes };
  const unsupported =
    diagnosis.origin === 'runbook'
      ? []
      : [
          // Who cannot tell may say what memory suggests.
          ...causeProblems(
            diagnosis,
            { cited, read: diagnosis.verdict === 'cannot_tell' ? answered : read, red },
            record.incident,
          ),
          ...blameProblems(diagnosis, behindCause),
        ];
  // Who is sure enough to act misses nothing.
  const isSure = diagnosis.verdict === 'cause_found' && live && confidence() >= MUTATION_CONFIDENCE;
  const unread = isSure ? [] : findUnread(record, current, new Set(missed));
  return {
    diagnosis: {
      ...(unproven ? downgraded(said) : said),
      ...settleHypotheses(said, read, record.incident),
      ...(isOnsetShown ? { onset } : {}),
      ...(judged.changes.length > 0 ? { changes: judged.changes } : {}),
      ...(symptomNow !== undefined && isMeasuredSo(symptomNow) ? { symptomNow } : {}),
      evidence: kept,
      ...(chain && isToldSoundly(chain) ? { chain } : {}),
      ...(said.disagreement === undefined
        ? {}
        : { disagreement: { ...said.disagreement, model: { ...said.disagreement.model, evidence: kept } } }),
      confidence: confidence(),
      ...(unread.length > 0 ? { unread } : {}),
    },
    dropped: [
      ...dropped,
      ...judged.dropped.map(({ claim, reason }) => ({ claim, reason })),
      ...(isSure ? [] : notUnread(missed, unread)),
    ],
    live,
    isUnproven: unproven,
    unsupported,
    notTheCause: judged.dropped.filter(({ part }) => part === 'cause').map(({ reason }) => reason),
  };

  function isToldSoundly(links: readonly string[]): boolean {
    const blamed = { verdict: diagnosis.verdict, rootCause: links.join('.\n') };
    return (
      isSoundChain(links, read, record.incident) &&
      (diagnosis.origin === 'runbook' || blameProblems(blamed, behindCause).length === 0)
    );
  }

  /** By a read of this round; where that measures something, or another one has it otherwise, the measure decides. */
  function isMeasuredSo({ present, toolCallId }: NonNullable<Diagnosis['symptomNow']>): boolean {
    const call = read.find(({ id }) => id === toolCallId);
    if (call === undefined || !current.has(call.id)) return false;
    return present ? isRed(call, measuresOf) !== false : red.length === 0;
  }

  function confidence(): number {
    // That something was changed makes no cause surer.
    const answers = new Set<string>(read.filter(isAnswer).map(({ id }) => id));
    const counted = kept.filter(({ toolCallIds }) => !toolCallIds.every((id) => answers.has(id))).length;
    const share = counted / Math.max(1, counted + dropped.length);
    const cut = counted === 0 ? diagnosis.confidence : diagnosis.confidence * share;
    const bounded = Math.min(live ? 1 : MEMORY_ONLY_CONFIDENCE, Math.max(0, Number.isFinite(cut) ? cut : 0));
    return Math.round(bounded * 100) / 100;
  }
}

/** What the latest reads of the target in this round show beyond its bound, a line each. */
export function redOfThisRound(
  { incident, events, toolCalls }: Pick<IncidentRecord, 'incident' | 'events' | 'toolCalls'>,
  measuresOf: (tool: string) => readonly Measure[],
): readonly string[] {
  const current = callsOfThisRound(events);
  const now = toolCalls.filter((call) => current.has(call.id) && isSound(call, incident.id));
  return redNow(latest(now.filter(({ target }) => target === incident.target)), measuresOf);
}

/** What it says it missed and the record does not: nobody is asked to grant or run that. */
function notUnread(missed: readonly string[], unread: readonly UnreadCall[]): CheckedDiagnosis['dropped'] {
  return missed
    .filter((id) => !unread.some(({ toolCallId }) => toolCallId === id))
    .map((id) => ({
      claim: `${id} could not be read.`,
      reason: 'The record has no such read of this round that a person could grant or have made again.',
    }));
}

function downgraded(diagnosis: Diagnosis): Diagnosis {
  return {
    ...diagnosis,
    verdict: 'cannot_tell',
    rootCause: `Unproven: ${diagnosis.rootCause}`,
    unknown: [...diagnosis.unknown, 'No claim stands on what the target showed since the alert.'],
  };
}

interface VerifiedClaim {
  readonly cited: readonly ToolCall[];
  /** Those that contain the quote. */
  readonly showing: readonly ToolCall[];
  readonly quote: string;
}

/** The calls that carry the claim, or why it does not stand. */
function hold(
  evidence: Evidence,
  { incident, toolCalls }: Pick<IncidentRecord, 'incident' | 'toolCalls'>,
  calls: ReadonlyMap<string, ToolCall>,
  isModels: boolean,
): VerifiedClaim | string {
  const { claim, toolCallIds, quote: quoted } = evidence;
  if (quoted !== null && flat(quoted).length < MIN_QUOTE) return 'It quotes too little to show anything.';
  const cited: ToolCall[] = [];
  if (toolCallIds.length === 0) {
    if (quoted === null || flat(quoted).length < MIN_LOOSE_QUOTE) return 'It cites no tool call.';
    const shows = (call: ToolCall): boolean => isSound(call, incident.id) && standsIn(quoted, call.output);
    cited.push(...toolCalls.filter((call) => shows(call) && isCarrier(call, incident.id, calls)));
    if (cited.length === 0) return 'It cites no tool call, and its quote stands in none.';
  }
  for (const id of toolCallIds) {
    const call = calls.get(id);
    if (call === undefined) return `It cites ${id}, which never happened in this incident.`;
    if (call.incidentId !== incident.id) return `It cites ${id}, which belongs to another incident.`;
    if (!isSound(call, incident.id)) return `It cites ${id}, which did not succeed (${call.state}).`;
    const carriers = carriersOf(call, incident.id, calls);
    if (carriers.length === 0 && !showsMemory(call, calls))
      return `It cites ${id}, which shows again what did not succeed.`;
    cited.push(...(carriers.includes(call) ? [call] : carriers));
  }
  if (cited.length === 0) return 'It cites memory alone, which says what was true then.';
  // What was read again from an earlier output was shown by that one.
  const all = withSources(cited, incident.id, calls);
  const quote = quoted ?? lineWith(claim, all);
  if (quote === null) return 'It quotes nothing.';
  if (!all.some((call) => standsIn(quote, call.output)))
    return `Its quote does not stand in ${toolCallIds.join(', ')}.`;
  const whole = wholeQuote(quote, all);
  if (whole === undefined)
    return 'It quotes too little: a whole line, or 40 characters of a long one, are needed.';
  // What a runbook says is filled in by code from the data: sums and differences of what was read stand in no output.
  const problem = isModels ? problemWith(claim, all, incident) : undefined;
  if (problem !== undefined) return problem;
  const showing = all.filter((call) => standsIn(quote, call.output));
  return { cited: [...new Set([...showing, ...cited])], showing, quote: whole };
}

/** As it stands, or the one line it is a piece of. */
function wholeQuote(quote: string, calls: readonly ToolCall[]): string | undefined {
  if (calls.some((call) => isQuoteOf(quote, call.output))) return quote;
  if (flat(quote).length < MIN_PIECE && !/\d{3}/.test(quote)) return undefined;
  for (const { output } of calls) {
    const lines = new Set(
      output
        .split('\n')
        .filter((line) => standsIn(quote, line))
        .map(flat),
    );
    if (lines.size === 1) return [...lines][0]?.slice(0, MAX_QUOTE);
  }
  return undefined;
}

function withSources(
  cited: readonly ToolCall[],
  incidentId: string,
  calls: ReadonlyMap<string, ToolCall>,
): readonly ToolCall[] {
  return [...new Set([...cited, ...cited.flatMap((call) => carriersOf(call, incidentId, calls))])];
}

/**
 * Reads recorded after the alert, or after the last time the cause began to be looked for again: what was seen before a
 * fix was tried proves nothing about now. By the order of the record, since clocks of two machines differ.
 */
export function callsOfThisRound(events: readonly IncidentEvent[]): ReadonlySet<string> {
  const at = events.findLastIndex(beginsRound);
  const began = events[at]?.seq ?? 0;
  const calls = events.flatMap((event) =>
    event.type === 'tool.called' && event.seq > began ? [event.toolCallId] : [],
  );
  // A read that was made again just before, and had the round begin, belongs to it.
  const before = events[at - 1];
  const beginning = before?.type === 'read.finished' && before.readable ? before.toolCallId : null;
  return new Set(beginning === null ? calls : [beginning, ...calls]);
}

function beginsRound(event: IncidentEvent): boolean {
  if (event.type === 'incident.opened') return true;
  return (
    event.type === 'state.changed' &&
    event.to === 'diagnosing' &&
    event.from !== 'triaging' &&
    event.from !== 'stopped'
  );
}
