import type { IncidentRecord } from '../core/incident-record.ts';

/** What counts as the end of an incident beside our own check. */
export interface Confirmation {
  /** How long a held check waits for a source that still fires; 0: our own check is enough. */
  readonly sourceWaitMs: number;
  /** Sources that send the end of their alerts as well: a chat message alone may never be followed by one. */
  readonly sendsEnds: ReadonlySet<string>;
  /** How long a problem must be away, and how long a repair gets to show that it helped, where no runbook says. */
  readonly holdMs: number;
  readonly timeoutMs: number;
}

/** Whether somebody who sent this incident's alerts would say that they are over. */
export function waitsForSource(
  { alerts }: Pick<IncidentRecord, 'alerts'>,
  { sendsEnds }: Confirmation,
): boolean {
  return alerts.some(({ source, status }) => status === 'firing' && sendsEnds.has(source));
}

/** The sender of the alert, for people. */
export function sourceName({ alerts }: Pick<IncidentRecord, 'alerts'>): string {
  const source = alerts.find(({ status }) => status === 'firing')?.source ?? alerts[0]?.source;
  if (source === undefined || source === 'slack') return 'The alert’s source';
  return source.charAt(0).toUpperCase() + source.slice(1);
}
