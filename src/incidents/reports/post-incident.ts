import { type Action, isLastingFix, neverRan, stepsOf } from '../../core/action.ts';
import { count } from '../../core/count.ts';
import { describePlan } from '../../core/describe-act.ts';
import { byQuote, type Diagnosis, describeVerdict } from '../../core/diagnosis.ts';
import type { IncidentEvent } from '../../core/event.ts';
import { groupMembers, groupTitle } from '../../core/group.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { isSlackUser } from '../../core/is-slack-user.ts';
import { CLAUDES_WORDS, isModels } from '../../core/model-words.ts';
import { overriddenBy } from '../../core/overridden.ts';
import { stepResult, tellingStep } from '../../core/plan-progress.ts';
import { toldChanges } from '../../core/told-changes.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { formatFixed, hasFallen, undoneOf, undoneRepair } from '../../core/undone.ts';
import { ended, lasted, type Piece } from '../questions/answer-lines.ts';
import { lastDiagnosis, plainTool } from '../questions/format-cause.ts';
import { changeLines } from '../questions/format-changes.ts';
import { formatLastingFix } from '../questions/format-lasting-fix.ts';
import { formatStanding } from '../questions/format-state.ts';
import { timelineOf } from '../questions/timeline.ts';
import { told } from './report-lines.ts';

/** A post-incident report: its title, and its parts in the order they are read. */
export interface Report {
  readonly title: string;
  readonly parts: readonly ReportPart[];
}

/** A line of it; whoever shows it knows how people, times and links are told there. */
export type ReportLine = readonly (Piece | { readonly url: string; readonly text: string })[];

export interface ReportPart {
  readonly heading: string;
  /** Empty where the record holds nothing of the kind: then that is said. */
  readonly lines: readonly ReportLine[];
  readonly whenEmpty: string;
}

export interface ReportOptions {
  readonly now: Date;
  /** The incident's thread; null: it has none. */
  readonly threadUrl: string | null;
}

/** Characters of somebody's sentence, and so many lines of the timeline. */
const SENTENCE = 400;
const TIMELINE = 400;

/** What happened, why, what was done and by whose word, what it cost people, and what is left to do: from the record alone. */
export function postIncidentReport(record: IncidentRecord, options: ReportOptions): Report {
  const { incident } = record;
  const part = (
    heading: string,
    lines: readonly ReportLine[],
    whenEmpty = 'Nothing on record.',
  ): ReportPart => ({
    heading,
    lines,
    whenEmpty,
  });
  return {
    title: `${incident.id}: ${told(groupTitle(incident), 150)}`,
    parts: [
      part('Summary', summaryOf(record)),
      part('Impact', impactOf(record)),
      part('Detection and response', timesOf(record)),
      part('Cause', causeOf(record), 'No cause was found.'),
      part('What changed', changesOf(record), 'Nobody looked.'),
      part('What was done', doneOf(record), 'Nothing was changed.'),
      part('What did not work', failedOf(record), 'Nothing on record failed.'),
      part('Follow-ups', followUpsOf(record), 'None on record.'),
      part('Timeline', timelineLines(record)),
      part('About this report', [
        [
          'Made from Sentry’s record at ',
          { at: options.now.toISOString() },
          '. What is written into it later does not change the record.',
        ],
        ...(options.threadUrl === null ? [] : [[{ url: options.threadUrl, text: 'The incident’s thread' }]]),
      ]),
    ],
  };
}

const find = <T extends IncidentEvent['type']>(events: readonly IncidentEvent[], type: T) =>
  events.find((event): event is Extract<IncidentEvent, { type: T }> => event.type === type);

