import { isLastingFix } from '../../core/action.ts';
import { clipLine } from '../../core/clip.ts';
import type { IncidentEvent } from '../../core/event.ts';
import { groupTitle } from '../../core/group.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { isMerged, lastMerge } from '../../core/merged-with.ts';
import { formatFixed, hasFallen, undoneRepair } from '../../core/undone.ts';
import {
  type Around,
  commandsOf,
  ended,
  type Line,
  lasted,
  lower,
  people,
  SENTENCE,
} from './answer-lines.ts';
import { callOf, closingOf } from './answer-people.ts';
import { formatLastingFix } from './format-lasting-fix.ts';
import { formatStanding } from './format-state.ts';

export function overOf(record: IncidentRecord): readonly Line[] {
  const { incident } = record;
  if (incident.state === 'resolved' || incident.state === 'ignored')
    return [...fallenOf(record), endOf(record), ...confirmation(record), ...lastingFixOf(record)];
  const source: Line[] = incident.sourceResolvedAt
    ? [['The alert itself ended at ', { at: incident.sourceResolvedAt }, '.']]
    : [];
  return [
    ...fallenOf(record),
    [`It is not over: ${lower(formatStanding(incident))}.`],
    ...source,
    ...lastLook(record),
  ];
}

/** Whether what was done helped, and how it stands. */
export function helpedOf(record: IncidentRecord): readonly Line[] {
  const last = record.events.findLast((event) => event.type === 'verification.concluded');
  const not: Line[] =
    last?.type === 'verification.concluded' && last.verdict === 'not_fixed'
      ? [[`It did not help: ${ended(clipLine(lower(last.reason), SENTENCE))}`]]
      : [];
  const hasRun = record.actions.some(({ startedAt }) => startedAt !== null);
  return [...not, ...(hasRun ? [] : [['Nothing ran.'] as Line]), ...overOf(record)];
}

/** That what was done for it stands no more, or not for certain; that it had fixed it only where our own check has seen that. */
function fallenOf(record: IncidentRecord): readonly Line[] {
  const undone = undoneRepair(record);
  if (undone === null || !hasFallen(undone)) return [];
  const { kind, anyDone, says, by, at } = undone;
  const who: Line = [
    ...(by === null ? ['a person'] : people([by])),
    ...(at === null ? ['.'] : [' at ', { at }, '.']),
  ];
  if (record.incident.resolvedBy !== 'confirmed') return [[`What was done: ${lower(says)} `, ...who]];
  const fixed = anyDone
    ? `${formatFixed(undone)}${kind === 'all' ? ' by' : `: ${lower(says)}`}`
    : `fixed; ${lower(says)}`;
  return [[`It was ${fixed} `, ...who]];
}

/** How bad it is, and who said so where a person did. */
export function severityOf({ incident, events }: IncidentRecord): Line {
  const changed = events.findLast((event) => event.type === 'severity.changed');
  return changed?.type === 'severity.changed'
    ? [`Severity ${incident.severity}, set by `, ...people([changed.by]), ' at ', { at: changed.at }, '.']
    : [`Severity ${incident.severity}.`];
}

/** What was asked for after it was fixed, and how that stands. */
function lastingFixOf(record: IncidentRecord): readonly Line[] {
  const said = formatLastingFix(record);
  return said === null ? [] : [[ended(clipLine(said, SENTENCE))]];
}

/** What our own check said when somebody else called it over. */
function confirmation({ incident, events }: IncidentRecord): readonly Line[] {
  if (incident.state !== 'resolved' || incident.resolvedBy === 'confirmed') return [];
  const summary = events.findLast((event) => event.type === 'incident.summary');
  return summary ? [[ended(clipLine(summary.text, SENTENCE))]] : [];
}

/** The last change of state, and its reason. */
export function endOf({ incident, events }: Pick<IncidentRecord, 'incident' | 'events'>): Line {
  const merge = isMerged(incident) ? lastMerge(events) : null;
  if (merge !== null) return [`${formatStanding(incident)} since `, { at: merge.at }, '.'];
  const change = events.findLast((event) => event.type === 'state.changed' && event.to === incident.state);
  if (incident.state === 'resolved' && incident.resolvedBy === 'person')
    return closingOf({ incident, events });
  const head = formatStanding(incident);
  if (change?.type !== 'state.changed') return [`${head}.`];
  return [
    `${head} since `,
    { at: change.at },
    change.reason === '' ? '.' : `: ${ended(clipLine(change.reason, SENTENCE))}`,
  ];
}

