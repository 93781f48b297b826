import { type Action, isLastingFix, stepsOf } from '../../core/action.ts';
import type { Denial } from '../../core/denial.ts';
import { describePlan } from '../../core/describe-act.ts';
import type { Diagnosis } from '../../core/diagnosis.ts';
import type { IncidentEvent } from '../../core/event.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { alsoRuledOut, CLAUDES_WORDS, isModels, isWhyInModelsWords, label } from '../../core/model-words.ts';
import { stepResult } from '../../core/plan-progress.ts';
import { formatHeldBack } from '../../core/seen-before.ts';
import { usedModel } from './answer-actions.ts';
import { checkedOf, formatChecked } from './format-lasting-fix.ts';
import { formatNextStep, formatState } from './format-state.ts';

/**
 * What happened, which evidence, what was run, who approved, how it ended and what it cost: from the record alone, no
 * model. Plain lines with Slack's *bold* and `code`, readable in a terminal too. User ids stay as `<@U…>`. No value can
 * begin a line of its own: what stands at the start of a line is ours.
 */
export function why(record: IncidentRecord): string {
  const { incident } = record;
  const lines = [
    `*${incident.id}: ${incident.title}*`,
    `${formatState(incident.state)}. Severity ${incident.severity}, target ${incident.target ?? 'unknown'}, opened ${moment(incident.openedAt)}${
      incident.endedAt ? `, ended ${moment(incident.endedAt)}` : ''
    }${incident.occurrences > 1 ? `, fired ${incident.occurrences} times` : ''}.`,
    ...(incident.asksAgainAt === null ? [] : [`*Next*: ${formatNextStep(incident)}`]),
    '',
    ...causeOf(record),
    ...actionsOf(record),
    '*What happened* (times in UTC)',
    ...storyOf(record),
    '',
    `*Cost*: ${usedModel(record) ? `$${incident.costUsd.toFixed(4)} for the model` : 'no model was used'}; ${record.toolCalls.length} tool calls.`,
  ];
  return lines.map((text) => text.replace(/\s*[\r\n\u2028\u2029]+\s*/g, ' ')).join('\n');
}

/** The events, a line each; the day where it is another than the line before, and looks whether it helped as one line. */
function storyOf(record: IncidentRecord): string[] {
  const { events } = record;
  const lines: string[] = [];
  let day = record.incident.openedAt.slice(0, 10);
  let told = 0;
  for (const [index, event] of events.entries()) {
    const looks = isLook(event) && index >= told ? looksFrom(events, index) : null;
    told = looks?.until ?? told;
    const text = looks ? looks.text : isLook(event) ? null : line(event, record);
    if (text === null) continue;
    if (event.at.slice(0, 10) !== day) {
      day = event.at.slice(0, 10);
      lines.push(`${day}:`);
    }
    lines.push(`${event.at.slice(11, 19)}  ${text}`);
  }
  return lines;
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
  const ids = events
    .slice(from, until)
    .filter(isLook)
    .map((event) => event.toolCallId);
  const shown = ids.length > 2 ? `${ids[0]} … ${ids.at(-1)}` : ids.join(', ');
  return { until, text: `the validator read the live system ${times(ids.length)} [${shown}]` };
}

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);

function causeOf(record: IncidentRecord): string[] {
  const last = lastDiagnosis(record);
  if (!last) return [];
  const { diagnosis } = last;
  const isModel = isModels(diagnosis, record.events) && diagnosis.disagreement === undefined;
  const whose = isModel ? `, ${CLAUDES_WORDS}` : '';
  return [
    diagnosis.verdict === 'cause_found'
      ? `*Cause* (${Math.round(diagnosis.confidence * 100)} % sure${sureOfFix(diagnosis)}${whose}): ${diagnosis.rootCause}`
      : `*${diagnosis.verdict === 'healthy' ? 'Nothing wrong was seen' : 'The cause cannot be told'}*${isModel ? ` (${CLAUDES_WORDS})` : ''}: ${diagnosis.rootCause}`,
    ...sidesOf(diagnosis),
    ...diagnosis.evidence.map(
      (item) =>
        `• ${item.claim} [${item.toolCallIds.join(', ')}]${item.quote === null ? '' : ` “${item.quote}”`}`,
    ),
    ...reasoningOf(diagnosis),
    ...alsoRuledOut(diagnosis).map((text) => `• ruled out: ${text}`),
    ...diagnosis.unknown.map((text) => `• not known: ${text}`),
    ...(diagnosis.wouldChangeMyMind ? [`• wrong if: ${diagnosis.wouldChangeMyMind}`] : []),
    ...(isModel && diagnosis.remedy ? [`• Claude suggests: ${diagnosis.remedy}`] : []),
    ...(diagnosis.doubleCheck?.reason ? [`• not double-checked: ${diagnosis.doubleCheck.reason}`] : []),
    ...(diagnosis.unread ?? []).map(({ toolCallId, way, reason }) => {
      const call = record.toolCalls.find(({ id }) => id === toolCallId);
      const then = way === 'run' ? 'it can be run again' : 'somebody has to grant it';
      return `• not read: ${call?.tool ?? 'a call'} [${toolCallId}]: ${reason} (${then})`;
    }),
    '',
  ];
}

