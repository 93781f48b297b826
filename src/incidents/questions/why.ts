import { type Action, isLastingFix, stepsOf } from '../../core/action.ts';
import { count } from '../../core/count.ts';
import type { Denial } from '../../core/denial.ts';
import { describeAct, describePlan } from '../../core/describe-act.ts';
import { formatDetailsDeleted } from '../../core/details-deleted.ts';
import { describeVerdict } from '../../core/diagnosis.ts';
import type { IncidentEvent } from '../../core/event.ts';
import { formatMembers, groupTitle } from '../../core/group.ts';
import type { ActionId } from '../../core/ids.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { isObject } from '../../core/json-of.ts';
import { hideMerged } from '../../core/merged-with.ts';
import { CLAUDES_WORDS, isModels, isWhyInModelsWords, label } from '../../core/model-words.ts';
import { stepResult } from '../../core/plan-progress.ts';
import { isMcpPrincipal } from '../../core/principal.ts';
import { formatHeldBack } from '../../core/seen-before.ts';
import { formatSetter } from '../../core/switch-scope.ts';
import { neighbourRead } from '../../core/tool-call.ts';
import { undoneOf } from '../../core/undone.ts';
import { usedModel } from './answer-actions.ts';
import { ended, lower, newestFirst } from './answer-lines.ts';
import { callLine, isCallEvent } from './call-line.ts';
import { formatAlertEvent } from './format-alert-event.ts';
import { cited, formatCause, lastDiagnosis, plainTool } from './format-cause.ts';
import { decisionOf, personOf } from './format-decision.ts';
import { checkedOf, formatChecked } from './format-lasting-fix.ts';
import { formatMuted, formatRest } from './format-rest.ts';
import { formatNextStep, formatStanding, formatState } from './format-state.ts';
import { fixedWidth, moment, withoutMarks } from './own-marks.ts';

/**
 * What happened, which evidence, what was run, who approved, how it ended and what it cost: from the record alone, no
 * model. Plain lines with Slack's *bold* and `code`, people as `<@U…>` and times in ISO 8601: who shows it makes each what
 * its reader knows (`storyBlocks`, `terminalStory`). No value can begin a line of its own: what stands at the start of a
 * line is ours. `cites`: with the ids of tool calls, which a model cites.
 */
export function why(record: IncidentRecord, { cites = false }: { readonly cites?: boolean } = {}): string {
  // What cites goes to models, which tell it where they are asked.
  const text = withoutMarks(story(cites ? hideMerged(record, () => false) : record));
  return cites ? text : text.replace(CITED, '');
}

/** The same for who shows it to a person, with marks of what is ours in it (`storyBlocks`, `terminalStory`). */
export const markedWhy = (record: IncidentRecord): string => story(record).replace(CITED, '');

/** As `cited` writes them. */
const CITED = / \[tc_[0-9a-z]+(?:, tc_[0-9a-z]+)*\]/g;

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
    ...actionsOf(record),
    `*Cost*: ${usedModel(record) ? `$${incident.costUsd.toFixed(4)} for the model` : 'no model was used'}; ${incident.detailsDeletedAt === null ? count(record.toolCalls.length, 'tool call') : 'tool calls are deleted'}.`,
  ];
  return lines.map(onOneLine).join('\n');
}

const onOneLine = (text: string): string => text.replace(/\s*[\r\n\u2028\u2029]+\s*/g, ' ');

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
        ...undoneLine(record, steps),
      ];
    }),
    seen === undefined
      ? '*Proof*: whether it is over was not checked.'
      : `*Proof*: ${ended(seen.lines.join('; '))} Checked at ${moment(seen.at)}.`,
  ];
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

/** One thing that happened, in words. */
export interface TimelineEntry {
  /** Of its event; grows. */
  readonly seq: number;
  readonly at: string;
  readonly text: string;
}

/** What happened, oldest first, in one line each as `why` tells it; looks whether it helped are one. */
export function timelineOf(record: IncidentRecord): readonly TimelineEntry[] {
  return timeline(record).map((entry) => ({
    ...entry,
    text: withoutMarks(onOneLine(entry.text)).replace(CITED, ''),
  }));
}

