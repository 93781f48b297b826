import type { IncidentRecord } from '../core/incident-record.ts';

/** What counts as the end of an incident beside our own check. */
export interface Confirmation {
  /** How long a held check waits for a source that still fires; 0: our own check is enough. */
  readonly sourceWaitMs: number;
  /** The sources that send the end of their alerts as well, by name, with what people call them. */
  readonly sendsEnds: ReadonlyMap<string, string>;
  /** The names of the sources that tell again of what still fires. */
  readonly repeats: ReadonlySet<string>;
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
export function sourceName(
  { alerts }: Pick<IncidentRecord, 'alerts'>,
  { sendsEnds }: Pick<Confirmation, 'sendsEnds'>,
): string {
  const alert = alerts.find(({ status }) => status === 'firing') ?? alerts[0];
  return (alert && sendsEnds.get(alert.source)) ?? 'The alert’s source';
}
