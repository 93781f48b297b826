import { isLastingFix, restOf, stepsOf } from '../../core/action.ts';
import { count } from '../../core/count.ts';
import type { Denial } from '../../core/denial.ts';
import { describePlan } from '../../core/describe-act.ts';
import { groupTitle } from '../../core/group.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { isEnded } from '../../core/machine.ts';
import { tellingStep } from '../../core/plan-progress.ts';
import { formatFixed, formatUndone, undoneOf, undoneRepair } from '../../core/undone.ts';
import { lasted, lower } from '../questions/answer-lines.ts';
import type { ReadsRecorded } from '../recovery/recovery-series.ts';
import { closedBy, holderOf, minute, told, who } from './report-lines.ts';
import { changedOf, nextOf, openProposal, sitrepLine, triedOf, waitingFor } from './sitrep.ts';

/** What whoever comes on has to know, of what they may read alone. */
export interface HandoffFacts {
  readonly now: Date;
  /** When the shift began that is handed over, ISO 8601. */
  readonly since: string;
  /** Worst first; `openCount` with those that are only counted. */
  readonly open: readonly OpenIncident[];
  readonly openCount: number;
  /** What ended since, and of before what still waits for somebody. Newest first. */
  readonly closed: readonly IncidentRecord[];
  /** What is muted, and what is stopped: a line each. */
  readonly muted: readonly string[];
  readonly stopped: readonly string[];
  /** Those in force, newest first. */
  readonly denials: readonly Denial[];
}

export interface OpenIncident {
  readonly record: IncidentRecord;
  /** When somebody is called unless somebody takes it; null: nobody will be. */
  readonly nextCallAt: string | null;
}

/** So many open incidents are told in full; so many lines stand under each heading. */
const IN_FULL = 8;
const LINES = 12;

/** The shift in plain lines, what waits first; one line where there is nothing to hand over. */
export function handoff(facts: HandoffFacts, read: ReadsRecorded): string {
  const { open, closed, since, now } = facts;
  const ended = closed.filter(({ incident }) => incident.endedAt !== null && incident.endedAt >= since);
  const risks = [...open.map(({ record }) => record), ...closed].flatMap((record) => risksOf(record, facts));
  const parts = [
    part(
      count(facts.openCount, 'open incident'),
      open.map((each, at) => openLine(each, at, now, read)),
      facts.openCount,
    ),
    part('Look out for', risks),
    part(
      'Muted',
      facts.muted.map((line) => told(line, 200)),
    ),
    part(
      'Stopped',
      facts.stopped.map((line) => told(line, 200)),
    ),
    part('People said no to', facts.denials.map(denialLine)),
  ].filter((lines) => lines.length > 0);
  const over = part(`Closed since ${minute(since)}`, ended.map(closedLine));
  if (parts.length === 0 && over.length === 0)
    return `Nothing to hand over: nothing is open, muted or stopped, and nothing ended since ${minute(since)}.`;
  const quiet = parts.length === 0 ? [['Nothing is open, muted or stopped.']] : [];
  return [...quiet, ...parts, ...(over.length > 0 ? [over] : [])]
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function part(heading: string, lines: readonly string[], all = lines.length): readonly string[] {
  const more = all - Math.min(lines.length, LINES);
  return lines.length === 0
    ? []
    : [
        `${heading}:`,
        ...lines.slice(0, LINES).map((line) => `• ${line}`),
        ...(more > 0 ? [`and ${more} more`] : []),
      ];
}

function openLine({ record, nextCallAt }: OpenIncident, at: number, now: Date, read: ReadsRecorded): string {
  const line = sitrepLine(record.incident);
  if (at >= IN_FULL) return line;
  const tried = triedOf(record);
  const next = nextOf(record, { now, read, nextCallAt });
  const changed = changedOf(record);
  return [
    `${line}. ${holderOf(record, undefined)} ${told(waitingFor(record), 130)}`,
    ...(changed === null ? [] : [changed]),
    `${tried} ${next}`,
  ].join(' ');
}

/** What may go wrong after those who know of it have gone home. */
function risksOf(
  record: IncidentRecord,
  { since, now }: Pick<HandoffFacts, 'since' | 'now'>,
): readonly string[] {
  const { incident, actions } = record;
  const plans = actions
    .filter(({ step }) => step === 1)
    .flatMap((first): readonly string[] => {
      const steps = stepsOf(actions, first);
      const act = told(lower(describePlan(steps)), 90);
      const step = tellingStep(steps) ?? first;
      if (step.state === 'unknown') return [`unknown whether it ran: ${act}`];
      if (restOf(actions, steps).length > 0) return [`half done: ${act}`];
      const undone = first.undoes === null ? undoneOf(actions, steps) : null;
      if (undone !== null && (undone.at === null || undone.at >= since)) {
        const at = undone.at === null ? '' : ` at ${minute(undone.at)}`;
        return [`${lower(formatUndone(undone, who))}${at}: ${act}`];
      }
      if (first.state === 'expired' && first.expiresAt >= since) return [`nobody decided in time: ${act}`];
      return [];
    });
  const asked = openProposal(record);
  const promises = [
    ...(asked !== undefined && (isEnded(incident.state) || isLastingFix(asked))
      ? [
          `a decision is open until ${minute(asked.expiresAt)}: ${told(lower(describePlan(stepsOf(actions, asked))), 90)}`,
        ]
      : []),
    ...(incident.asksAgainAt !== null && Date.parse(incident.asksAgainAt) > now.getTime()
      ? [`I look again and ask at ${minute(incident.asksAgainAt)}`]
      : []),
    ...(incident.flappingUntil === null || isEnded(incident.state)
      ? []
      : [`its alert comes and goes, until ${minute(incident.flappingUntil)} at least`]),
  ];
  return [...plans, ...promises].map((line) => `${incident.id}: ${line}`);
}

function denialLine({ label, saidBy, until, incidentId, reason }: Denial): string {
  const because = reason === '' ? '' : `: “${told(reason, 80)}”`;
  return `${told(label, 60)}, ${until === null ? 'until it is gone' : `until ${minute(until)}`} (<@${saidBy}>, ${incidentId}${because})`;
}

const closedLine = (record: IncidentRecord): string => {
  const { incident } = record;
  const { id, openedAt, endedAt, resolvedBy } = incident;
  const how = {
    confirmed: formatFixed(undoneRepair(record)),
    source: 'over, says its source',
    person: closedBy(record),
  };
  const says = resolvedBy === null ? 'over' : how[resolvedBy];
  return `${id} · ${told(groupTitle(incident), 70)}: ${says}${endedAt === null ? '' : `, after ${lasted(openedAt, endedAt)}`}`;
};
