import type { Action } from '../domain/action.ts';
import type { IncidentEvent } from '../domain/event.ts';
import type { IncidentRecord } from '../domain/incident-record.ts';
import { stateInWords } from './words.ts';

/**
 * What happened, which evidence, what was run, who approved, how it ended and what it cost: from the record alone, no
 * model. Plain lines with Slack's *bold* and `code`, readable in a terminal too. User ids stay as `<@U…>`.
 */
export function why(record: IncidentRecord): string {
  const { incident } = record;
  const lines = [
    `*${incident.id}: ${incident.title}*`,
    `${stateInWords(incident.state)}. Severity ${incident.severity}, target ${incident.target ?? 'unknown'}, opened ${clock(incident.openedAt)}${
      incident.endedAt ? `, ended ${clock(incident.endedAt)}` : ''
    }${incident.occurrences > 1 ? `, fired ${incident.occurrences} times` : ''}.`,
    '',
    ...causeOf(record),
    ...actionsOf(record),
    '*What happened*',
    ...record.events.flatMap((event) => line(event, record)),
    '',
    `*Cost*: ${incident.costUsd > 0 ? `$${incident.costUsd.toFixed(4)} for the model` : 'no model was used'}; ${record.toolCalls.length} tool calls.`,
  ];
  return lines.join('\n');
}

function causeOf(record: IncidentRecord): string[] {
  const last = record.events.findLast((event) => event.type === 'diagnosis.concluded');
  if (last?.type !== 'diagnosis.concluded') return [];
  const { diagnosis } = last;
  return [
    `*Cause* (${Math.round(diagnosis.confidence * 100)} % sure): ${diagnosis.rootCause}`,
    ...diagnosis.evidence.map((item) => `• ${item.claim} [${item.toolCallIds.join(', ')}]`),
    ...diagnosis.ruledOut.map((text) => `• ruled out: ${text}`),
    ...diagnosis.unknown.map((text) => `• not known: ${text}`),
    '',
  ];
}

function actionsOf(record: IncidentRecord): string[] {
  return record.actions.flatMap((action) => [
    `*Action* ${action.id} on ${action.target}: \`${action.command}\``,
    `• why: ${action.why || 'not said'}`,
    `• ${decisionOf(action)}`,
    ...(action.outcome ? [`• result: ${action.outcome}`] : []),
    '',
  ]);
}

function decisionOf(action: Action): string {
  const when = action.decidedAt ? ` at ${clock(action.decidedAt)}` : '';
  const because = action.decisionReason ? `, because: ${action.decisionReason}` : '';
  const who = action.decidedBy ? `<@${action.decidedBy}>` : 'nobody';
  switch (action.state) {
    case 'proposed':
      return action.auditOnly
        ? 'would propose (nothing may be changed now)'
        : `waits for a decision until ${clock(action.expiresAt)}`;
    case 'denied':
      return `denied by ${who}${when}${because}`;
    case 'expired':
      return `expired at ${clock(action.expiresAt)}: nothing was run`;
    case 'void':
      return 'void: nothing was run';
    case 'approved':
    case 'started':
    case 'succeeded':
    case 'failed':
    case 'unknown':
      return `approved by ${who}${when}; ${action.state}`;
    default: {
      const never: never = action.state;
      return never;
    }
  }
}

/** One line an event; what the sections above have said already is left out. */
function line(event: IncidentEvent, record: IncidentRecord): string[] {
  const say = (text: string): string[] => [`${clock(event.at)}  ${text}`];
  const command = (id: string): string => record.actions.find((action) => action.id === id)?.command ?? id;
  switch (event.type) {
    case 'incident.opened':
      return say(`opened by ${event.source}`);
    case 'alert.repeated':
      return say(`fired again (${event.occurrences} times now, ${event.source})`);
    case 'alert.resolved':
      return say(`${event.source} says the alert has ended`);
    case 'state.changed':
      return say(`${stateInWords(event.from)} → ${stateInWords(event.to)}: ${event.reason}`);
    case 'memory.recalled':
      return [
        ...(event.incidents.length > 0
          ? say(
              `seen before: ${event.incidents.map((item) => `${item.incidentId} (${item.title})`).join(', ')}`,
            )
          : []),
        ...(event.missing ? say(event.missing) : []),
      ];
    case 'investigator.chosen':
      return say(`investigated by ${event.investigator}: ${event.why}`);
    case 'investigator.fallback':
      return say(`the model could not go on (${event.reason}); the playbook took over`);
    case 'tool.called':
      return say(`${event.role} used ${event.tool} [${event.toolCallId}] ${event.state}: ${event.summary}`);
    case 'triage.concluded':
      return say(
        `triage: ${event.triage.incidentType ?? 'unknown kind'}, ${event.triage.routine ? 'routine' : 'not routine'}: ${event.triage.reason}`,
      );
    case 'diagnosis.concluded':
      return say(`diagnosis of round ${event.round}: ${event.diagnosis.rootCause}`);
    case 'claim.dropped':
      return say(`dropped a claim (${event.claim}): ${event.reason}`);
    case 'plan.none':
      return say(`no action: ${event.reason}`);
    case 'action.proposed':
      return say(`proposed: \`${command(event.actionId)}\``);
    case 'action.approved':
      return say(`<@${event.by}> approved ${event.actionId}`);
    case 'action.denied':
      return say(`<@${event.by}> denied ${event.actionId}${event.reason ? `: ${event.reason}` : ''}`);
    case 'action.expired':
      return say(`${event.actionId} expired`);
    case 'action.void':
      return say(`${event.actionId} is void: ${event.reason}`);
    case 'action.started':
      return say(`running: \`${command(event.actionId)}\``);
    case 'action.finished':
      return say(`${event.outcome}: ${event.text}`);
    case 'verification.checked':
      return say(`looked: ${event.lines.join('; ')}`);
    case 'verification.concluded':
      return say(`verification: ${event.verdict.replace('_', ' ')}. ${event.reason}`);
    case 'incident.escalated':
      return say(`escalated: ${event.reason}`);
    case 'hint.given':
      return say(`<@${event.by}> hinted: ${event.text}`);
    case 'question.asked':
      return say(`<@${event.by}> asked: ${event.text}`);
    case 'incident.stopped':
      return say(`<@${event.by}> stopped it: ${event.reason}`);
    case 'incident.resumed':
      return say(`<@${event.by}> resumed it`);
    case 'incident.summary':
      return say(event.text);
    default: {
      const never: never = event;
      return never;
    }
  }
}

/** `14:03:22` UTC; the day is in the header where it matters. */
function clock(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}
