import { type Action, stepsOf } from '../../domain/action.ts';
import type { Incident } from '../../domain/incident.ts';
import type { IncidentRecord } from '../../domain/incident-record.ts';
import { CLAUDES_WORDS, isModels, isWhyInModelsWords } from '../../domain/model-words.ts';
import { stepResult } from '../../domain/plan-progress.ts';
import { stateInWords } from '../words.ts';
import { readQuestion, type Subject, wordsOf } from './read-question.ts';

/** A piece of an answer; whoever shows it knows how people and times are told there. */
export type Piece =
  | string
  | { readonly person: string }
  | { readonly at: string }
  | { readonly code: string };
export type Line = readonly Piece[];

/** What an answer may need that the incident's own record does not hold. */
export interface Around {
  /** Who may approve what waits, in words; null: nothing waits. */
  readonly approvers: string | null;
  /** Open incidents that everybody who reads the answer may see. */
  readonly open: readonly Pick<Incident, 'id' | 'title' | 'state'>[];
  readonly now: Date;
  /** Somebody else can be asked: “nothing is known” is then no answer. */
  readonly elsewhere: boolean;
}

const MAX_LINES = 3;
const COMMAND = 120;
const SENTENCE = 280;

/** The answer to a question that the record alone answers, in three lines at most; null: it does not. */
export function answerFromRecord(
  record: IncidentRecord,
  text: string,
  around: Around,
): readonly Line[] | null {
  const question = readQuestion(text, ownWords(record));
  if (question === null) return null;
  const { subjects: asked, why } = question;
  const unknown =
    !record.events.some(({ type }) => type === 'diagnosis.concluded') && record.actions.length === 0;
  if (around.elsewhere && unknown && (why || asked.includes('cause') || asked.includes('evidence')))
    return null;
  const subjects = question.subjects.slice(0, MAX_LINES);
  const each = Math.max(1, Math.floor(MAX_LINES / subjects.length));
  return subjects
    .flatMap((subject) => linesOf(subject, question.why, record, around).slice(0, each))
    .slice(0, MAX_LINES);
}

/** How it stands, in a line or two: for who only mentions the bot. */
export function stateLines(record: IncidentRecord): readonly Line[] {
  return nowOf(record);
}

/** Whether a text asks for the list of what is open, whatever incident it is said about. */
export function asksForOpen(text: string): boolean {
  return readQuestion(text, new Set())?.subjects[0] === 'open';
}

function linesOf(subject: Subject, why: boolean, record: IncidentRecord, around: Around): readonly Line[] {
  switch (subject) {
    case 'approval':
      return why ? whyRun(record) : approvalOf(record, around);
    case 'denial':
      return denialOf(record);
    case 'asked':
      return askedOf(record, around);
    case 'run':
      return why ? whyRun(record) : runOf(record);
    case 'cost':
      return [costOf(record)];
    case 'over':
      return why ? [endOf(record)] : overOf(record);
    case 'end':
      return [endOf(record)];
    case 'now':
      return nowOf(record);
    case 'open':
      return [openOf(around)];
    case 'next':
      return [nextOf(record, around)];
    case 'time':
      return [timeOf(record, around)];
    case 'count':
      return countOf(record);
    case 'cause':
      return [causeOf(record)];
    case 'target':
      return [[`It is about ${record.incident.target ?? 'no target that I am configured for'}.`]];
    case 'evidence':
      return evidenceOf(record);
    case 'stopped':
      return [stoppedOf(record)];
    default: {
      const never: never = subject;
      return never;
    }
  }
}

/** What waits for people first, then what they decided, the newest first. */
const newestFirst = ({ actions }: IncidentRecord): readonly Action[] =>
  actions
    .filter(({ step }) => step === 1)
    .toSorted(
      (a, b) =>
        Number(b.state === 'proposed') - Number(a.state === 'proposed') ||
        b.proposedAt.localeCompare(a.proposedAt),
    );

/** What it is, exactly: its command, or those of all steps of its plan. */
function commandsOf({ actions }: IncidentRecord, action: Action): Line {
  const steps = stepsOf(actions, action);
  if (steps.length < 2) return [{ code: clip(action.command, COMMAND) }, ` on ${action.target}`];
  return [
    `${steps.length} steps on ${action.target}: `,
    ...steps.flatMap(
      (step): Line => [
        `${step.step > 1 ? ', ' : ''}${step.step} `,
        { code: clip(step.command, COMMAND / 2) },
      ],
    ),
  ];
}

function approvalOf(record: IncidentRecord, around: Around): readonly Line[] {
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

function denialOf(record: IncidentRecord): readonly Line[] {
  const denied = newestFirst(record).filter(({ state }) => ['denied', 'expired', 'void'].includes(state));
  if (denied.length === 0) return [['Nothing was denied.']];
  return denied.map((action) => {
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
      action.decisionReason ? `: “${clip(action.decisionReason, SENTENCE)}”` : ', without a reason',
      ...what,
      '.',
    ];
  });
}