function timeline(record: IncidentRecord): readonly TimelineEntry[] {
  const { events } = record;
  const entries: TimelineEntry[] = [];
  let told = 0;
  for (const [index, event] of events.entries()) {
    const looks = isLook(event) && index >= told ? looksFrom(events, index) : null;
    told = looks?.until ?? told;
    const text = looks ? looks.text : isLook(event) ? null : line(event, record);
    if (text !== null) entries.push({ seq: event.seq, at: event.at, text });
  }
  return entries;
}

type ToolCalled = Extract<IncidentEvent, { type: 'tool.called' }>;

/** A look whether it helped. */
const isLook = (event: IncidentEvent): event is ToolCalled =>
  event.type === 'tool.called' && event.role === 'validator';

/** One watch over the live system: all its looks, and where it ends. */
function looksFrom(events: readonly IncidentEvent[], from: number) {
  const between = new Set(['tool.called', 'verification.checked', 'alert.resolved', 'alert.repeated']);
  const end = events.findIndex((event, index) => index > from && !between.has(event.type));
  const until = end < 0 ? events.length : end;
  const { length } = events.slice(from, until).filter(isLook);
  const hasRun = events.slice(0, from).some(({ type }) => type === 'action.started');
  const times = length === 1 ? 'once' : `${length} times`;
  return { until, text: `looked ${times} whether it ${hasRun ? 'helped' : 'is still there'}` };
}

/** The triage has given this reason a line before. */
const isTriage = (reason: string, { events }: IncidentRecord): boolean =>
  events.some((event) => event.type === 'triage.concluded' && event.triage.reason === reason);

function actionsOf(record: IncidentRecord): string[] {
  return record.actions.flatMap((action) => {
    if (action.step > 1) return [];
    const steps = stepsOf(record.actions, action);
    return steps.length > 1 ? planLines(record, steps, action) : actionLines(record, action);
  });
}

/** A plan of several steps: decided once, told step by step. */
function planLines(record: IncidentRecord, steps: readonly Action[], first: Action): string[] {
  return [
    `*Plan* on ${first.target}, ${count(steps.length, 'step')}: ${describePlan(steps)}`,
    ...lastingOf(record, first),
    `• ${decisionOf(first, true)}`,
    ...undoneLine(record, steps),
    ...steps.flatMap((step) => denialsOf(record, step)),
    ...steps.flatMap((step) => {
      const { mark, says } = stepResult(step, steps);
      return [
        `• ${mark} step ${step.step}, ${says}: ${fixedWidth(step.command)}`,
        `   ${label('why', isWhyInModelsWords(step, record.events))}${step.why || 'not said'}`,
        ...(step.outcome && step.state !== 'skipped'
          ? [`   result: ${step.outcome}${cited(step.toolCallId ? [step.toolCallId] : [])}`]
          : []),
      ];
    }),
    '',
  ];
}

function actionLines(record: IncidentRecord, action: Action): string[] {
  return [
    `*Action* on ${action.target}: ${fixedWidth(action.command)}`,
    `• ${label('why', isWhyInModelsWords(action, record.events))}${action.why || 'not said'}`,
    ...lastingOf(record, action),
    `• ${decisionOf(action)}`,
    ...undoneLine(record, [action]),
    ...denialsOf(record, action),
    ...(action.outcome
      ? [`• result: ${action.outcome}${cited(action.toolCallId ? [action.toolCallId] : [])}`]
      : []),
    '',
  ];
}

/** Who has undone it, or tried to. */
function undoneLine({ actions }: IncidentRecord, steps: readonly Action[]): string[] {
  const undone = undoneOf(actions, steps);
  if (undone === null) return [];
  const { says, by, at } = undone;
  return [
    `• ${lower(says)} ${by === null ? 'a person' : personOf(by)}${at === null ? '' : ` at ${moment(at)}`}`,
  ];
}

