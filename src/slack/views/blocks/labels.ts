import type { Action } from '../../../core/action.ts';
import { isResting } from '../../../core/effort.ts';
import type { Incident, IncidentState } from '../../../core/incident.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { isSlackUser } from '../../../core/is-slack-user.ts';
import { isMerged } from '../../../core/merged-with.ts';
import { causeFound } from '../../../core/model-words.ts';
import { formatStanding } from '../../../incidents/questions/format-state.ts';
import { person, type Span, words } from './build.ts';
import { cut, oneLine } from './text.ts';

const GREEN = '#2eb67d';
const RED = '#e01e5a';
const AMBER = '#ecb22e';
const BLUE = '#36c5f0';
const GREY = '#868686';

const stateColors: Readonly<Record<IncidentState, string>> = {
  open: BLUE,
  triaging: BLUE,
  ignored: GREY,
  diagnosing: BLUE,
  reported: AMBER,
  planning: BLUE,
  awaiting_approval: AMBER,
  remediating: BLUE,
  verifying: BLUE,
  resolved: GREEN,
  escalated: RED,
  stopped: GREY,
};

/** How an incident stands, with who closed it by name: of that nobody is told. */
export const standingOf = (incident: Incident): readonly Span[] =>
  incident.resolvedBy === 'person' && isSlackUser(incident.closedBy ?? '')
    ? [words('Closed by '), person(incident.closedBy ?? '')]
    : [words(formatStanding(incident))];

/** The strip beside the root message: amber while our own check holds and the source still fires. */
export function colorOf({ incident, events }: Pick<IncidentRecord, 'incident' | 'events'>): string {
  if (incident.state === 'resolved') return incident.resolvedBy === 'confirmed' ? GREEN : GREY;
  if (isMerged(incident) || (incident.state === 'reported' && isResting(incident.effort))) return GREY;
  if (incident.state !== 'verifying') return stateColors[incident.state];
  const seen = events.findLast((event) => event.type === 'verification.checked');
  return seen?.type === 'verification.checked' && seen.holds ? AMBER : BLUE;
}

/** The mark in front of the title: the state first, while it is open the severity. */
export function mark(incident: Incident): string {
  // Green is for what Sentry has seen to be gone itself.
  if (incident.state === 'resolved') return incident.resolvedBy === 'confirmed' ? '🟢' : '⚪';
  if (incident.state === 'ignored' || incident.state === 'stopped') return '⚪';
  if (incident.state === 'escalated') return '🚨';
  return incident.severity === 'critical' ? '🔴' : incident.severity === 'error' ? '🟠' : '🟡';
}

/** What is wrong, and how sure that is where a cause is known; null: nothing was found. */
export function formatCause(
  { incident, events }: Pick<IncidentRecord, 'incident' | 'events'>,
  max = Number.POSITIVE_INFINITY,
): string | null {
  const { cause, confidence } = incident;
  if (!cause) return null;
  const isSure = confidence !== null && causeFound(events)?.diagnosis.unexplained === undefined;
  return `${cut(oneLine(cause), max)}${isSure ? ` (${formatConfidence(confidence)})` : ''}`;
}

/** A confidence from 0 to 1 in words and per cent. */
export const formatConfidence = (confidence: number): string =>
  `${confidenceWords(confidence)}, ${Math.round(confidence * 100)} %`;

export function confidenceWords(confidence: number): string {
  if (confidence >= 0.9) return 'almost certain';
  if (confidence >= 0.7) return 'likely';
  if (confidence >= 0.5) return 'possible';
  return 'only a guess';
}

export const riskLabels: Readonly<Record<Action['risk'], string>> = {
  low: 'low',
  medium: 'medium',
  high: 'HIGH',
};

/** Null for the usual once: nothing to say. */
export function times(count: number): string | null {
  return count > 1 ? `seen ${count} times` : null;
}

/** Null where nothing was spent. */
export function money(usd: number): string | null {
  if (usd <= 0) return null;
  return usd < 0.01 ? 'less than $0.01' : `$${usd.toFixed(2)}`;
}

/** What there is of these, in one line. */
export const facts = (...parts: readonly (string | null)[]): string =>
  parts.filter((part) => part !== null).join(' · ');

/** From one moment to another, as people say it. */
export const span = (fromIso: string, toIso: string): string =>
  lasted(Math.max(0, Date.parse(toIso) - Date.parse(fromIso)));

/** So many milliseconds, as people say it. */
export function lasted(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