function sureOfFix({ confidence, fixConfidence }: Diagnosis): string {
  return fixConfidence === undefined || fixConfidence === confidence
    ? ''
    : `, ${Math.round(fixConfidence * 100)} % of the fix`;
}

function sidesOf({ disagreement }: Diagnosis): string[] {
  if (disagreement === undefined) return [];
  const { runbook, model } = disagreement;
  return [
    `• the runbook’s check: ${runbook.says} [${[...new Set(runbook.evidence.flatMap(({ toolCallIds }) => toolCallIds))].join(', ')}]`,
    `• ${CLAUDES_WORDS}: ${model.says}`,
  ];
}

const ends = { ruled_in: 'ruled in', ruled_out: 'ruled out', open: 'open' } as const;

function reasoningOf({ onset, symptomNow, chain = [], hypotheses = [] }: Diagnosis): string[] {
  const of = (title: string, ids: readonly string[]): string =>
    ids.length === 0 ? '' : `; ${title} ${ids.join(', ')}`;
  return [
    ...(onset === undefined ? [] : [`• began: ${moment(onset)}`]),
    ...(symptomNow === undefined
      ? []
      : [`• there now: ${symptomNow.present ? 'yes' : 'no'} [${symptomNow.toolCallId}]`]),
    ...(chain.length === 0 ? [] : [`• how it came about: ${chain.join(' → ')}`]),
    ...hypotheses.map(
      ({ cause, forIds, againstIds, end }) =>
        `• weighed, ${ends[end]}: ${cause}${of('for', forIds)}${of('against', againstIds)}`,
    ),
  ];
}

const lastDiagnosis = ({ events }: IncidentRecord) =>
  events.findLast((event) => event.type === 'diagnosis.concluded');

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
    `*Plan* ${first.id} on ${first.target}, ${steps.length} steps: ${describePlan(steps)}`,
    ...lastingOf(record, first),
    `• ${decisionOf(first, true)}`,
    ...steps.flatMap((step) => denialsOf(record, step)),
    ...steps.flatMap((step) => {
      const { mark, says } = stepResult(step, steps);
      return [
        `• ${mark} step ${step.step}, ${says}: \`${step.command}\``,
        `   ${label('why', isWhyInModelsWords(step, record.events))}${step.why || 'not said'}`,
        ...(step.outcome && step.state !== 'skipped'
          ? [`   result: ${step.outcome}${step.toolCallId ? ` [${step.toolCallId}]` : ''}`]
          : []),
      ];
    }),
    '',
  ];
}

