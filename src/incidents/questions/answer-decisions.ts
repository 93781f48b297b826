import type { Action } from '../../core/action.ts';
import { clipLine } from '../../core/clip.ts';
import { count } from '../../core/count.ts';
import type { Denial } from '../../core/denial.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { overriddenBy } from '../../core/overridden.ts';
import { type Around, commandsOf, ended, type Line, newestFirst, people, SENTENCE } from './answer-lines.ts';

export function approvalOf(record: IncidentRecord, around: Around): readonly Line[] {
  const actions = newestFirst(record).filter(({ auditOnly }) => !auditOnly);
  if (actions.length === 0) return [['Nobody: nothing has been proposed for approval.']];
  return actions.map((action) => [...decisionOf(action, around), ' ', ...commandsOf(record, action), '.']);
}

function decisionOf(action: Action, around: Around): Line {
  const { state, approvedBy, decidedBy, decidedAt } = action;
  const at: Line = decidedAt === null ? [] : [' at ', { at: decidedAt }];
  if (state === 'proposed')
    return approvedBy.length > 0
      ? [
          'Approved by ',
          ...people(approvedBy),
          ` so far (${approvedBy.length} of ${action.approvalsNeeded}), waiting for the rest:`,
        ]
      : [
          `Nobody yet${around.approvers === null ? '' : ` (asked: ${around.approvers})`}, open until `,
          { at: action.expiresAt },
          ':',
        ];
  if (state === 'denied') return ['Denied by ', ...people([decidedBy]), ...at, ':'];
  if (state === 'expired')
    return ['Nobody approved it in time; it ran out at ', { at: action.expiresAt }, ':'];
  const by = approvedBy.length > 0 ? approvedBy : [decidedBy];
  if (state === 'void')
    return by.some((each) => each !== null)
      ? ['Approved by ', ...people(by), ...at, ', and yet it did not run:']
      : ['Nobody; it was withdrawn and did not run:'];
  return ['Approved by ', ...people(by), ...at, ':'];
}

export function denialOf(record: IncidentRecord): readonly Line[] {
  const denied = newestFirst(record).filter(({ state }) => ['denied', 'expired', 'void'].includes(state));
  const although = overriddenOf(record).map(
    ({ saidBy, saidAt, reason, incidentId }): Line => [
      ...people([saidBy]),
      ' had said no at ',
      { at: saidAt },
      // What they said elsewhere is for those who may read there.
      incidentId !== record.incident.id
        ? ' in another incident.'
        : reason === ''
          ? ', without a reason.'
          : `: “${clipLine(reason, SENTENCE)}”.`,
    ],
  );
  if (denied.length + although.length === 0) return [['Nobody said no.']];
  const here = denied.map((action): Line => {
    const what: Line = [' (', ...commandsOf(record, action), ')'];
    if (action.state === 'expired')
      return ['It was not denied: nobody decided before ', { at: action.expiresAt }, ...what, '.'];
    if (action.state === 'void')
      return [
        `It was not denied but withdrawn: ${ended(action.outcome ?? 'the state had changed')}`,
        ...what,
      ];
    return [
      'Denied by ',
      ...people([action.decidedBy]),
      ...(action.decidedAt === null ? [] : [' at ', { at: action.decidedAt }]),
      action.decisionReason ? `: “${clipLine(action.decisionReason, SENTENCE)}”` : ', without a reason',
      ...what,
      '.',
    ];
  });
  return [...here, ...although];
}

/** The Noes to what was to be done here that no plan of this incident shows as its own denial. */
export const overriddenOf = (record: IncidentRecord): readonly Denial[] =>
  overriddenBy(record, record.actions).filter(
    ({ actionId }) => !record.actions.some(({ id, state }) => id === actionId && state === 'denied'),
  );

/** Until when what was proposed last can be decided. */
export function expiryOf(record: IncidentRecord): Line {
  const [newest] = newestFirst(record).filter(({ auditOnly }) => !auditOnly);
  if (newest?.state !== 'proposed' && newest?.state !== 'expired') return ['Nothing waits for a decision.'];
  const what = commandsOf(record, newest);
  return newest.state === 'proposed'
    ? ['It waits for a decision until ', { at: newest.expiresAt }, ': ', ...what, '.']
    : ['It ran out at ', { at: newest.expiresAt }, ', and nobody had decided: ', ...what, '.'];
}

export function askedOf(record: IncidentRecord, around: Around): readonly Line[] {
  const waits = newestFirst(record).find(({ state, auditOnly }) => state === 'proposed' && !auditOnly);
  if (waits)
    return [
      [
        `Asked: ${around.approvers ?? 'whoever may approve'}, until `,
        { at: waits.expiresAt },
        ': ',
        ...commandsOf(record, waits),
        '.',
      ],
      [`${waits.approvedBy.length} of ${count(waits.approvalsNeeded, 'approval')} so far.`],
    ];
  const decided = approvalOf(record, around);
  return [['Nobody is being asked now.'], ...(record.actions.length === 0 ? [] : decided)];
}

export function stoppedOf({ events, incident }: IncidentRecord): Line {
  const last = events.findLast(
    (event) => event.type === 'incident.stopped' || event.type === 'incident.resumed',
  );
  if (last?.type === 'incident.stopped' && incident.state === 'stopped')
    return [
      'Stopped by ',
      ...people([last.by]),
      ' at ',
      { at: last.at },
      last.reason ? `: ${ended(clipLine(last.reason, SENTENCE))}` : '.',
    ];
  if (last?.type === 'incident.resumed')
    return ['Not stopped: resumed by ', ...people([last.by]), ' at ', { at: last.at }, '.'];
  return ['Nobody stopped it.'];
}