/** It has no part in how the incident ended. */
function lastingOf(record: IncidentRecord, action: Action): string[] {
  if (!isLastingFix(action)) return [];
  const checked = checkedOf(record, action);
  return [
    '• asked for once it was fixed, to keep it from coming back',
    ...(checked ? [`• ${formatChecked(checked)}`] : []),
  ];
}

/** What people have said no to: here in full; elsewhere who to ask, since its reader need not be able to read there. */
function denialsOf({ denials, incident }: IncidentRecord, { id, denialsAcknowledged }: Action): string[] {
  const back = ({ takenBackBy, takenBackAt }: Denial): readonly string[] =>
    takenBackBy && takenBackAt ? [`• taken back by <@${takenBackBy}> at ${moment(takenBackAt)}`] : [];
  const own = denials
    .filter(({ actionId, scope }) => actionId === id && scope !== 'action')
    .flatMap((denial) => [
      `• the No is about ${denial.scope === 'act' ? `“${denial.label}” in every incident` : `anything done to ${denial.label}`}, until ${denial.until ? moment(denial.until) : 'it is gone'}`,
      ...back(denial),
    ]);
  const shown = denials
    .filter((denial) => denialsAcknowledged.includes(denial.id))
    .flatMap((denial) => {
      const { saidBy, saidAt, reason, incidentId } = denial;
      const because =
        incidentId === incident.id ? (reason ? `: “${reason}”` : '') : ' in another incident (ask them)';
      return [
        `• <@${saidBy}> had said no at ${moment(saidAt)}${because}; to approve it was to approve it although`,
        ...back(denial),
      ];
    });
  return [...own, ...shown];
}