function summaryOf(record: IncidentRecord): readonly ReportLine[] {
  const { incident, events } = record;
  const last = events.findLast((event) => event.type === 'incident.summary');
  const closed = events.findLast((event) => event.type === 'incident.closed');
  const isOver = incident.endedAt !== null;
  return [
    [`Severity ${incident.severity}, on ${told(incident.target ?? 'no known system', 80)}.`],
    [
      'Opened at ',
      { at: incident.openedAt },
      ...(incident.endedAt === null
        ? [`. It is not over: ${formatStanding(incident)}.`]
        : [', over at ', { at: incident.endedAt }, `: ${lasted(incident.openedAt, incident.endedAt)}.`]),
    ],
    ...(isOver ? [onWhoseWord(record, closed?.type === 'incident.closed' ? closed : undefined)] : []),
    ...(last?.type === 'incident.summary' ? [[ended(told(last.text, SENTENCE))]] : []),
    ...(incident.detailsDeletedAt === null
      ? []
      : [['What was found and asked was deleted for its age at ', { at: incident.detailsDeletedAt }, '.']]),
  ];
}

function onWhoseWord(
  record: IncidentRecord,
  closed: Extract<IncidentEvent, { type: 'incident.closed' }> | undefined,
): ReportLine {
  const { incident } = record;
  const undone = undoneRepair(record);
  if (incident.resolvedBy === 'confirmed')
    return [
      `Sentry’s own check saw the problem gone.${hasFallen(undone) ? ` It was ${formatFixed(undone)}: see “What was done”.` : ''}`,
    ];
  if (incident.resolvedBy === 'source') return ['The source of the alert says it is over.'];
  if (incident.resolvedBy !== 'person' || closed === undefined) return ['Nobody said why it is over.'];
  const because = closed.reason === '' ? '.' : `: “${told(closed.reason, SENTENCE)}”`;
  return [isSlackUser(closed.by) ? { person: closed.by } : closed.by, ` closed it${because}`];
}

function impactOf(record: IncidentRecord): readonly ReportLine[] {
  const { incident, events } = record;
  const from = firedAt(record);
  const diagnosis = lastDiagnosis(record)?.diagnosis;
  const cameBack = events.filter(
    (event) => event.type === 'state.changed' && event.from === 'resolved',
  ).length;
  const members = groupMembers(record);
  return [
    [
      'From the first firing at ',
      { at: from },
      ...(incident.endedAt === null
        ? [', and not over yet.']
        : [' to the end at ', { at: incident.endedAt }, `: ${lasted(from, incident.endedAt)}.`]),
    ],
    [
      `The alert fired ${count(incident.occurrences, 'time')}${incident.members > 1 ? `, ${incident.members} alerts in its group` : ''}.`,
    ],
    ...(members.length > 0
      ? [
          [
            `Its alerts: ${told(members.slice(0, 20).join(' · '), 800)}${members.length > 20 ? ` · and ${members.length - 20} more` : ''}`,
          ],
        ]
      : []),
    ...(cameBack > 0 ? [[`It came back ${count(cameBack, 'time')} after it was over.`]] : []),
    ...(diagnosis?.blastRadius
      ? [[`Affected, by the diagnosis: ${ended(told(diagnosis.blastRadius, SENTENCE))}`]]
      : []),
  ];
}

/** By the source's own clock where it says when, and never after Sentry knew of it. */
function firedAt({ incident, alerts }: IncidentRecord): string {
  const begun = alerts.flatMap(({ status, startsAt }) => {
    const at = Date.parse(startsAt);
    return status === 'firing' && at <= Date.parse(incident.openedAt) ? [at] : [];
  });
  return begun.length === 0 ? incident.openedAt : new Date(Math.min(...begun)).toISOString();
}

