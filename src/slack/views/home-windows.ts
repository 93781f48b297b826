import type { types } from '@slack/bolt';
import { mayUse, access as roleAccess } from '../../actions/access.ts';
import { count, countUpTo } from '../../core/count.ts';
import type { Incident, Role } from '../../core/incident.ts';
import { formatWatched, type WatchedState } from '../../ingest/watch-board.ts';
import type { MemoryDocument } from '../../memory/documents/document.ts';
import type { LayerStatus } from '../../safety/layers.ts';
import {
  type Block,
  bold,
  button,
  buttons,
  heading,
  lineWith,
  list,
  moment,
  paragraph,
  prose,
  type Span,
  small,
  verbatim,
  words,
} from './blocks/build.ts';
import { cut, oneLine, pages } from './blocks/text.ts';
import { choice, form, textField } from './form.ts';
import { HOME, incidentLine } from './home.ts';
import type { HomeGap, HomeTools, HomeTried } from './home-facts.ts';
import { modal } from './modal.ts';

const layerMarks: Readonly<Record<LayerStatus['state'], string>> = { on: '✓', part: '◐', off: '✗' };

/** Everybody sees how each stands; what of the configuration it says is for admins. */
export function layersView(layers: readonly LayerStatus[], isAdmin: boolean): types.ModalView {
  return modal('Safeguards', [
    prose(
      list(
        layers.map(({ name, state, says }) => [
          words(`${layerMarks[state]} ${name}${isAdmin ? `: ${cut(oneLine(says), 200)}` : ''}`),
        ]),
      ),
    ),
    small(`✓ on · ◐ holds, and could hold better · ✗ off${isAdmin ? '' : '. Admins see why.'}`),
  ]);
}

const ROLES = Object.keys(roleAccess) as readonly Role[];
const BOX = 2_800;

/** What this person may approve, and which of Sentry's roles may use which tool: a letter for each role that may. */
export function rolesView(access: readonly string[], groups: readonly HomeTools[]): types.ModalView {
  const tools = new Map(groups.flatMap(({ tools: some }) => some.map((tool) => [tool.name, tool] as const)));
  const lines = [...tools.values()]
    .sort((a, b) => a.name.localeCompare(b.name))
    .map(({ name, kind }) => {
      const may = ROLES.map((role) => (mayUse(role, kind) ? letters[role] : '·'));
      return `${may.join('')} ${name}`;
    });
  return modal('Who may do what', [
    prose(paragraph(bold('You')), list(access.map((line) => [words(cut(oneLine(line), 300) || ' ')]))),
    prose(
      paragraph(bold('My roles, and which tool each may use')),
      paragraph(words(ROLES.map((role) => `${letters[role]} ${roleNames[role]}`).join(' · '))),
    ),
    ...pages(lines.join('\n') || '–', BOX).map((page) => prose(verbatim(page))),
    small('What stands in no row is refused. The surgeon’s tools run only once a person has approved them.'),
  ]);
}

const letters: Readonly<Record<Role, string>> = {
  supervisor: 'R',
  triage: 'T',
  detective: 'D',
  surgeon: 'S',
  validator: 'V',
  mcp: 'M',
};
const roleNames: Readonly<Record<Role, string>> = {
  supervisor: 'supervisor, who only routes',
  triage: 'triage',
  detective: 'detective',
  surgeon: 'surgeon',
  validator: 'validator',
  mcp: 'clients over MCP',
};

/** Every tool with what it does. */
export function toolsView(groups: readonly HomeTools[]): types.ModalView {
  return modal(
    'Tools',
    groups.flatMap(({ domain, tools }) => [
      heading(domain),
      prose(
        list(
          tools.map(({ name, kind, says }) => [
            bold(name),
            words(`${kind === 'active' ? ' (once approved)' : ''}: ${cut(oneLine(says), 160)}`),
          ]),
        ),
      ),
    ]),
  );
}

const HISTORY = 8;

/** How much is remembered, what was learnt last, and what it is mostly about. */
export function memoryView(tried: HomeTried, documents: readonly MemoryDocument[]): types.ModalView {
  const { incidents, total, succeeded, failed, words: keywords } = tried;
  return modal('Memory', [
    prose(
      paragraph(
        words(
          `In the last ${count(incidents, 'incident')} that you may see: ${countUpTo(total, 'attempt')}, ${succeeded} helped, ${failed} did not. ${countUpTo(documents.length, 'document')} that you may read.`,
        ),
      ),
      ...(keywords.length > 0
        ? [
            paragraph(
              bold('Mostly about: '),
              words(cut(keywords.map(([word, n]) => `${word} ${n}`).join(' · '), 800)),
            ),
          ]
        : []),
    ),
    ...(documents.length > 0
      ? [
          prose(
            paragraph(bold('Learnt last')),
            list(
              documents
                .slice(0, HISTORY)
                .map(({ title, updatedAt }) => [
                  words(`${cut(oneLine(title), 120) || '(no title)'} · `),
                  moment(updatedAt, '{date_short_pretty} {time}'),
                ]),
            ),
          ),
        ]
      : []),
    small('/sentry memory list shows each with its history; /sentry memory remember adds to it.'),
  ]);
}