/** One line an event, or null where another one or the sections above say it. */
function line(event: IncidentEvent, record: IncidentRecord): string | null {
  if (isCallEvent(event)) return callLine(event, moment);
  switch (event.type) {
    case 'incident.opened':
      return `opened by ${openerOf(event, record)}`;
    case 'alert.repeated':
    case 'alert.flapping':
    case 'incident.last_time':
      return formatAlertEvent(event, record.events, moment);
    case 'alert.resolved':
      return `${event.source} says the alert has ended`;
    case 'state.changed':
      return `${lower(formatState(event.to))}${event.reason === '' || isTriage(event.reason, record) ? '' : `: ${event.reason}`}`;
    case 'memory.recalled':
      return (
        [
          ...(event.incidents.length > 0
            ? [
                `seen before: ${event.incidents.map((item) => `${item.incidentId} (${item.title})${(item.times ?? 1) > 1 ? `, ${item.times} times in all` : ''}${item.ended ? `: ${item.ended}` : ''}`).join(', ')}`,
              ]
            : []),
          ...(event.heldBack ? [formatHeldBack(event.heldBack)] : []),
          ...(event.missing ? [event.missing] : []),
        ].join('; ') || null
      );
    case 'memory.context.loaded':
      return memoryLine(event);
    case 'investigator.chosen':
      return `investigated by ${event.investigator === 'playbook' ? 'runbooks' : event.investigator}${event.model ? ` (${event.model}, prompts ${event.prompts ?? 'unknown'})` : ''}: ${event.why}`;
    case 'investigator.fallback':
      return `the model could not go on (${event.reason}); the playbook took over`;
    case 'tool.called':
      // What the surgeon proposes and runs has events of its own.
      if (event.state === 'proposed' || (event.role === 'surgeon' && event.state === 'ok')) return null;
      return `${lookOf(event, record)}${event.state === 'ok' ? '' : ` (${event.state})`}${cited([event.toolCallId])}: ${event.summary}`;
    case 'triage.concluded':
      return `${event.triage.routine && event.triage.incidentType ? `known problem, ${plainTool(event.triage.incidentType)}` : 'no known problem'}${event.by === 'claude' ? `, ${CLAUDES_WORDS}` : ''}: ${event.triage.reason}`;
    case 'diagnosis.concluded':
      return `${lower(describeVerdict(event.diagnosis))}${event === lastDiagnosis(record) ? '' : `${isModels(event.diagnosis, record.events) ? `, ${CLAUDES_WORDS}` : ''}: ${event.diagnosis.rootCause}`}`;
    case 'claim.dropped':
      return `dropped a claim (${event.claim}): ${event.reason}`;
    case 'plan.none':
      return `no action: ${formatNextStep({ nextStep: event.reason, asksAgainAt: event.asksAgainAt ?? null }, moment)}${event.said === undefined ? '' : ` ${CLAUDES_WORDS}: ${event.said}`}`;
    case 'action.proposed':
      return `${proposerOf(event.actionId, record)}proposed to ${planName(event.actionId, record)}`;
    case 'action.approved':
      return `${personOf(event.by)} approved: ${planName(event.actionId, record)}`;
    case 'action.seconded':
      return `<@${event.by}> approved (${event.count} of ${event.needed}): ${planName(event.actionId, record)}`;
    case 'action.denied':
      return `<@${event.by}> said no to this: ${planName(event.actionId, record)}${event.reason ? ` (“${event.reason}”)` : ''}`;
    case 'denial.taken_back':
      return `<@${event.by}> took back the No to this: ${planName(event.actionId, record)}`;
    case 'action.asked_again':
      return `<@${event.by}> had this asked for again: ${planName(event.actionId, record)}`;
    case 'action.edited':
      return `<@${event.by}> changed this, and had it asked for anew: ${planName(event.actionId, record)}`;
    case 'investigation.asked':
      return `<@${event.by}> had it investigated again`;
    case 'incident.related': {
      // Not which: a story goes where the others' may not. The thread names those that its readers may see.
      const others = count(event.incidents.length, 'other incident');
      return event.began === 'before'
        ? `open on the same system when this began: ${others}`
        : `since then also open on the same system: ${others}`;
    }
    case 'action.expired':
      return `nobody decided in time: ${planName(event.actionId, record)}`;
    case 'action.void':
      return `not run any more: ${nameOf(event.actionId, record)}: ${event.reason}`;
    case 'action.started':
      return `began to ${nameOf(event.actionId, record)}`;
    case 'action.finished':
      return `${stepNameOf(event.actionId, record)}${event.outcome}: ${event.text}`;
    case 'action.checked':
      return `${nameOf(event.actionId, record)}: ${formatChecked(event)}`;
    case 'verification.checked':
      return `looked: ${event.lines.join('; ')}`;
    case 'verification.concluded':
      return `verification: ${event.verdict.replace('_', ' ')}. ${event.reason}`;
    case 'incident.escalated':
      return `escalated: ${event.reason}`;
    case 'hint.given':
      return `<@${event.by}> hinted: ${event.text}`;
    case 'question.asked':
      return `<@${event.by}> asked: ${event.text}`;
    case 'read.asked':
      return `<@${event.by}> had ${plainTool(event.tool)} read again${event.way === 'grant' ? ', now that it may be allowed' : ''}${cited([event.toolCallId])}`;
    case 'read.finished':
      return `${plainTool(event.tool)} ${event.readable ? 'could be read now' : `still cannot be read (${event.reason})`}${cited(event.toolCallId ? [event.toolCallId] : [])}`;
    case 'memory.write.blocked':
      return `kept out of memory (${event.path}): the safety scanner found ${[...new Set(event.findings.map(({ category }) => category.replaceAll('_', ' ')))].join(', ')}`;
    case 'memory.policy.denied':
      return `a write to memory (${event.store}) was denied: ${event.reason}`;
    case 'memory.promotion.proposed':
      return `${event.by} proposed ${event.path} for the workspace: ${event.rationale}`;
    case 'memory.promotion.decided':
      return `<@${event.by}> ${event.decision} ${event.path} for the workspace${event.reason ? `: ${event.reason}` : ''}`;
    case 'record.restored':
      return `the record was restored from a backup of ${moment(event.madeAt)}: what was done later is not on record`;
    case 'effort.chosen':
    case 'incident.stopped':
    case 'incident.resumed':
    case 'incident.closed':
    case 'severity.changed':
    case 'switch.set':
    case 'switch.cleared':
    case 'incident.muted':
    case 'incident.unmuted':
    case 'incident.merged':
    case 'incident.split':
    case 'member.merged':
    case 'member.split':
      return formatRest(event, moment);
    case 'injection.found':
      return `${event.where} reads like instructions to the model (${event.kinds.join(', ').replaceAll('_', ' ')}): ${event.blocked ? 'kept from it' : 'marked for it as suspicious data'}`;
    case 'incident.summary':
      return event.text;
    case 'report.asked':
      return `<@${event.by}> asked for the post-incident report`;
    case 'report.made':
      return `the post-incident report stands ${placeNames[event.place]}`;
    case 'grade.given':
      return `<@${event.by}> said ${event.question === 'useful' ? 'this was' : 'the cause was'}${event.answer ? '' : ' not'} ${event.question === 'useful' ? 'useful' : 'right'}`;
    default: {
      const never: never = event;
      return never;
    }
  }
}