/** Each from when it was opened; of a first opening, since what came back has a story of its own in the timeline. */
function timesOf(record: IncidentRecord): readonly ReportLine[] {
  const { incident, events } = record;
  const { openedAt } = incident;
  const fired = firedAt(record);
  const taken = find(events, 'incident.acknowledged');
  const cause = events.find(
    (event) => event.type === 'diagnosis.concluded' && event.diagnosis.verdict === 'cause_found',
  );
  const approved = find(events, 'action.approved');
  const steps: readonly (readonly [what: string, at: string | undefined])[] = [
    ['Somebody was called', find(events, 'person.called')?.at],
    [taken?.how === 'acted' ? 'Somebody was at it' : 'Somebody had it', taken?.at],
    ['A cause was found', cause?.at],
    ['A fix was proposed', find(events, 'action.proposed')?.at],
    [approved?.by === 'policy' ? 'A rule of the policy approved it' : 'A person approved it', approved?.at],
    ['The fix began to run', find(events, 'action.started')?.at],
    ['It was over', incident.endedAt ?? undefined],
  ];
  return [
    fired === openedAt
      ? ['When it began before Sentry knew of it is not on record.']
      : [`Known to Sentry ${lasted(fired, openedAt)} after it first fired.`],
    ...steps.flatMap(([what, at]): readonly ReportLine[] =>
      at === undefined ? [] : [[`${what} after ${lasted(openedAt, at)}, at `, { at }, '.']],
    ),
  ];
}

function causeOf(record: IncidentRecord): readonly ReportLine[] {
  const last = lastDiagnosis(record);
  if (last === undefined) return [];
  const { diagnosis } = last;
  const isModel = isModels(diagnosis, record.events) && diagnosis.disagreement === undefined;
  const sure =
    diagnosis.verdict === 'cause_found' && diagnosis.unexplained === undefined
      ? `, ${Math.round(diagnosis.confidence * 100)} % sure`
      : '';
  return [
    [
      `${describeVerdict(diagnosis)}${sure}${isModel ? ` (${CLAUDES_WORDS})` : ''}: ${ended(told(diagnosis.rootCause, 800))}`,
    ],
    ...(diagnosis.chain ?? [])
      .slice(0, 10)
      .map((link): ReportLine => [`How it came about: ${told(link, SENTENCE)}`]),
    ...byQuote(diagnosis.evidence).map((item): ReportLine => {
      const quote = item.quote === null ? '' : ` “${told(item.quote, 200)}”`;
      return [`Evidence: ${told(item.claim, SENTENCE)}${quote}`, ...readsOf(record, item.toolCallIds)];
    }),
    ...(diagnosis.hypotheses ?? [])
      .filter(({ cause, end }) => end === 'ruled_out' && cause !== diagnosis.rootCause)
      .map(({ cause }): ReportLine => [`Ruled out: ${told(cause, SENTENCE)}`]),
    ...(diagnosis.unexplained === undefined ? [] : [[`Not known: ${told(diagnosis.unexplained, SENTENCE)}`]]),
    ...diagnosis.unknown.map((text): ReportLine => [`Not known: ${told(text, SENTENCE)}`]),
  ];
}

/** What was changed around it, each with the part that the diagnosis gives it, and who was asked. */
function changesOf({ events }: IncidentRecord): readonly ReportLine[] {
  const changes = toldChanges(events);
  return changes === null ? [] : changeLines(changes);
}

/** Which reads show it: what was read and when, and the hash of exactly what that said. */
function readsOf({ toolCalls }: IncidentRecord, ids: readonly string[]): ReportLine {
  const calls = ids.flatMap((id) => toolCalls.find((call) => call.id === id) ?? []);
  return calls.flatMap(
    (call): ReportLine => [
      ` (${nameOf(call)}, read at `,
      { at: call.finishedAt },
      ', SHA-256 ',
      { code: call.outputSha256.slice(0, 16) },
      ')',
    ],
  );
}

const nameOf = ({ tool, target }: ToolCall): string =>
  `${plainTool(tool)}${target === null ? '' : ` on ${told(target, 60)}`}`;

/** Plans by their first step, in the order they were asked for. */
const plansOf = ({ actions }: IncidentRecord): readonly Action[] => actions.filter(({ step }) => step === 1);

const hasRun = (steps: readonly Action[]): boolean =>
  steps.some((step) => step.startedAt !== null && !neverRan(step));

