import type { types } from '@slack/bolt';
import { count, countUpTo, upTo } from '../../core/count.ts';
import { groupTitle } from '../../core/group.ts';
import type { Incident } from '../../core/incident.ts';
import type { MemorySummary } from '../../memory/documents/summary.ts';
import type { LayerStatus } from '../../safety/layers.ts';
import {
  type Block,
  bold,
  heading,
  link,
  list,
  paragraph,
  prose,
  type Span,
  withMoments,
  words,
} from './blocks/build.ts';
import { mark, standingOf } from './blocks/labels.ts';
import { cut, oneLine } from './blocks/text.ts';
import type { HomeFacts } from './home-facts.ts';

/** What Home is drawn from: for one person, who may read all of it. */
export interface HomeParts {
  /** Lines of ours: the mode, Slack, what is stopped. */
  readonly status: readonly string[];
  readonly open: readonly Incident[];
  readonly resolved: readonly Incident[];
  readonly facts: HomeFacts | null;
  readonly memory: MemorySummary | null;
  /** The channel in which proposals wait, for admins. */
  readonly adminChannel: string | null;
  /** An incident's thread. */
  readonly urlOf: (incident: Incident) => string | null;
}

const OPEN_SHOWN = 10;
const RESOLVED_SHOWN = 5;

/** The app's Home, for a phone: what is going on, and below it what Sentry may and who decides. */
export function homeView(parts: HomeParts): types.HomeView {
  const { status, facts, memory } = parts;
  const blocks: readonly Block[] = [
    heading('Sentry'),
    prose(...status.map(line)),
    ...incidents(parts),
    ...(facts ? [heading('Cost'), prose(...facts.cost.map(line))] : []),
    ...(facts
      ? [heading('Your access'), prose(list(facts.access.map((each) => [words(cut(each, 300))])))]
      : []),
    ...(memory
      ? [heading('Memory'), prose(...memoryLines(memory, facts?.isAdmin ? parts.adminChannel : null))]
      : []),
    ...(facts ? layers(facts) : []),
    ...(facts ? tools(facts) : []),
  ];
  return { type: 'home', blocks: [...blocks] };
}

/** For whoever is none of this workspace: nothing of it. */
export const closedHome = (reason: string): types.HomeView => ({
  type: 'home',
  blocks: [heading('Sentry'), prose(paragraph(words(cut(oneLine(reason), 300))))],
});

const line = (text: string) => paragraph(...withMoments(cut(oneLine(text), 300) || ' '));

function incidents({ open, resolved, urlOf }: HomeParts): readonly Block[] {
  const linesOf = (some: readonly Incident[]) => list(some.map((each) => incidentLine(each, urlOf(each))));
  const more = open.length - OPEN_SHOWN;
  return [
    heading(open.length === 0 ? 'No open incident that you may see' : `Open incidents (${open.length})`),
    ...(open.length > 0 ? [prose(linesOf(open.slice(0, OPEN_SHOWN)))] : []),
    ...(more > 0 ? [prose(line(`and ${more} more: /sentry incidents`))] : []),
    ...(resolved.length > 0
      ? [prose(paragraph(bold('Last resolved')), linesOf(resolved.slice(0, RESOLVED_SHOWN)))]
      : []),
  ];
}

function memoryLines(
  { episodes, documents, proposalsWaiting, outbox }: MemorySummary,
  adminChannel: string | null,
) {
  const total = documents.reduce((sum, each) => sum + Number(each.count), 0);
  const shared = documents
    .filter(({ scope }) => scope === 'workspace')
    .reduce((sum, each) => sum + Number(each.count), 0);
  const waiting = `${countUpTo(proposalsWaiting, 'proposal')} ${proposalsWaiting === 1 ? 'waits' : 'wait'} for everybody’s memory`;
  return [
    line(
      `${countUpTo(total, 'document')} (${upTo(shared)} everybody’s) · ${countUpTo(Number(episodes.total), 'attempt')} remembered, ${upTo(episodes.succeeded)} helped, ${upTo(episodes.failed)} did not`,
    ),
    ...(proposalsWaiting > 0
      ? [
          paragraph(
            words(adminChannel ? `${waiting}: /sentry promotions, or ` : `${waiting}; admins decide.`),
            ...(adminChannel ? [channelSpan(adminChannel)] : []),
          ),
        ]
      : []),
    ...(outbox > 0 ? [line(`${countUpTo(outbox, 'memory')} not in Chroma yet; they are sent again.`)] : []),
  ];
}

const channelSpan = (id: string): Span =>
  /^[CG][A-Z0-9]+$/.test(id) ? { type: 'channel', channel_id: id } : words(`#${id.replace(/^#/, '')}`);

const layerMarks: Readonly<Record<LayerStatus['state'], string>> = { on: '✓', part: '◐', off: '✗' };

/** Everybody sees how many stand; which, and what of the configuration they say, is for admins. */
function layers({ layers: all, isAdmin }: HomeFacts): readonly Block[] {
  const on = all.filter(({ state }) => state === 'on').length;
  const off = all.filter(({ state }) => state === 'off').map(({ name }) => name);
  return [
    heading(`Safeguards: ${on} of ${all.length} on${off.length > 0 ? `; off: ${off.join(', ')}` : ''}`),
    ...(isAdmin
      ? [
          prose(
            list(
              all.map(({ name, state, says }) => [
                words(`${layerMarks[state]} ${name}: ${cut(oneLine(says), 160)}`),
              ]),
            ),
          ),
        ]
      : []),
  ];
}

function tools({ tools: groups }: HomeFacts): readonly Block[] {
  return [
    heading('What I can look at and change'),
    prose(
      list(
        groups.map(({ domain, reading, changing }) => [
          bold(domain),
          words(
            `: ${count(reading, 'kind')} of look${changing.length > 0 ? `; once approved: ${cut(changing.join(', '), 400)}` : ''}`,
          ),
        ]),
      ),
    ),
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