const placeNames = { canvas: 'in a canvas', file: 'in a file', thread: 'in the thread' } as const;

/** The steps of the plan that an action belongs to; none where it stands alone. */
function planOf(id: Action['id'], { actions }: IncidentRecord): readonly Action[] {
  const action = actions.find((each) => each.id === id);
  const steps = action ? stepsOf(actions, action) : [];
  return steps.length > 1 ? steps : [];
}

/** What a plan does, as it stands within a sentence: `restart service shop-worker`. */
function planName(id: Action['id'], { actions }: IncidentRecord): string {
  const action = actions.find((each) => each.id === id);
  return action ? lower(describePlan(stepsOf(actions, action))) : 'an action';
}

/** `step 2 of 3 `; nothing for what stands alone. */
function stepNameOf(id: Action['id'], record: IncidentRecord): string {
  const steps = planOf(id, record);
  const step = steps.find((each) => each.id === id)?.step;
  return step === undefined ? '' : `step ${step} of ${steps.length} `;
}

function nameOf(id: Action['id'], record: IncidentRecord): string {
  const action = record.actions.find((each) => each.id === id);
  return action
    ? `${lower(describeAct(action))}${stepNameOf(id, record) && ` (${stepNameOf(id, record).trim()})`}`
    : 'an action';
}

/** A read by what it was for; a model's purpose is its own words. */
function lookOf(call: ToolCalled, record: IncidentRecord): string {
  const read = record.toolCalls.find(({ id }) => id === call.toolCallId);
  const neighbour = neighbourRead(read, record.incident);
  return `${purposeOf(call, record)}${neighbour === null ? '' : ` on ${neighbour}`}`;
}

function purposeOf({ purpose, tool, at }: ToolCalled, { events }: IncidentRecord): string {
  if (!purpose) return `read ${plainTool(tool)}`;
  const who = events.findLast((event) => event.type === 'investigator.chosen' && event.at <= at);
  return who?.type === 'investigator.chosen' && who.investigator === 'playbook'
    ? lower(purpose.replace(/[\s.…]+$/, ''))
    : `“${purpose}”`;
}

/** Where a person or a program asked for it, who; else its source. */
function openerOf({ source }: { readonly source: string }, { alerts }: IncidentRecord): string {
  const annotations = source === 'hand' ? alerts[0]?.annotations : undefined;
  const by = isObject(annotations) ? annotations['requested_by'] : undefined;
  return typeof by === 'string' ? formatSetter(by) : source;
}

/** A client outside of Sentry, by name; nothing where it was Sentry. */
function proposerOf(id: ActionId, { actions }: IncidentRecord): string {
  const by = actions.find((action) => action.id === id)?.requestedBy ?? null;
  return isMcpPrincipal(by) ? `${by} ` : '';
}

/** What a model was shown from memory, by place and trust; null where there was nothing. */
function memoryLine(event: Extract<IncidentEvent, { type: 'memory.context.loaded' }>): string | null {
  if (event.documents.length === 0) return event.missing;
  const places = event.documents.map(
    ({ store, path, trust }) => `${store}/${path} (${trust.replace('_', ' ')})`,
  );
  return `the ${event.role} was shown from memory, ${event.tokens} tokens: ${places.join(', ')}`;
}