function actionLines(record: IncidentRecord, action: Action): string[] {
  return [
    `*Action* ${action.id} on ${action.target}: \`${action.command}\``,
    `• ${label('why', isWhyInModelsWords(action, record.events))}${action.why || 'not said'}`,
    ...lastingOf(record, action),
    `• ${decisionOf(action)}`,
    ...denialsOf(record, action),
    ...(action.outcome
      ? [`• result: ${action.outcome}${action.toolCallId ? ` [${action.toolCallId}]` : ''}`]
      : []),
    '',
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
  const back = ({ takenBackBy, takenBackAt }: Denial): string =>
    takenBackBy && takenBackAt ? `; taken back by <@${takenBackBy}> at ${moment(takenBackAt)}` : '';
  const own = denials
    .filter(({ actionId, scope }) => actionId === id && scope !== 'action')
    .map(
      (denial) =>
        `• the No is about anything done to ${denial.label}, until ${denial.until ? moment(denial.until) : 'it is gone'}${back(denial)}`,
    );
  const shown = denials
    .filter((denial) => denialsAcknowledged.includes(denial.id))
    .map((denial) => {
      const { saidBy, saidAt, reason, incidentId } = denial;
      const because =
        incidentId === incident.id
          ? reason
            ? `: “${reason}”`
            : ''
          : ` in another incident (ask <@${saidBy}>)`;
      return `• <@${saidBy}> had said no at ${moment(saidAt)}${because}${back(denial)}; to approve it was to approve it although`;
    });
  return [...own, ...shown];
}

/** `isPlan`: what became of it stands with its steps. */
function decisionOf(action: Action, isPlan = false): string {
  const when = action.decidedAt ? ` at ${moment(action.decidedAt)}` : '';
  const because = action.decisionReason ? `, because: ${action.decisionReason}` : '';
  const who = action.decidedBy ? `<@${action.decidedBy}>` : 'nobody';
  switch (action.state) {
    case 'proposed':
      return action.auditOnly
        ? 'would propose (nothing may be changed now)'
        : `waits for a decision until ${moment(action.expiresAt)}`;
    case 'denied':
      return `denied by ${who}${when}${because}`;
    case 'expired':
      return `expired at ${moment(action.expiresAt)}: nothing was run`;
    case 'void':
      return 'void: nothing was run';
    case 'queued':
      return 'waits for the step before it';
    case 'skipped':
      return 'skipped: not run';
    case 'approved':
    case 'started':
    case 'succeeded':
    case 'failed':
    case 'unknown':
      return `approved by ${who}${when}${isPlan ? '' : `; ${action.state}`}`;
    default: {
      const never: never = action.state;
      return never;
    }
  }
}

/** One line an event, or null where another one or the sections above say it. */
function line(event: IncidentEvent, record: IncidentRecord): string | null {
  switch (event.type) {
    case 'incident.opened':
      return `opened by ${event.source}`;
    case 'alert.repeated':
      // The same notice by another way is no new occurrence.
      return event.occurrences === 1
        ? `${event.source} reported it, too`
        : `fired again (${event.occurrences} times now, ${event.source})`;
    case 'alert.resolved':
      return `${event.source} says the alert has ended`;
    case 'state.changed':
      return `${formatState(event.from)} → ${formatState(event.to)}${isTriage(event.reason, record) ? '' : `: ${event.reason}`}`;
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
      return `investigated by ${event.investigator}${event.model ? ` (${event.model}, prompts ${event.prompts ?? 'unknown'})` : ''}: ${event.why}`;
    case 'investigator.fallback':
      return `the model could not go on (${event.reason}); the playbook took over`;
    case 'tool.called':
      // What the surgeon proposes and runs has events of its own.
      if (event.role === 'surgeon' && (event.state === 'proposed' || event.state === 'ok')) return null;
      return `the ${event.role} used ${event.tool} [${event.toolCallId}]${event.state === 'ok' ? '' : ` ${event.state}`}: ${event.summary}`;
    case 'triage.concluded':
      return `triage: ${event.triage.incidentType ?? 'unknown kind'}, ${event.triage.routine ? 'routine' : 'not routine'}${event.by === 'claude' ? `, ${CLAUDES_WORDS}` : ''}: ${event.triage.reason}`;
    case 'diagnosis.concluded':
      return `diagnosis of round ${event.round}${event === lastDiagnosis(record) ? '' : `${isModels(event.diagnosis, record.events) ? `, ${CLAUDES_WORDS}` : ''}: ${event.diagnosis.rootCause}`}`;
    case 'claim.dropped':
      return `dropped a claim (${event.claim}): ${event.reason}`;
    case 'plan.none':
      return `no action: ${formatNextStep({ nextStep: event.reason, asksAgainAt: event.asksAgainAt ?? null })}${event.said === undefined ? '' : ` ${CLAUDES_WORDS}: ${event.said}`}`;
    case 'action.proposed':
      return `proposed ${event.actionId}${sizeOf(event.actionId, record)}`;
    case 'action.approved':
      return `${event.by === 'policy' ? 'the policy' : `<@${event.by}>`} approved ${event.actionId}`;
    case 'action.seconded':
      return `<@${event.by}> approved ${event.actionId} (${event.count} of ${event.needed})`;
    case 'action.denied':
      return `<@${event.by}> denied ${event.actionId}${event.reason ? `: ${event.reason}` : ''}`;
    case 'denial.taken_back':
      return `<@${event.by}> took back the No to ${event.actionId}`;
    case 'action.asked_again':
      return `<@${event.by}> had ${event.actionId} asked for again`;
    case 'incident.related':
      return event.began === 'before'
        ? `open on the same system when this began: ${event.incidents.join(', ')}`
        : `since then also open on the same system: ${event.incidents.join(', ')}`;
    case 'action.expired':
      return `${event.actionId} expired`;
    case 'action.void':
      return `${nameOf(event.actionId, record)} is void: ${event.reason}`;
    case 'action.started':
      return `running ${nameOf(event.actionId, record)}`;
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
      return `<@${event.by}> had ${event.tool} read again${event.way === 'grant' ? ', now that it may be allowed' : ''} [${event.toolCallId}]`;
    case 'read.finished':
      return `${event.tool} ${event.readable ? 'could be read now' : `still cannot be read (${event.reason})`}${event.toolCallId ? ` [${event.toolCallId}]` : ''}`;
    case 'memory.write.blocked':
      return `kept out of memory (${event.path}): the safety scanner found ${[...new Set(event.findings.map(({ category }) => category.replaceAll('_', ' ')))].join(', ')}`;
    case 'memory.policy.denied':
      return `a write to memory (${event.store}) was denied: ${event.reason}`;
    case 'memory.promotion.proposed':
      return `${event.by} proposed ${event.path} for the workspace (${event.jobId}): ${event.rationale}`;
    case 'memory.promotion.decided':
      return `<@${event.by}> ${event.decision} ${event.path} for the workspace${event.reason ? `: ${event.reason}` : ''}`;
    case 'incident.stopped':
      return `<@${event.by}> stopped it: ${event.reason}`;
    case 'incident.resumed':
      return `<@${event.by}> resumed it`;
    case 'injection.found':
      return `${event.where} reads like instructions to the model (${event.kinds.join(', ').replaceAll('_', ' ')}): ${event.blocked ? 'kept from it' : 'marked for it as suspicious data'}`;
    case 'switch.set':
      return `<@${event.by}> stopped all changes (${event.scope === '*' ? 'everything' : event.scope.replace(':', ' ')})${event.until ? ` until ${moment(event.until)}` : ''}${event.reason ? `: ${event.reason}` : ''}`;
    case 'switch.cleared':
      return `<@${event.by}> resumed changes (${event.scope === '*' ? 'everything' : event.scope.replace(':', ' ')})${event.reason ? `: ${event.reason}` : ''}`;
    case 'incident.summary':
      return event.text;
    case 'grade.given':
      return `<@${event.by}> said ${event.question === 'useful' ? 'this was' : 'the cause was'}${event.answer ? '' : ' not'} ${event.question === 'useful' ? 'useful' : 'right'}`;
    default: {
      const never: never = event;
      return never;
    }
  }
}

/** The steps of the plan that an action belongs to; none where it stands alone. */
function planOf(id: Action['id'], { actions }: IncidentRecord): readonly Action[] {
  const action = actions.find((each) => each.id === id);
  const steps = action ? stepsOf(actions, action) : [];
  return steps.length > 1 ? steps : [];
}

function sizeOf(id: Action['id'], record: IncidentRecord): string {
  const { length } = planOf(id, record);
  return length === 0 ? '' : `, a plan of ${length} steps`;
}

/** `step 2 of 3 `; nothing for what stands alone. */
function stepNameOf(id: Action['id'], record: IncidentRecord): string {
  const steps = planOf(id, record);
  const step = steps.find((each) => each.id === id)?.step;
  return step === undefined ? '' : `step ${step} of ${steps.length} `;
}

function nameOf(id: Action['id'], record: IncidentRecord): string {
  const step = stepNameOf(id, record);
  return step === '' ? id : `${step}of ${planOf(id, record)[0]?.id ?? id}`;
}

/** What a model was shown from memory, by place and trust; null where there was nothing. */
function memoryLine(event: Extract<IncidentEvent, { type: 'memory.context.loaded' }>): string | null {
  if (event.documents.length === 0) return event.missing;
  const places = event.documents.map(
    ({ store, path, trust }) => `${store}/${path} (${trust.replace('_', ' ')})`,
  );
  return `the ${event.role} was shown from memory, ${event.tokens} tokens: ${places.join(', ')}`;
}

/** `2026-11-21 14:03:22 UTC`. */
function moment(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}