function doneOf(record: IncidentRecord): readonly ReportLine[] {
  return plansOf(record).flatMap((first): readonly ReportLine[] => {
    const steps = stepsOf(record.actions, first);
    if (!hasRun(steps)) return [];
    const purpose =
      first.undoes !== null
        ? 'To take it back: '
        : isLastingFix(first)
          ? 'To keep it from coming back: '
          : '';
    return [
      [`${purpose}${told(describePlan(steps), 200)}, on ${told(first.target, 60)}, `, ...approval(first)],
      ...overridden(record, steps),
      ...steps.flatMap((step): readonly ReportLine[] => [
        [
          `${steps.length > 1 ? `Step ${step.step}, ` : 'It '}${stepResult(step, steps).says}`,
          ...(step.startedAt === null ? [] : [' at ', { at: step.startedAt }]),
          ': ',
          { code: told(step.command, 500) },
          ...(step.outcome === null ? [] : [` → ${told(step.outcome, SENTENCE)}`]),
        ],
      ]),
      ...undoneLine(record, steps),
    ];
  });
}

function undoneLine({ actions }: IncidentRecord, steps: readonly Action[]): readonly ReportLine[] {
  const undone = undoneOf(actions, steps);
  if (undone === null) return [];
  return [
    [
      `${undone.says} `,
      undone.by === null ? 'a person' : { person: undone.by },
      ...(undone.at === null ? ['.'] : [' at ', { at: undone.at }, '.']),
    ],
  ];
}

/** Who had said no to what was done; what they said elsewhere is for those who may read there. */
const overridden = (record: IncidentRecord, steps: readonly Action[]): readonly ReportLine[] =>
  overriddenBy(record, steps).map(({ saidBy, saidAt, reason, incidentId, takenBackBy }) => [
    { person: saidBy },
    ' had said no at ',
    { at: saidAt },
    reason !== '' && incidentId === record.incident.id ? `: “${told(reason, 200)}”` : '',
    ...(takenBackBy === null ? ['.'] : ['. ', { person: takenBackBy }, ' took that back.']),
  ]);

function approval({ approvedBy, decidedBy, decidedAt }: Action): ReportLine {
  const by = [...new Set([...approvedBy, ...(decidedBy === null ? [] : [decidedBy])])];
  if (by.length === 0) return ['and who approved it is not on record.'];
  return [
    'approved by ',
    ...by.flatMap(
      (one, at): ReportLine => [
        ...(at > 0 ? [' and '] : []),
        one === 'policy' ? 'a rule of the policy' : { person: one },
      ],
    ),
    ...(decidedAt === null ? ['.'] : [' at ', { at: decidedAt }, '.']),
  ];
}

function failedOf(record: IncidentRecord): readonly ReportLine[] {
  const { events } = record;
  const plans = plansOf(record).flatMap((first): readonly ReportLine[] => {
    const steps = stepsOf(record.actions, first);
    const step = tellingStep(steps) ?? first;
    if (!['failed', 'unknown', 'void'].includes(step.state)) return [];
    return [
      [
        `${told(describePlan(steps), 200)}: ${stepResult(step, steps).says}${step.outcome === null ? '' : `: ${told(step.outcome, SENTENCE)}`}`,
      ],
    ];
  });
  const checks = events.flatMap((event): readonly ReportLine[] =>
    event.type === 'verification.concluded' && event.verdict !== 'fixed' && event.verdict !== 'done'
      ? [
          [
            `${event.verdict === 'not_fixed' ? 'It did not help' : 'Whether it helped could not be told'}: ${ended(told(event.reason, SENTENCE))}`,
          ],
        ]
      : [],
  );
  const fell = events.flatMap((event): readonly ReportLine[] =>
    event.type === 'investigator.fallback'
      ? [[`The model could not go on, and the runbooks took over: ${ended(told(event.reason, SENTENCE))}`]]
      : event.type === 'page.failed'
        ? [[`A page by ${told(event.pager, 60)} did not arrive: ${ended(told(event.reason, SENTENCE))}`]]
        : [],
  );
  // What the surgeon calls is asked for, not read.
  const unread = record.toolCalls.filter(
    ({ state, role }) => role !== 'surgeon' && (state === 'failed' || state === 'refused'),
  ).length;
  return [
    ...plans,
    ...checks,
    ...fell,
    ...(unread > 0
      ? [
          [
            `${count(unread, 'read')} failed or was refused.`.replace(
              'reads failed or was',
              'reads failed or were',
            ),
          ],
        ]
      : []),
  ];
}

