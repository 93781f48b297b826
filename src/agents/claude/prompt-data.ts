import { clipLine } from '../../core/clip.ts';
import { count } from '../../core/count.ts';
import type { Diagnosis, Triage } from '../../core/diagnosis.ts';
import type { PastCause } from '../../core/memory.ts';
import { withoutMarks } from '../../core/model-words.ts';
import { formatHeldBack, seenBefore } from '../../core/seen-before.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import type { RunbookCheck } from '../playbook/create-playbook.ts';
import type { Investigation } from '../ports.ts';
import { toTheSecond } from './role-tools.ts';

/** Characters of one tool output quoted in a first turn. */
const MAX_OUTPUT_CHARS = 6_000;

/** The first user turn of a role begins with what it is about as labelled data, and what time it is. */
export function incidentData(work: Investigation, now: Date, more: object): string {
  const data = {
    now: toTheSecond(now),
    incident: alertData(work, now),
    tried_before: triedBefore(work),
    ...triedData(work),
    ...retriedReadData(work),
    ...more,
  };
  return `<incident_data>\n${quoted(data)}\n</incident_data>`;
}

/** What people said, for memory to be asked with. */
export function guidanceText({ guidance }: Investigation): string {
  return guidance.map(({ text }) => text).join('\n');
}

/** JSON in which nothing can close the surrounding tag. */
function quoted(data: object): string {
  return JSON.stringify(data, null, 1).replaceAll('<', '\\u003c');
}

/** So many alerts of a group are told one by one. */
const MAX_MEMBERS = 30;

function alertData({ incident, alertStartedAt, members = [], parts = [] }: Investigation, now: Date): object {
  return {
    id: incident.id,
    title: incident.title,
    alert: incident.alertName,
    severity: incident.severity,
    domain: incident.domain,
    target: incident.target,
    incident_type: incident.incidentType,
    labels: incident.labels,
    annotations: incident.annotations,
    ...(alertStartedAt ? { alert_started_at: whenOf(alertStartedAt, now) } : {}),
    ...(members.length > 0
      ? {
          group: {
            alerts: incident.members,
            firing: incident.membersFiring,
            they_differ_in: members.slice(0, MAX_MEMBERS),
          },
        }
      : {}),
    ...(parts.length > 0 ? { parts_on_other_systems: parts.slice(0, MAX_MEMBERS) } : {}),
    opened_at: whenOf(incident.openedAt, now),
    round: incident.round,
  };
}

/** As it is where it is no time. */
function timeOf(iso: string): string {
  const at = new Date(iso);
  return Number.isNaN(at.getTime()) ? iso : toTheSecond(at);
}

/** `2026-11-22T10:10:42Z, 12 min ago`. */
function whenOf(iso: string, now: Date): string {
  const seconds = Math.round((now.getTime() - new Date(iso).getTime()) / 1_000);
  if (Number.isNaN(seconds)) return iso;
  return `${timeOf(iso)}, ${seconds < 0 ? `${spanOf(-seconds)} from now` : `${spanOf(seconds)} ago`}`;
}

/** In its largest unit that is not less than two. */
function spanOf(seconds: number): string {
  for (const [unit, size] of UNITS) if (seconds >= 2 * size) return `${Math.floor(seconds / size)} ${unit}`;
  return `${seconds} s`;
}

