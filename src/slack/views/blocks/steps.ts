import { describeAnswer } from '../../../core/describe-changes.ts';
import { describeVerdict } from '../../../core/diagnosis.ts';
import { effortLabels } from '../../../core/effort.ts';
import type { IncidentEvent } from '../../../core/event.ts';
import { CLAUDES_WORDS, withoutMarks } from '../../../core/model-words.ts';
import { formatHeldBack } from '../../../core/seen-before.ts';
import { DIG_HINT } from '../../../incidents/dig-deeper.ts';
import { bold, code, deadline, link, moment, person, type Span, words } from './build.ts';
import { formatHowSure } from './diagnosis.ts';
import { facts } from './labels.ts';
import type { DrawOptions } from './slot.ts';
import { cut, oneLine } from './text.ts';

/** One line of the progress message: a mark and what was done. */
export interface Step {
  readonly mark: string;
  readonly spans: readonly Span[];
  /** In few words, what is shown without a press whatever follows. */
  readonly seen?: readonly Span[];
}

const toolMarks = { ok: '✓', failed: '✗', refused: '⊘', proposed: '→' } as const;

type Lines = {
  readonly [T in IncidentEvent['type']]?: (
    event: Extract<IncidentEvent, { readonly type: T }>,
    options: DrawOptions,
  ) => Step | null;
};

/** What an event looks like in the progress message; others have a message of their own or none. */
const lines: Lines = {
  'memory.recalled': recalled,
  'memory.context.loaded': loaded,
  'memory.write.blocked': (event) => ({
    mark: '⊘',
    spans: [
      words('Kept out of memory: '),
      code(short(event.path, 80)),
      words(`, the safety scanner found ${short(kindsOf(event.findings))}.`),
    ],
    seen: [words('Kept out of memory: '), code(short(event.path, 60))],
  }),
  'memory.policy.denied': (event) => ({
    mark: '⊘',
    spans: [
      words('Memory write denied in '),
      code(short(event.store, 80)),
      words(`: ${short(event.reason)}`),
    ],
    seen: [words(`Memory write denied: ${short(event.reason, 70)}`)],
  }),
  // That no model is configured is said once, on App Home.
  'investigator.chosen': (event) =>
    event.investigator === 'claude' ? { mark: '•', spans: [words('Claude investigates')] } : null,
  'investigator.fallback': (event) => ({
    mark: '⚠',
    spans: [bold('The model failed, the playbook goes on: '), words(short(event.reason))],
    seen: [words(`The model failed, the playbook goes on: ${short(event.reason, 50)}`)],
  }),
  'changes.looked': ({ found }) => ({
    mark: found.answer === 'could_not_look' ? '✗' : '✓',
    spans: [
      ...(found.answer === 'changed' ? [words('Changed before it: ')] : []),
      words(short(withoutMarks(describeAnswer(found)), 300)),
    ],
  }),
  'tool.called': (event) => ({
    mark: toolMarks[event.state],
    spans: [
      // The purpose is its caller's words, so it stands in quotes; what came of the call stands behind it.
      event.purpose ? words(`“${short(event.purpose, 140)}”`) : code(short(event.tool, 60)),
      ...(event.summary ? [words(`: ${short(event.summary)}`)] : []),
    ],
  }),
  'triage.concluded': ({ triage: { routine, incidentType, reason }, by }) => ({
    mark: '✓',
    spans: [
      bold(routine ? 'Known problem: ' : 'Not a known problem: '),
      words(
        routine && incidentType && by !== 'claude'
          ? `${short(incidentType.replaceAll('_', ' '), 60)}.`
          : `${by === 'claude' ? `${CLAUDES_WORDS}: ` : ''}${short(reason, 140)}`,
      ),
    ],
  }),
  'state.changed': ({ from, to, reason }) =>
    from === 'resolved' && to === 'diagnosing'
      ? { mark: '🔁', spans: [bold('Open again: '), words(short(reason))] }
      : null,
  'investigation.asked': ({ by }) => ({
    mark: '🔁',
    spans: [person(by), words(' had it investigated again.')],
  }),
  'diagnosis.concluded': ({ diagnosis }) => ({
    mark: '✓',
    spans: [bold(facts(describeVerdict(diagnosis), formatHowSure(diagnosis)))],
  }),
  'claim.dropped': (event) => ({
    mark: '⊘',
    spans: [words(`A claim was dropped: “${short(event.claim, 140)}” – ${short(event.reason, 140)}`)],
    seen: [words(`A claim was dropped: “${short(event.claim, 60)}”`)],
  }),
  'hint.given': (event) => ({
    mark: '•',
    spans:
      event.text === DIG_HINT
        ? [person(event.by), words(' asked to dig deeper.')]
        : [words('Hint by '), person(event.by), words(`: “${short(event.text)}”`)],
  }),
  'injection.found': ({ where, kinds, blocked }) => ({
    mark: '⚠',
    spans: [
      code(short(where, 80)),
      words(
        ` reads like instructions to the model (${short(kinds.join(', ').replaceAll('_', ' '), 80)}): ${blocked ? 'kept from it' : 'marked for it as suspicious'}.`,
      ),
    ],
    seen: [
      words(
        `Reads like instructions, ${blocked ? 'kept from the model' : 'marked for the model'}: ${short(where, 50)}`,
      ),
    ],
  }),
  'record.restored': (event) => ({
    mark: '•',
    spans: [
      words('Sentry’s record was restored from a backup of '),
      moment(event.madeAt, '{date_short} {time}'),
      words(': what this thread says of later is not on record.'),
    ],
    seen: [
      words('Record restored from a backup of '),
      moment(event.madeAt, '{date_short} {time}'),
      words('; later is not on record'),
    ],
  }),
  'read.finished': (event) => ({
    mark: event.readable ? '✓' : '✗',
    spans: [
      words('Read again for '),
      person(event.by),
      words(': '),
      code(short(event.tool, 60)),
      words(event.readable ? ' can be read now.' : ` still cannot: ${short(event.reason, 140)}`),
    ],
  }),
  'incident.stopped': (event) => ({
    mark: '■',
    spans: [words(event.reason ? `Stopped: ${short(event.reason)}` : 'Stopped')],
  }),
  'incident.muted': (event) => ({
    mark: '•',
    spans: [
      words('Muted until '),
      deadline(event.until, event.at),
      words(event.reason ? `: ${short(event.reason)}` : ''),
    ],
  }),
  'effort.chosen': (event) => ({
    mark: '•',
    spans: [
      words(`Effort: ${effortLabels[event.effort]}`),
      ...(event.by === undefined ? [] : [words(', asked for by '), person(event.by)]),
      ...(event.rule === null ? [] : [words(', by the policy: '), code(short(event.rule, 120))]),
    ],
  }),
  'incident.unmuted': () => ({ mark: '▶', spans: [words('No longer muted.')] }),
  'incident.resumed': () => ({ mark: '▶', spans: [words('Resumed.')] }),
};

