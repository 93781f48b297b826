import { stepsOf } from '../../core/action.ts';
import { contextLines, hideTalk } from '../../core/context.ts';
import { count } from '../../core/count.ts';
import { describePlan } from '../../core/describe-act.ts';
import { formatDetailsDeleted } from '../../core/details-deleted.ts';
import { describeVerdict } from '../../core/diagnosis.ts';
import { formatMembers, groupTitle } from '../../core/group.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { hideMerged } from '../../core/merged-with.ts';
import { CLAUDES_WORDS, isModels } from '../../core/model-words.ts';
import { stepResult } from '../../core/plan-progress.ts';
import { toldChanges } from '../../core/told-changes.ts';
import { usedModel } from './answer-actions.ts';
import { ended, newestFirst } from './answer-lines.ts';
import { formatActions, formatUndone } from './format-actions.ts';
import { formatCause, lastDiagnosis, withoutCites } from './format-cause.ts';
import { type ChangePiece, changeLines } from './format-changes.ts';
import { personOf } from './format-decision.ts';
import { formatMuted } from './format-rest.ts';
import { formatNextStep, formatStanding } from './format-state.ts';
import { moment, onOneLine, withoutMarks } from './own-marks.ts';
import { timeline } from './timeline.ts';

/**
 * What happened, which evidence, what was run, who approved, how it ended and what it cost: from the record alone, no
 * model. Plain lines with Slack's *bold* and `code`, people as `<@U…>` and times in ISO 8601: who shows it makes each what
 * its reader knows (`storyBlocks`, `terminalStory`). No value can begin a line of its own: what stands at the start of a
 * line is ours. `cites`: with the ids of tool calls, which a model cites.
 */
export function why(record: IncidentRecord, { cites = false }: { readonly cites?: boolean } = {}): string {
  // What cites goes to models, which tell it where they are asked.
  const text = withoutMarks(story(cites ? hideTalk(hideMerged(record, () => false)) : record));
  return cites ? text : withoutCites(text);
}

/** The same for who shows it to a person, with marks of what is ours in it (`storyBlocks`, `terminalStory`). */
export const markedWhy = (record: IncidentRecord): string => withoutCites(story(record));

function story(record: IncidentRecord): string {
  const { incident } = record;
  const lines = [
    `*${incident.id}: ${groupTitle(incident)}*`,
    `${formatStanding(incident, incident.closedBy === null ? undefined : personOf(incident.closedBy))}. Severity ${incident.severity}, target ${incident.target ?? 'unknown'}, opened ${moment(incident.openedAt)}${
      incident.endedAt ? `, ended ${moment(incident.endedAt)}` : ''
    }${incident.occurrences > 1 ? `, fired ${incident.occurrences} times` : ''}.`,
    ...formatMembers(record),
    ...formatMuted(record, moment),
    ...[formatDetailsDeleted(incident) ?? []].flat(),
    ...(incident.asksAgainAt === null ? [] : [`*Next*: ${formatNextStep(incident, moment)}`]),
    ...answerOf(record),
    '',
    '*What happened*',
    ...storyOf(record),
    '',
    ...formatCause(record),
    ...changesOf(record),
    ...contextOf(record),
    ...formatActions(record),
    `*Cost*: ${usedModel(record) ? `$${incident.costUsd.toFixed(4)} for the model` : 'no model was used'}; ${incident.detailsDeletedAt === null ? count(record.toolCalls.length, 'tool call') : 'tool calls are deleted'}.`,
  ];
  return lines.map(onOneLine).join('\n');
}

/** The answer, before all else: what caused it, what was done and who approved it, and what proves how it is. */
function answerOf(record: IncidentRecord): string[] {
  const { actions, events } = record;
  const last = lastDiagnosis(record);
  const hasCause = last?.diagnosis.verdict === 'cause_found' && last.diagnosis.unexplained === undefined;
  const isModel = last && isModels(last.diagnosis, events) && last.diagnosis.disagreement === undefined;
  const whose = isModel ? `${CLAUDES_WORDS}: ` : '';
  const cause =
    last === undefined
      ? '*Cause*: not known yet.'
      : hasCause
        ? `*Cause*: ${whose}${ended(last.diagnosis.rootCause)} ${Math.round(last.diagnosis.confidence * 100)} % sure.`
        : `*${describeVerdict(last.diagnosis)}*: ${whose}${ended(last.diagnosis.rootCause)}`;
  const done = newestFirst(record).filter(({ startedAt, undoes }) => startedAt !== null && undoes === null);
  const seen = events.findLast((event) => event.type === 'verification.checked');
  return [
    cause,
    ...(done.length === 0 ? ['*Done*: nothing was changed.'] : []),
    ...done.slice(0, 1).flatMap((first) => {
      const steps = stepsOf(actions, first);
      const ran = steps.findLast(({ startedAt }) => startedAt !== null) ?? first;
      return [
        `*Done*: ${describePlan(steps)}, ${steps.length > 1 ? 'last step: ' : ''}${stepResult(ran, steps).says}, at ${moment(first.startedAt ?? first.proposedAt)}`,
        ...(first.decidedBy === null ? [] : [`• approved by ${personOf(first.decidedBy)}`]),
        ...formatUndone(record, steps),
      ];
    }),
    seen === undefined
      ? '*Proof*: whether it is over was not checked.'
      : `*Proof*: ${ended(seen.lines.join('; '))} Checked at ${moment(seen.at)}.`,
  ];
}

/** What was changed around it, with the part each change has; none before somebody has looked. */
function changesOf({ events }: IncidentRecord): string[] {
  const told = toldChanges(events);
  if (told === null) return [];
  return ['*What changed*', ...changeLines(told).map((line) => `• ${line.map(pieceText).join('')}`), ''];
}

/** What was gathered around it, with what could not be; none where nobody gathered. */
function contextOf({ events }: IncidentRecord): string[] {
  const lines = contextLines(events);
  return lines.length === 0 ? [] : ['*Gathered around it*', ...lines.map((line) => `• ${line}`), ''];
}

function pieceText(piece: ChangePiece): string {
  if (typeof piece === 'string') return piece;
  if ('person' in piece) return personOf(piece.person);
  if ('at' in piece) return moment(piece.at);
  return 'url' in piece ? `${piece.text} (${piece.url})` : piece.code;
}

/** The events, a line each; the day where it is another than the line before. */
function storyOf(record: IncidentRecord): string[] {
  const lines: string[] = [];
  let day = record.incident.openedAt.slice(0, 10);
  for (const { at, text } of timeline(record)) {
    if (at.slice(0, 10) !== day) {
      day = at.slice(0, 10);
      lines.push(`${moment(at)}:`);
    }
    lines.push(`${moment(at)}  ${text}`);
  }
  return lines;
}