/** What nobody has done yet, as far as the record knows. */
function followUpsOf(record: IncidentRecord): readonly ReportLine[] {
  const diagnosis = lastDiagnosis(record)?.diagnosis;
  const lasting = formatLastingFix(record);
  const done = new Set(
    record.actions.flatMap(({ state, command }) => (state === 'succeeded' ? [command] : [])),
  );
  const left = plansOf(record).flatMap((first): readonly ReportLine[] => {
    // Asked for again, it was done after all.
    if (first.state !== 'succeeded' && done.has(first.command)) return [];
    const act = told(describePlan(stepsOf(record.actions, first)), 200);
    const reason = first.decisionReason ? `: “${told(first.decisionReason, 200)}”` : '';
    if (first.state === 'denied' && first.decidedBy !== null)
      return [
        [`Decide whether it is still wanted: ${act}. `, { person: first.decidedBy }, ` said no${reason}`],
      ];
    if (first.state === 'expired')
      return [[`Decide whether it is still wanted: ${act}. Nobody decided in time.`]];
    if (first.state === 'proposed' && !first.auditOnly)
      return [[`Decide: ${act}, until `, { at: first.expiresAt }, '.']];
    if (first.state === 'unknown') return [[`Look whether it ran: ${act}.`]];
    return [];
  });
  return [
    ...(lasting === null ? preventionsOf(diagnosis) : [[ended(told(lasting, SENTENCE))]]),
    ...left,
    ...(diagnosis?.unread ?? []).map(({ toolCallId, way, reason }): ReportLine => {
      const call = record.toolCalls.find(({ id }) => id === toolCallId);
      const what = call === undefined ? 'a read' : nameOf(call);
      return [`${way === 'grant' ? 'Grant' : 'Read again'}: ${what}: ${ended(told(reason, SENTENCE))}`];
    }),
  ];
}

const preventionsOf = (diagnosis: Diagnosis | undefined): readonly ReportLine[] =>
  (diagnosis?.prevent ?? []).map(
    ({ why }): ReportLine => [`To keep it from coming back: ${ended(told(why, SENTENCE))}`],
  );

function timelineLines(record: IncidentRecord): readonly ReportLine[] {
  const entries = timelineOf(record);
  const line = ({ at, text }: { readonly at: string; readonly text: string }): ReportLine => [
    { at },
    ' ',
    ...inPieces(told(text, SENTENCE)),
  ];
  if (entries.length <= TIMELINE) return entries.map(line);
  const half = TIMELINE / 2;
  return [
    ...entries.slice(0, half).map(line),
    [`… ${count(entries.length - TIMELINE, 'entry').replace('entrys', 'entries')} in between: see why …`],
    ...entries.slice(-half).map(line),
  ];
}

/** People and moments as the lines of `why` write them. */
const PIECE = /<@([UW][A-Z0-9]+)>|\b(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)/;

function inPieces(text: string): ReportLine {
  const found = PIECE.exec(text);
  if (found === null) return text === '' ? [] : [text];
  const [whole, person, at = ''] = found;
  return [
    ...inPieces(text.slice(0, found.index)),
    person === undefined ? { at } : { person },
    ...inPieces(text.slice(found.index + whole.length)),
  ];
}