/** The line an event makes in the progress message, or null when it makes none. */
export function stepOf(event: IncidentEvent, options: DrawOptions): Step | null {
  const line = lines[event.type] as ((event: IncidentEvent, options: DrawOptions) => Step | null) | undefined;
  return line ? line(event, options) : null;
}

function recalled(
  event: Extract<IncidentEvent, { type: 'memory.recalled' }>,
  options: DrawOptions,
): Step | null {
  const kept = event.heldBack ? formatHeldBack(event.heldBack) : null;
  if (event.incidents.length > 0) {
    const seen = event.incidents.slice(0, 3).flatMap((each, index): Span[] => {
      const name = `${each.incidentId} ${short(each.title, 100)}`;
      const url = options.threadUrl(each.incidentId);
      return [
        ...(index === 0 ? [] : [words(', ')]),
        url ? link(url, name) : words(name),
        ...(each.ended ? [words(` (${short(each.ended, 140)})`)] : []),
      ];
    });
    const times = event.incidents.reduce((sum, each) => sum + (each.times ?? 1), 0);
    return {
      mark: '↺',
      spans: [
        bold('Seen before: '),
        ...(times > 1 ? [words(`${times} times, `)] : []),
        ...seen,
        ...(kept ? [words(`. ${kept}`)] : []),
      ],
    };
  }
  if (kept) return { mark: '↺', spans: [words(kept)] };
  if (event.missing)
    return { mark: '⚠', spans: [words(`Memory could not be asked: ${short(event.missing)}`)] };
  return null;
}

/** What a model was given from memory; whose drafts nobody has reviewed is said. */
function loaded(event: Extract<IncidentEvent, { type: 'memory.context.loaded' }>): Step | null {
  const { documents, tokens, missing } = event;
  if (documents.length === 0)
    return missing === null ? null : { mark: '⚠', spans: [words(`${short(missing)} (${event.role})`)] };
  const drafts = documents.filter(({ trusted }) => !trusted).length;
  const names = documents
    .slice(0, SHOWN_MEMORIES)
    .flatMap(({ path }, index): Span[] => [...(index === 0 ? [] : [words(', ')]), code(short(path, 60))]);
  const more = documents.length > SHOWN_MEMORIES ? ` and ${documents.length - SHOWN_MEMORIES} more` : '';
  const unreviewed = drafts > 0 ? `, ${drafts} unreviewed` : '';
  return {
    mark: '↺',
    spans: [
      words(`Memory for the ${event.role}: `),
      ...names,
      words(`${more} (${tokens} tokens${unreviewed})`),
    ],
  };
}

/** Of documents named in a line. */
const SHOWN_MEMORIES = 4;

function kindsOf(findings: readonly { readonly category: string }[]): string {
  return [...new Set(findings.map(({ category }) => category.replaceAll('_', ' ')))].join(', ');
}

const short = (text: string, max = 200): string => cut(oneLine(text), max);
