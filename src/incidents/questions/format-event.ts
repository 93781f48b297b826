import { type Action, stepsOf } from '../../core/action.ts';
import { count } from '../../core/count.ts';
import { describeAct, describePlan } from '../../core/describe-act.ts';
import { describeVerdict } from '../../core/diagnosis.ts';
import type { IncidentEvent } from '../../core/event.ts';
import type { ActionId } from '../../core/ids.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { isObject } from '../../core/json-of.ts';
import { CLAUDES_WORDS, isModels } from '../../core/model-words.ts';
import { isMcpPrincipal } from '../../core/principal.ts';
import { formatHeldBack } from '../../core/seen-before.ts';
import { formatSetter } from '../../core/switch-scope.ts';
import { neighbourRead } from '../../core/tool-call.ts';
import { lower } from './answer-lines.ts';
import { callLine, isCallEvent } from './call-line.ts';
import { formatAlertEvent } from './format-alert-event.ts';
import { cited, lastDiagnosis, plainTool } from './format-cause.ts';
import { personOf } from './format-decision.ts';
import { formatChecked } from './format-lasting-fix.ts';
import { formatRest } from './format-rest.ts';
import { formatNextStep, formatState } from './format-state.ts';
import { moment } from './own-marks.ts';

/** One line an event, or null where another one or the sections above say it. */
export function formatEvent(event: IncidentEvent, record: IncidentRecord): string | null {
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
    case 'changes.looked':
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
    case 'change.told':
    case 'incident.looked':
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
    // A checklist of its own tells it.
    case 'context.gathered':
      return null;
    default: {
      const never: never = event;
      return never;
    }
  }
}

/** The triage has given this reason a line before. */
const isTriage = (reason: string, { events }: IncidentRecord): boolean =>
  events.some((event) => event.type === 'triage.concluded' && event.triage.reason === reason);

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

type ToolCalled = Extract<IncidentEvent, { type: 'tool.called' }>;

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
