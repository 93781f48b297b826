import type { types } from '@slack/bolt';
import { count, countUpTo } from '../../core/count.ts';
import { describePlan } from '../../core/describe-act.ts';
import { groupTitle } from '../../core/group.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { Incident } from '../../core/incident.ts';
import type { LayerStatus } from '../../safety/layers.ts';
import {
  type Block,
  bold,
  button,
  buttons,
  deadline,
  heading,
  link,
  list,
  moment,
  paragraph,
  prose,
  type Span,
  withMoments,
  words,
} from './blocks/build.ts';
import { mark, standingOf } from './blocks/labels.ts';
import { cut, oneLine } from './blocks/text.ts';
import type { HomeApproval, HomeCost, HomeFacts, HomeGap, HomeTarget } from './home-facts.ts';
import { sparkline } from './sparkline.ts';

/** What Home is drawn from: for one person, who may read all of it. */
export interface HomeParts {
  /** Lines of ours: the mode, Slack, what is stopped. */
  readonly status: readonly string[];
  /** The worst first. */
  readonly open: readonly Incident[];
  readonly facts: HomeFacts | null;
  /** Who has an incident, by name. */
  readonly holderOf: (id: IncidentId) => string | null;
  /** Who is, in words, or that nobody is called. */
  readonly onCall: string;
  readonly promotions: HomePromotions | null;
  /** An incident's thread. */
  readonly urlOf: (incident: Incident) => string | null;
  /** Where the card of a proposal stands. */
  readonly cardOf: (approval: HomeApproval) => string | null;
  /** When this was read, ISO 8601. */
  readonly at: string;
}

/** What waits for an admin, and the channel in which it does. */
export interface HomePromotions {
  readonly waiting: number;
  readonly channel: string | null;
}

/** What the buttons of Home and its windows are called in `action_id`. */
export const HOME = {
  report: 'sentry_home_report',
  incidents: 'sentry_home_incidents',
  incidentsOpen: 'sentry_home_incidents_open',
  incidentsToday: 'sentry_home_incidents_today',
  incidentsResolved: 'sentry_home_incidents_resolved',
  incidentsOlder: 'sentry_home_incidents_older',
  stop: 'sentry_home_stop',
  resume: 'sentry_home_resume',
  gaps: 'sentry_home_gaps',
  layers: 'sentry_home_layers',
  roles: 'sentry_home_roles',
  memory: 'sentry_home_memory',
  tools: 'sentry_home_tools',
  watched: 'sentry_home_watched',
  watchSet: 'sentry_home_watch_set',
} as const;

const OPEN_SHOWN = 8;
const APPROVALS_SHOWN = 8;
const TARGETS_SHOWN = 8;
const GAPS_SHOWN = 3;

/** The app's Home, for a phone: what needs somebody, how things stand, and behind buttons everything else. */
export function homeView(parts: HomeParts): types.HomeView {
  const { facts, open } = parts;
  const blocks: readonly Block[] = [
    heading(
      open.length === 0 ? 'No open incident that you may see' : countUpTo(open.length, 'open incident'),
    ),
    ...(open.length > 0 ? [openIncidents(parts)] : []),
    ...(facts && facts.approvals.length > 0 ? [approvals(parts, facts.approvals)] : []),
    ...(parts.promotions && parts.promotions.waiting > 0 ? [promotions(parts.promotions)] : []),
    buttons(
      button({ text: 'Report a problem', action: HOME.report, value: 'home' }),
      button({ text: 'Incidents', action: HOME.incidents, value: 'open' }),
      ...(facts?.isAdmin ? [stopOrResume(facts.isStopped)] : []),
    ),
    { type: 'divider' },
    prose(...standing(parts).map((spans) => paragraph(...spans))),
    buttons(
      ...(facts && facts.gaps.length > 0
        ? [button({ text: 'What would mend that', action: HOME.gaps, value: 'home' })]
        : []),
      button({ text: 'Safeguards', action: HOME.layers, value: 'home' }),
      button({ text: 'Who may do what', action: HOME.roles, value: 'home' }),
      button({ text: 'Memory', action: HOME.memory, value: 'home' }),
      button({ text: 'Tools', action: HOME.tools, value: 'home' }),
      button({ text: 'Watched logs', action: HOME.watched, value: 'home' }),
    ),
    prose(paragraph(words('As of '), moment(parts.at), words('.'))),
  ];
  return { type: 'home', blocks: [...blocks] };
}

/** For whoever is none of this workspace: nothing of it. */
export const closedHome = (reason: string): types.HomeView => ({
  type: 'home',
  blocks: [heading('Sentry'), prose(paragraph(words(cut(oneLine(reason), 300))))],
});

function openIncidents({ open, urlOf, holderOf }: HomeParts): Block {
  const more = open.length - OPEN_SHOWN;
  return prose(
    list(
      open.slice(0, OPEN_SHOWN).map((each) => {
        const holder = holderOf(each.id);
        return [
          ...incidentLine(each, urlOf(each)),
          words(holder === null ? '' : ` · ${cut(oneLine(holder), 40)} has it`),
        ];
      }),
    ),
    ...(more > 0 ? [paragraph(words(`and ${more} more: press Incidents`))] : []),
  );
}

