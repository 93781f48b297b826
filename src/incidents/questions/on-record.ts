import { callStateOf } from '../../core/calls.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { toldChanges } from '../../core/told-changes.ts';
import { ruledOutOf, runbookIdOf } from './answer-cause.ts';
import { overriddenOf } from './answer-decisions.ts';
import type { Around } from './answer-lines.ts';
import { undosOf } from './answer-undo.ts';
import { comparedLast } from './answer-usual.ts';
import { lastDiagnosis } from './format-cause.ts';
import type { Subject } from './subjects.ts';

type Has = (record: IncidentRecord, around: Around) => boolean;

const hasDiagnosis: Has = (record) => lastDiagnosis(record) !== undefined;
const hasActions: Has = ({ actions }) => actions.length > 0;
const hasRun: Has = ({ actions }) => actions.some(({ startedAt }) => startedAt !== null);

/** What of a record may be none: then “nobody”, “nothing” is its answer. What stands not here is always something. */
const has: Readonly<Partial<Record<Subject, Has>>> = {
  approval: hasActions,
  proposed: hasActions,
  blast: hasActions,
  run: hasRun,
  mine: hasRun,
  undoable: hasRun,
  denial: (record) =>
    record.actions.some(({ state }) => ['denied', 'expired', 'void'].includes(state)) ||
    overriddenOf(record).length > 0,
  runbook: (record) => runbookIdOf(record) !== null,
  undone: (record) => undosOf(record).length > 0,
  asked: ({ actions }) => actions.some(({ state, auditOnly }) => state === 'proposed' && !auditOnly),
  expiry: ({ actions }) => actions.some(({ state }) => state === 'proposed' || state === 'expired'),
  changes: ({ events }) => {
    const found = toldChanges(events)?.found;
    return found !== undefined && (found.answer === 'changed' || found.afterwards.length > 0);
  },
  usual: (record) => comparedLast(record) !== undefined,
  called: ({ events }) => {
    const { acknowledged, called, waitsUntil } = callStateOf(events);
    return [acknowledged, called, waitsUntil].some((each) => each !== null && each !== undefined);
  },
  rung: ({ events }) => events.some(({ type }) => type === 'person.called'),
  stopped: ({ events }) =>
    events.some(({ type }) => type === 'incident.stopped' || type === 'incident.resumed'),
  cause: hasDiagnosis,
  doubt: hasDiagnosis,
  impact: (record) => Boolean(lastDiagnosis(record)?.diagnosis.blastRadius),
  evidence: (record) => (lastDiagnosis(record)?.diagnosis.evidence ?? []).length > 0,
  ruledOut: (record) =>
    ruledOutOf(record, []) !== null ||
    (lastDiagnosis(record)?.diagnosis.hypotheses ?? []).some(({ end }) => end === 'open'),
  open: (_, { open }) => open.length > 0,
  next: ({ incident, actions }) =>
    actions.some(({ state, auditOnly }) => state === 'proposed' && !auditOnly) ||
    (incident.state !== 'resolved' && incident.state !== 'ignored'),
};

/** Whether there is any of what is asked for; false: that there is none stands on record. */
export const isAny = (subject: Subject, record: IncidentRecord, around: Around): boolean =>
  has[subject]?.(record, around) ?? true;