function askedOf(record: IncidentRecord, around: Around): readonly Line[] {
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
    ];
  const decided = approvalOf(record, around);
  return [['Nobody is being asked now.'], ...(record.actions.length === 0 ? [] : decided)];
}

function runOf(record: IncidentRecord): readonly Line[] {
  const ran = newestFirst(record).filter(({ startedAt }) => startedAt !== null);
  const waits = record.actions.find(({ state, auditOnly }) => state === 'proposed' && !auditOnly);
  const waiting: Line[] = waits ? [['Waiting for approval: ', ...commandsOf(record, waits), '.']] : [];
  if (ran.length === 0) return [['Nothing ran; nothing was changed.'], ...waiting];
  return [
    ...ran.map((action): Line => {
      const at: Line = [', at ', { at: action.startedAt ?? action.proposedAt }, ': '];
      const steps = stepsOf(record.actions, action);
      return steps.length < 2
        ? [...commandsOf(record, action), ...at, resultOf(action)]
        : [`${steps.length} steps on ${action.target}`, ...at, ...resultsOf(steps), '.'];
    }),
    ...waiting,
  ];
}

/** Each step and what became of it, in one line. */
function resultsOf(steps: readonly Action[]): Line {
  return steps.flatMap((step): Line => {
    const { mark, says } = stepResult(step, steps);
    const said = step.outcome && step.state === 'failed' ? ` (${clip(step.outcome, COMMAND / 2)})` : '';
    const head = `${step.step > 1 ? '; ' : ''}${mark} ${step.step} `;
    return [head, { code: clip(step.command, COMMAND / 2) }, ` ${says}${said}`];
  });
}

function resultOf(action: Action): string {
  const said = action.outcome ? ` (${clip(action.outcome, 140)})` : '';
  if (action.state === 'succeeded') return `it ran${said}.`;
  if (action.state === 'started') return 'it is running.';
  return action.state === 'failed' ? `it failed${said}.` : `nobody knows whether it took effect${said}.`;
}

function whyRun(record: IncidentRecord): readonly Line[] {
  const [action] = newestFirst(record);
  if (!action) return [['Nothing ran; nothing was changed.'], causeOf(record)];
  const did = action.startedAt === null ? 'It has not run. It was proposed because: ' : 'Because: ';
  return [
    [
      did,
      action.why === ''
        ? 'no reason is on record.'
        : `${isWhyInModelsWords(action, record.events) ? said : ''}${ended(clip(action.why, SENTENCE))}`,
    ],
    ...approvalOf(record, { approvers: null, open: [], now: new Date(0), elsewhere: false }).slice(0, 1),
  ];
}

function costOf({ incident, toolCalls }: IncidentRecord): Line {
  const calls = `${toolCalls.length} ${toolCalls.length === 1 ? 'call' : 'calls'} of tools`;
  return [
    incident.costUsd > 0
      ? `$${incident.costUsd.toFixed(4)} for the model, ${calls}.`
      : `Nothing: no model was used, ${calls}.`,
  ];
}

function overOf(record: IncidentRecord): readonly Line[] {
  const { incident } = record;
  if (incident.state === 'resolved' || incident.state === 'ignored')
    return [endOf(record), ...confirmation(record)];
  const source: Line[] = incident.sourceResolvedAt
    ? [['The alert itself ended at ', { at: incident.sourceResolvedAt }, '.']]
    : [];
  return [[`No: ${lower(stateInWords(incident.state))}.`], ...source, ...lastLook(record)];
}

/** What our own check said when somebody else called it over. */
function confirmation({ incident, events }: IncidentRecord): readonly Line[] {
  if (incident.state !== 'resolved' || incident.resolvedBy === 'confirmed') return [];
  const summary = events.findLast((event) => event.type === 'incident.summary');
  return summary?.type === 'incident.summary' ? [[ended(clip(summary.text, SENTENCE))]] : [];
}

/** The last change of state, and its reason. */
function endOf({ incident, events }: IncidentRecord): Line {
  const change = events.findLast((event) => event.type === 'state.changed' && event.to === incident.state);
  const head = stateInWords(incident.state);
  if (change?.type !== 'state.changed') return [`${head}.`];
  return [
    `${head} since `,
    { at: change.at },
    change.reason === '' ? '.' : `: ${ended(clip(change.reason, SENTENCE))}`,
  ];
}

function lastLook({ events }: IncidentRecord): readonly Line[] {
  const look = events.findLast((event) => event.type === 'verification.checked');
  return look?.type === 'verification.checked'
    ? [['Last look at ', { at: look.at }, `: ${ended(clip(look.lines.join('; '), SENTENCE))}`]]
    : [];
}

function nowOf(record: IncidentRecord): readonly Line[] {
  const { incident } = record;
  const next: Line[] = incident.nextStep ? [[`Next: ${ended(clip(incident.nextStep, SENTENCE))}`]] : [];
  return [endOf(record), ...next, ...lastLook(record)];
}