const LOGS = 40;

/** The watched logs; admins stop and start them. `said`: what came of the last press. */
export function watchedView(
  logs: readonly WatchedState[],
  isAdmin: boolean,
  said: string | null = null,
): types.ModalView {
  return modal('Watched logs', [
    ...(said === null ? [] : [prose(paragraph(bold(cut(oneLine(said), 600))))]),
    ...(logs.length === 0
      ? [prose(paragraph(words('No log is watched. Declare them by "watch" of a host in sentry.yaml.')))]
      : logs.slice(0, LOGS).map((one) => watchedLine(one, isAdmin))),
    ...(logs.length > LOGS ? [small(`and ${logs.length - LOGS} more: /sentry watch`)] : []),
  ]);
}

function watchedLine(one: WatchedState, isAdmin: boolean): Block {
  const says = cut(formatWatched(one), 800);
  if (!isAdmin) return prose(paragraph(words(says)));
  const verb = one.state === 'stopped' ? 'start' : 'stop';
  const text = verb === 'start' ? 'Start' : 'Stop';
  return lineWith(says, button({ text, action: HOME.watchSet, value: `${verb} ${one.target} ${one.log}` }));
}

/** What could not be read, who may mend it, and exactly how. */
export function gapsView(gaps: readonly HomeGap[]): types.ModalView {
  return modal('What would mend that', [
    ...gaps
      .slice(0, 15)
      .map(({ target, reason, incidents, of, who, what, exact, note }) =>
        prose(
          paragraph(
            bold(`${cut(oneLine(target), 60)}, in ${incidents} of ${count(of, 'incident')}: `),
            words(cut(oneLine(reason), 300)),
          ),
          paragraph(bold('Who may: '), words(cut(who, 300))),
          paragraph(words(cut(what, 600))),
          ...(exact === null ? [] : [verbatim(cut(exact, 1_500))]),
          ...(note === null ? [] : [paragraph(words(cut(note, 600)))]),
        ),
      ),
    ...(gaps.length === 0
      ? [prose(paragraph(words('Nothing that somebody could grant is missing now.')))]
      : []),
    small('Sentry grants itself nothing. It is gone from here once the same has been read again.'),
  ]);
}

export type IncidentFilter = 'open' | 'today' | 'resolved';

/** A page of incidents, newest first. `next`: there are older ones, after this. */
export function incidentsView(
  filter: IncidentFilter,
  page: {
    readonly incidents: readonly Incident[];
    readonly next: string | null;
  },
  urlOf: (incident: Incident) => string | null,
): types.ModalView {
  const tab = (text: string, action: string, value: IncidentFilter) =>
    button({ text, action, value, ...(value === filter ? { style: 'primary' } : {}) });
  return modal('Incidents', [
    buttons(
      tab('Open', HOME.incidentsOpen, 'open'),
      tab('Last 24 hours', HOME.incidentsToday, 'today'),
      tab('Resolved', HOME.incidentsResolved, 'resolved'),
    ),
    page.incidents.length > 0
      ? prose(list(page.incidents.map((each) => [...incidentLine(each, urlOf(each)), ...since(each)])))
      : prose(paragraph(words(page.next ? 'None among these that you may see.' : 'None that you may see.'))),
    ...(page.next === null
      ? []
      : [buttons(button({ text: 'Older', action: HOME.incidentsOlder, value: `${filter}:${page.next}` }))]),
  ]);
}

const since = ({ openedAt, endedAt }: Incident): readonly Span[] => [
  words(endedAt === null ? ' · since ' : ' · over since '),
  moment(endedAt ?? openedAt, '{date_short_pretty} {time}'),
];

export const REPORT_VIEW = 'sentry_home_report';
export const REPORT_TEXT = 'seen';
export const REPORT_TARGET = 'target';
const NOT_SURE = '-';

/** What somebody sees going wrong, and where. */
export const reportView = (targets: readonly string[]): types.ModalView =>
  form({
    callback: REPORT_VIEW,
    title: 'Report a problem',
    submit: 'Look into it',
    metadata: {},
    blocks: [
      textField({
        id: REPORT_TEXT,
        label: 'What do you see?',
        hint: 'An error message, or in your own words. Everybody who reads the alert channel sees it.',
      }),
      choice(
        REPORT_TARGET,
        'Where?',
        [
          { text: 'I do not know', value: NOT_SURE },
          ...targets.slice(0, 99).map((name) => ({ text: cut(name, 75), value: name.slice(0, 150) })),
        ],
        NOT_SURE,
      ),
    ],
  });

/** Undefined: they do not know. */
export const reportedTarget = (value: string): string | undefined =>
  value === '' || value === NOT_SURE ? undefined : value;
