import {
  type Diagnosis,
  type Evidence,
  MEMORY_ONLY_CONFIDENCE,
  MUTATION_CONFIDENCE,
} from '../domain/diagnosis.ts';
import type { IncidentEvent } from '../domain/event.ts';
import type { IncidentRecord } from '../domain/incident-record.ts';
import { isEvidenceToolName, type ToolCall } from '../domain/tool-call.ts';
import type { UnreadCall } from '../domain/unread.ts';
import { findUnread } from './unread/find-unread.ts';

/** A diagnosis after its claims were held against the record. */
export interface CheckedDiagnosis {
  readonly diagnosis: Diagnosis;
  readonly dropped: readonly { readonly claim: string; readonly reason: string }[];
  /** At least one claim stands on what the target showed in this round: what a mutation needs. */
  readonly live: boolean;
  /** It said more than *cannot tell*, and nothing of it stands on what the target showed. */
  readonly unproven: boolean;
}

/** Quotes shorter than this stand in nearly every output. */
const MIN_QUOTE = 3;
/** The same where no call is cited and all of them are searched. */
const MIN_LOOSE_QUOTE = 8;

/**
 * Promise 5 by code, for every investigator: a claim stands only when every tool call it cites happened in this incident
 * and succeeded, and its quote stands in one of their outputs. Confidence falls with the share of claims that fell; when
 * none is left that rests on a read of the target in this round, it is worth what memory is and a cause becomes *cannot
 * tell*.
 */
export function checkEvidence(
  diagnosis: Diagnosis,
  record: Pick<IncidentRecord, 'incident' | 'events' | 'toolCalls'>,
): CheckedDiagnosis {
  const calls = new Map(record.toolCalls.map((call) => [call.id as string, call]));
  const current = callsOfThisRound(record.events);
  const kept: Evidence[] = [];
  const dropped: { claim: string; reason: string }[] = [];
  let live = false;
  for (const evidence of diagnosis.evidence) {
    const held = hold(evidence, record, calls);
    if (typeof held === 'string') {
      dropped.push({ claim: evidence.claim, reason: held });
      continue;
    }
    kept.push({ claim: evidence.claim, toolCallIds: held.cited.map((call) => call.id), quote: held.quote });
    live ||= held.showing.some((call) => call.target !== null && current.has(call.id));
  }
  const unproven = diagnosis.verdict !== 'cannot_tell' && !live;
  const { missed = [], unread: _, ...said } = diagnosis;
  // Who is sure enough to act misses nothing.
  const isSure = diagnosis.verdict === 'cause_found' && live && confidence() >= MUTATION_CONFIDENCE;
  const unread = isSure ? [] : findUnread(record, current, new Set(missed));
  return {
    diagnosis: {
      ...(unproven ? withdrawn(said) : said),
      evidence: kept,
      confidence: confidence(),
      ...(unread.length > 0 ? { unread } : {}),
    },
    dropped: [...dropped, ...(isSure ? [] : notUnread(missed, unread))],
    live,
    unproven,
  };

  function confidence(): number {
    const share = kept.length / Math.max(1, kept.length + dropped.length);
    const cut = kept.length === 0 ? diagnosis.confidence : diagnosis.confidence * share;
    const bounded = Math.min(live ? 1 : MEMORY_ONLY_CONFIDENCE, Math.max(0, Number.isFinite(cut) ? cut : 0));
    return Math.round(bounded * 100) / 100;
  }
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

function withdrawn(diagnosis: Diagnosis): Diagnosis {
  return {
    ...diagnosis,
    verdict: 'cannot_tell',
    rootCause: `Unproven: ${diagnosis.rootCause}`,
    unknown: [...diagnosis.unknown, 'No claim stands on what the target showed since the alert.'],
  };
}

interface Held {
  readonly cited: readonly ToolCall[];
  /** Those of them that contain the quote. */
  readonly showing: readonly ToolCall[];
  readonly quote: string;
}

/** The calls that carry the claim, or why it does not stand. */
function hold(
  { claim, toolCallIds, quote: quoted }: Evidence,
  { incident, toolCalls }: Pick<IncidentRecord, 'incident' | 'toolCalls'>,
  calls: ReadonlyMap<string, ToolCall>,
): Held | string {
  if (quoted !== null && flat(quoted).length < MIN_QUOTE) return 'It quotes too little to show anything.';
  if (toolCallIds.length === 0) {
    if (quoted === null || flat(quoted).length < MIN_LOOSE_QUOTE) return 'It cites no tool call.';
    const showing = toolCalls.filter((call) => isSound(call, incident.id) && contains(call, quoted));
    return showing.length > 0
      ? { cited: showing, showing, quote: quoted }
      : 'It cites no tool call, and its quote stands in none.';
  }
  const cited: ToolCall[] = [];
  for (const id of toolCallIds) {
    const call = calls.get(id);
    if (call === undefined) return `It cites ${id}, which never happened in this incident.`;
    if (call.incidentId !== incident.id) return `It cites ${id}, which belongs to another incident.`;
    if (call.state !== 'ok') return `It cites ${id}, which did not succeed (${call.state}).`;
    cited.push(call);
  }
  const quote = quoted ?? quoteFor(claim, cited);
  if (quote === null) return 'It quotes nothing.';
  // What was read again from an earlier output was shown by that one.
  const sources = cited.flatMap((call) => sourcesOf(call, incident.id, calls));
  const showing = [...new Set([...cited, ...sources])].filter((call) => contains(call, quote));
  return showing.length > 0
    ? { cited: [...new Set([...showing, ...cited])], showing, quote }
    : `Its quote does not stand in ${toolCallIds.join(', ')}.`;
}

/** A claim without a quote may speak for itself: when every number and name with digits in it stands in one output. */
function quoteFor(claim: string, cited: readonly ToolCall[]): string | null {
  const facts = claim.match(/[\p{L}\p{N}_][\p{L}\p{N}_.:-]*/gu)?.filter((word) => /\d{2}/.test(word)) ?? [];
  const bare = facts.map((fact) => fact.replace(/[.:-]+$/, '')).toSorted((a, b) => b.length - a.length);
  const shown = cited.some((call) => bare.every((fact) => contains(call, fact)));
  return shown ? (bare.find((fact) => fact.length >= MIN_QUOTE) ?? null) : null;
}

function contains(call: ToolCall, quote: string): boolean {
  return flat(call.output).includes(flat(quote));
}

/** The calls whose outputs an evidence tool has shown again. */
function sourcesOf(
  { tool, result }: ToolCall,
  incidentId: string,
  calls: ReadonlyMap<string, ToolCall>,
): readonly ToolCall[] {
  if (!isEvidenceToolName(tool) || typeof result !== 'object' || result === null) return [];
  const { sources } = result as { readonly sources?: unknown };
  return (Array.isArray(sources) ? sources : []).flatMap((id) => {
    const call = calls.get(String(id));
    return call !== undefined && isSound(call, incidentId) ? [call] : [];
  });
}

function isSound(call: ToolCall, incidentId: string): boolean {
  return call.state === 'ok' && call.incidentId === incidentId;
}

/**
 * Reads recorded after the alert, or after the last time the cause began to be looked for again: what was seen before a
 * fix was tried proves nothing about now. By the order of the record, since clocks of two machines differ.
 */
function callsOfThisRound(events: readonly IncidentEvent[]): ReadonlySet<string> {
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

/** White space apart: tables and long lines are re-wrapped when quoted. */
function flat(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