function nextOf(record: IncidentRecord, around: Around): Line {
  const { incident } = record;
  const waits = record.actions.find(({ state, auditOnly }) => state === 'proposed' && !auditOnly);
  if (waits)
    return [
      `A decision on `,
      ...commandsOf(record, waits),
      `${around.approvers === null ? '' : ` by ${around.approvers}`}, until `,
      { at: waits.expiresAt },
      '.',
    ];
  if (incident.state === 'resolved' || incident.state === 'ignored') return ['Nothing: it is over.'];
  return [
    incident.nextStep
      ? ended(clip(incident.nextStep, SENTENCE))
      : `${stateInWords(incident.state)}; nothing more is planned yet.`,
  ];
}

function timeOf({ incident, events }: IncidentRecord, { now }: Around): Line {
  const opened = events.find((event) => event.type === 'incident.opened');
  const by = opened?.type === 'incident.opened' ? ` (by ${opened.source})` : '';
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

function countOf({ incident, events }: IncidentRecord): readonly Line[] {
  const recalled = events.findLast((event) => event.type === 'memory.recalled' && event.incidents.length > 0);
  const times =
    incident.occurrences === 1 ? 'The alert fired once' : `The alert fired ${incident.occurrences} times`;
  return [
    [`${times} in this incident.`],
    recalled?.type === 'memory.recalled'
      ? [
          `Like it before: ${recalled.incidents
            .slice(0, 3)
            .map((each) => `${each.incidentId} (${clip(each.title, 60)})`)
            .join(', ')}.`,
        ]
      : ['I remember no incident like it.'],
  ];
}

const said = `${CLAUDES_WORDS}: `;

function causeOf({ events, incident }: IncidentRecord): Line {
  const last = events.findLast((event) => event.type === 'diagnosis.concluded');
  if (last?.type !== 'diagnosis.concluded')
    return [`No cause is known yet: ${lower(stateInWords(incident.state))}.`];
  const { verdict, rootCause, confidence, disagreement } = last.diagnosis;
  const whose = isModels(last.diagnosis, events) && disagreement === undefined ? said : '';
  if (verdict === 'cause_found')
    return [`${whose}${ended(clip(rootCause, SENTENCE))} (${Math.round(confidence * 100)} % sure)`];
  return [
    `${whose}${verdict === 'healthy' ? 'Nothing is wrong any more' : 'The cause cannot be told'}: ${ended(clip(rootCause, SENTENCE))}`,
  ];
}

function evidenceOf(record: IncidentRecord): readonly Line[] {
  const last = record.events.findLast((event) => event.type === 'diagnosis.concluded');
  const claims = last?.type === 'diagnosis.concluded' ? last.diagnosis.evidence : [];
  if (claims.length === 0) return [['There is no evidence on record yet.']];
  return claims.map(({ claim }) => [`• ${ended(clip(claim, SENTENCE))}`]);
}

function stoppedOf({ events, incident }: IncidentRecord): Line {
  const last = events.findLast(
    (event) => event.type === 'incident.stopped' || event.type === 'incident.resumed',
  );
  if (last?.type === 'incident.stopped' && incident.state === 'stopped')
    return [
      'Stopped by ',
      ...people([last.by]),
      ' at ',
      { at: last.at },
      `: ${ended(clip(last.reason, SENTENCE))}`,
    ];
  if (last?.type === 'incident.resumed')
    return ['Not stopped: resumed by ', ...people([last.by]), ' at ', { at: last.at }, '.'];
  return ['Nobody stopped it.'];
}

function openOf({ open }: Around): Line {
  if (open.length === 0) return ['Nothing is open.'];
  const shown = open
    .slice(0, 5)
    .map((each) => `${each.id} ${clip(each.title, 60)} (${lower(stateInWords(each.state))})`);
  return [
    `Open: ${shown.join(', ')}${open.length > shown.length ? ` and ${open.length - shown.length} more` : ''}.`,
  ];
}

/** `policy` is a rule, nobody's name. */
function people(ids: readonly (string | null)[]): Line {
  return ids.flatMap(
    (id, n): Line => [
      ...(n > 0 ? [n === ids.length - 1 ? ' and ' : ', '] : []),
      id === null ? 'nobody' : id === 'policy' ? 'a rule of the policy' : { person: id },
    ],
  );
}

/** With what words the incident's target and actions may be spoken of. */
function ownWords({ incident, actions }: IncidentRecord): ReadonlySet<string> {
  const texts = [
    incident.target ?? '',
    ...actions.flatMap(({ target, tool, command, why, blastRadius, preflight }) => [
      target,
      tool,
      command,
      why,
      blastRadius,
      ...preflight,
    ]),
  ];
  const words = texts.flatMap(wordsOf);
  return new Set(
    [...words, ...words.flatMap((word) => word.split(/[_.-]+/))].filter((word) => word.length > 2),
  );
}

function lasted(from: string, to: string): string {
  const seconds = Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
const ended = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);
/** One line, never longer than a person reads at a glance. */
const clip = (text: string, max: number): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= max ? line : `${line.slice(0, max - 1)}…`;
};