const UNITS = [
  ['days', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const;

/** What commands did for errors like this one; what else memory has comes in blocks of its own. */
function triedBefore({ recall }: Investigation): object {
  return {
    note: 'Advisory: what was true then need not be true now.',
    seen_before: recall.incidents
      .slice(0, 6)
      .map(({ incidentId, title, times, ended }) => `${incidentId} ${title} (${times}×: ${ended})`),
    ...(recall.heldBack === undefined ? {} : { kept_back: formatHeldBack(recall.heldBack) }),
    in_short: seenBefore(recall),
    similar: recall.episodes.similar.slice(0, 6).map((episode) => ({
      error: episode.error.slice(0, 200),
      command: episode.command,
      success: episode.success,
      ...(episode.tried ? { helped: `${episode.tried.helped} of ${count(episode.tried.of, 'time')}` } : {}),
    })),
    commands_that_failed_before: recall.episodes.failedCommands.slice(0, 10),
    could_not_be_asked: recall.missing,
  };
}

/** So many past causes are named, and so much of each. */
const [MOST_CAUSES, OF_A_CAUSE] = [3, 200];

/** Past causes as explanations to be tested by whoever looks for the cause, those first that were fixed. */
export function checkFirstData({ recall }: Investigation): object {
  const known = recall.incidents.flatMap(({ check }) => check ?? []);
  const isFixed = ({ ended }: (typeof known)[number]): boolean => ended === 'fixed';
  const inOrder = [...known.filter(isFixed), ...known.filter((one) => !isFixed(one))];
  if (inOrder.length === 0) return {};
  return {
    check_first: {
      note: 'Explanations to test before others. Make the read: what it shows now is evidence, what was found then is none. What a read does not find is not there any more, which disproves nothing.',
      past_causes: inOrder.slice(0, MOST_CAUSES).map(({ incidentId, cause, ended, read }) => ({
        incident: incidentId,
        cause: clipLine(withoutMarks(cause), OF_A_CAUSE),
        ended,
        ...(read === null ? {} : { read: readData(read) }),
      })),
    },
  };
}

/** Cut arguments are no arguments. */
function readData({ tool, input }: NonNullable<PastCause['read']>): string {
  const asked = input === null ? null : `${tool} ${JSON.stringify(input)}`;
  return asked === null || asked.length > OF_A_CAUSE ? 'no read fits here' : withoutMarks(asked);
}

function triedData({ tried, denied = [], guidance }: Investigation): object {
  return {
    tried_in_this_incident: tried.map((action) => ({
      command: action.command,
      target: action.target,
      state: action.state,
      outcome: action.outcome,
      problem_afterwards: action.verdict ?? 'not looked at',
    })),
    denied_by_people: denied.map((action) => ({
      command: action.command,
      target: action.target,
      touches: action.objects.map(({ label }) => label),
      because: action.decisionReason,
      state: 'denied, never run',
    })),
    people_said: guidance,
  };
}

/** What could not be read in the last round and was read since: the call counts as one of this round. */
function retriedReadData({ retriedRead }: Investigation): object {
  if (retriedRead === undefined) return {};
  const { call, before } = retriedRead;
  const { verdict, rootCause, evidence, ruledOut, unknown } = before;
  return {
    last_round: { verdict, rootCause, evidence, ruledOut, unknown },
    read_since: {
      tool_call_id: call.id,
      tool: call.tool,
      target: call.target,
      at: timeOf(call.startedAt),
      output: call.output.slice(0, MAX_OUTPUT_CHARS),
    },
  };
}

export function triageData(triage: Triage): object {
  return { triage };
}

/** What a runbook's own reads have shown, for a detective who checks it; its evidence names calls of this incident. */
export function runbookData({ runbook, diagnosis }: RunbookCheck): object {
  const { verdict, rootCause, confidence, evidence, ruledOut, unknown } = diagnosis;
  return {
    runbook_check: {
      runbook: runbook.id,
      title: runbook.title,
      verdict,
      rootCause,
      confidence,
      evidence,
      ruledOut,
      unknown,
    },
  };
}

/** What the surgeon gets instead of reads: the diagnosis and the outputs that its evidence cites. */
export function diagnosisData(diagnosis: Diagnosis, cited: readonly ToolCall[]): object {
  return {
    diagnosis,
    evidence_outputs: cited.map((call) => ({
      tool_call_id: call.id,
      tool: call.tool,
      target: call.target,
      at: timeOf(call.startedAt),
      output: call.output.slice(0, MAX_OUTPUT_CHARS),
    })),
  };
}