function lastLook({ events }: IncidentRecord): readonly Line[] {
  const look = events.findLast((event) => event.type === 'verification.checked');
  return look
    ? [['Last look at ', { at: look.at }, `: ${ended(clipLine(look.lines.join('; '), SENTENCE))}`]]
    : [];
}

export function nowOf(record: IncidentRecord): readonly Line[] {
  const { incident } = record;
  const next: Line[] = incident.nextStep
    ? [[`Next: ${ended(clipLine(incident.nextStep, SENTENCE))}`, ...askingAgain(incident)]]
    : [];
  return [
    ...fallenOf(record),
    endOf(record),
    ...callOf(record),
    ...lastingFixOf(record),
    ...next,
    ...lastLook(record),
  ];
}

export function nextOf(record: IncidentRecord, around: Around): Line {
  const { incident } = record;
  const waits = record.actions.find(({ state, auditOnly }) => state === 'proposed' && !auditOnly);
  if (waits)
    return [
      isLastingFix(waits) ? 'To keep it from coming back, a decision on ' : 'A decision on ',
      ...commandsOf(record, waits),
      `${around.approvers === null ? '' : ` by ${around.approvers}`}, until `,
      { at: waits.expiresAt },
      '.',
    ];
  if (incident.state === 'resolved' || incident.state === 'ignored') return ['Nothing: it is over.'];
  return [
    incident.nextStep
      ? ended(clipLine(incident.nextStep, SENTENCE))
      : `${formatStanding(incident)}; nothing more is planned yet.`,
    ...askingAgain(incident),
  ];
}

/** When Sentry comes back by itself, because a limit kept the fix back. */
const askingAgain = ({ asksAgainAt }: IncidentRecord['incident']): Line =>
  asksAgainAt === null ? [] : [' It may be done again at ', { at: asksAgainAt }, '; I’ll ask again then.'];

export function timeOf({ incident, events }: IncidentRecord, { now }: Around): Line {
  const opened = events.find((event) => event.type === 'incident.opened');
  const by = opened ? ` (by ${opened.source})` : '';
  return incident.endedAt
    ? [
        'Opened at ',
        { at: incident.openedAt },
        `${by}, over at `,
        { at: incident.endedAt },
        `: ${lasted(incident.openedAt, incident.endedAt)}.`,
      ]
    : [
        'Opened at ',
        { at: incident.openedAt },
        `${by}, not over yet: ${lasted(incident.openedAt, now.toISOString())} so far.`,
      ];
}

export function countOf({ incident, events }: IncidentRecord): readonly Line[] {
  const asked = events.filter((event) => event.type === 'memory.recalled');
  const recalled = asked.findLast(({ incidents }) => incidents.length > 0);
  const times =
    incident.occurrences === 1 ? 'The alert fired once' : `The alert fired ${incident.occurrences} times`;
  return [
    [`${times} in this incident.`],
    recalled
      ? [
          `Like it before: ${recalled.incidents
            .slice(0, 3)
            .map((each) => `${each.incidentId} (${clipLine(each.title, 60)})`)
            .join(', ')}.`,
        ]
      : [notRemembered(asked.at(-1))],
  ];
}

/** Only a memory that was asked, answered and kept nothing back can know of none. */
function notRemembered(asked: Extract<IncidentEvent, { type: 'memory.recalled' }> | undefined): string {
  if (asked === undefined) return 'Whether there was one like it before has not been looked up.';
  if (asked.missing !== null)
    return `Whether there was one like it before is not known: ${ended(asked.missing)}`;
  return asked.heldBack === undefined
    ? 'I remember no incident like it.'
    : 'I remember no incident like it that I may tell of here.';
}

/** Of this incident only what waits for a decision though it is over. */
export function openHere(record: IncidentRecord, around: Around): readonly Line[] {
  const waits = record.actions.some(
    (action) => isLastingFix(action) && action.state === 'proposed' && !action.auditOnly,
  );
  return [openOf(around), ...(waits ? lastingFixOf(record) : [])];
}

export function openOf({ open }: Around): Line {
  if (open.length === 0) return ['Nothing is open that I may tell of here.'];
  const shown = open
    .slice(0, 5)
    .map((each) => `${each.id} ${clipLine(groupTitle(each), 60)} (${lower(formatStanding(each))})`);
  return [
    `Open: ${shown.join(', ')}${open.length > shown.length ? ` and ${open.length - shown.length} more` : ''}.`,
  ];
}