function approvals({ cardOf, at }: HomeParts, all: readonly HomeApproval[]): Block {
  const more = all.length - APPROVALS_SHOWN;
  return prose(
    paragraph(bold('Waits for your approval')),
    list(
      all.slice(0, APPROVALS_SHOWN).map((each) => {
        const { action, steps } = each;
        const act = `${cut(oneLine(describePlan(steps)), 90)} on ${cut(oneLine(action.target), 40)}?`;
        const url = cardOf(each);
        return [
          url ? link(url, act) : words(act),
          words(` · ${action.incidentId} · until `),
          deadline(action.expiresAt, at),
        ];
      }),
    ),
    ...(more > 0 ? [paragraph(words(`and ${more} more, in their threads`))] : []),
  );
}

function promotions({ waiting, channel }: HomePromotions): Block {
  const says = `${countUpTo(waiting, 'proposal')} for everybody’s memory ${waiting === 1 ? 'waits' : 'wait'}: /sentry promotions`;
  return prose(paragraph(words(channel ? `${says}, or ` : says), ...(channel ? [channelSpan(channel)] : [])));
}

const channelSpan = (id: string): Span =>
  /^[CG][A-Z0-9]+$/.test(id) ? { type: 'channel', channel_id: id } : words(`#${id.replace(/^#/, '')}`);

const stopOrResume = (isStopped: boolean) =>
  isStopped
    ? button({
        text: 'Resume',
        action: HOME.resume,
        value: 'everything',
        confirm: {
          title: 'Resume everything?',
          text: 'Approved fixes run again, and incidents that waited for it are looked at again.',
          yes: 'Resume',
        },
      })
    : button({
        text: 'Stop everything',
        action: HOME.stop,
        value: 'everything',
        style: 'danger',
        confirm: {
          title: 'Stop everything?',
          text: 'Nothing is changed anywhere until an admin resumes. Reading goes on, and so does telling you.',
          yes: 'Stop everything',
        },
      });

/** How things stand, a line each: the mode, cost, who is on call, targets, what cannot be read, safeguards. */
function standing({ status, facts, onCall, at: now }: HomeParts): readonly (readonly Span[])[] {
  const lines = status.map((text) => withMoments(cut(oneLine(text), 300) || ' '));
  if (facts === null) return lines;
  return [
    ...lines,
    costLine(facts.cost),
    [bold('On call: '), words(cut(oneLine(onCall), 200))],
    ...(facts.targets.length > 0 ? [targetsLine(facts.targets, now)] : []),
    ...facts.gaps.slice(0, GAPS_SHOWN).map(gapLine),
    layersLine(facts.layers),
  ];
}

function costLine({ says, days }: HomeCost): readonly Span[] {
  const isKnown = days.some((day) => day !== null);
  return [
    bold('Cost: '),
    words(cut(oneLine(says), 300)),
    ...(isKnown ? [words(` ${sparkline(days)} ${count(days.length, 'day')}`)] : []),
  ];
}

function targetsLine(targets: readonly HomeTarget[], now: string): readonly Span[] {
  // What does not answer is what one looks for.
  const ill = targets.filter(({ state }) => state === 'away' || state === 'silent');
  const rest = targets.filter(({ state }) => state !== 'away' && state !== 'silent');
  const shown = [...ill, ...rest].slice(0, TARGETS_SHOWN);
  const more = targets.length - shown.length;
  return [
    bold('Targets: '),
    ...shown.flatMap((each, at) => [...(at > 0 ? [words(' · ')] : []), ...targetSpans(each, now)]),
    ...(more > 0 ? [words(` · and ${more} more`)] : []),
  ];
}

const targetMarks = { answers: '✓', away: '✗', silent: '✗', unseen: '–' } as const;
const targetWords = {
  answers: '',
  away: ' cannot be reached,',
  silent: ' has not answered since',
  unseen: ' not looked at yet',
} as const;

const targetSpans = ({ name, state, at }: HomeTarget, now: string): readonly Span[] => [
  words(`${targetMarks[state]} ${cut(oneLine(name), 40)}${targetWords[state]}${at === null ? '' : ' '}`),
  // As a deadline is told: with its day where that is not plain.
  ...(at === null
    ? []
    : [Date.parse(now) - Date.parse(at) > HALF_A_DAY ? moment(at, DAY_AND_TIME) : moment(at)]),
];

const HALF_A_DAY = 12 * 3_600_000;
const DAY_AND_TIME = '{date_short_pretty} {time}';

const gapLine = ({ target, reason, incidents, of }: HomeGap): readonly Span[] => [
  bold('Cannot be read: '),
  words(
    `${cut(oneLine(target), 40)}, in ${incidents} of ${count(of, 'incident')}: ${cut(oneLine(reason), 120)}`,
  ),
];

function layersLine(layers: readonly LayerStatus[]): readonly Span[] {
  const on = layers.filter(({ state }) => state === 'on').length;
  const off = layers.filter(({ state }) => state === 'off').map(({ name }) => name);
  return [
    bold('Safeguards: '),
    words(`${on} of ${layers.length} on${off.length > 0 ? `; off: ${cut(off.join(', '), 200)}` : ''}`),
  ];
}

/** One incident in a list. */
export function incidentLine(incident: Incident, url: string | null): readonly Span[] {
  const name = `${incident.id} ${cut(oneLine(groupTitle(incident)), 120)}`;
  return [
    words(`${mark(incident)} `),
    url ? link(url, name) : words(name),
    words(` · ${cut(oneLine(incident.target ?? 'unknown target'), 60)} · `),
    ...standingOf(incident),
  ];
}
