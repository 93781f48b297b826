export const severities = ['critical', 'error', 'warning', 'info', 'unknown'] as const;
export type Severity = (typeof severities)[number];

/** Labels by which an alert tells how bad it is. */
export const severityLabels: readonly string[] = ['severity', 'priority', 'level', 'urgency'];

/** The annotation in which a chat source keeps label values whose names the message does not tell. */
export const bareValues = 'title_values';

/** The annotation in which a chat source keeps whose message it was: no other app's message ends the alert. */
export const postedBy = 'posted_by';

/** An incident goes on when its alert fires again within so long of its end, where no setting says otherwise. */
export const REOPEN_MINUTES = 30;

/** One notification from one source, in the one normal form every source is turned into. */
export interface Alert {
  /** The name of its source (src/sources), or `hand` where a person opened the incident. */
  readonly source: string;
  readonly status: 'firing' | 'resolved';
  /** The alert rule's name where the source has one (`PostgresBlockedSessions`), else null. */
  readonly name: string | null;
  readonly title: string;
  readonly severity: Severity;
  /** The source's own word for the severity, kept for people. */
  readonly sourceSeverity: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** What the source says is ill (service, instance, database …), as it says it; matched to a configured target when accepted. */
  readonly target: string | null;
  /** Hex; the same for the same problem on the same thing, whatever the delivery. */
  readonly fingerprint: string;
  /** Identifies this delivery (not the problem): the same delivery twice changes nothing. */
  readonly deliveryKey: string;
  /** ISO 8601. */
  readonly startsAt: string;
  readonly endsAt: string | null;
  readonly url: string | null;
  /** The title line of a chat message that shows label values without their names; read by what is known of the alert. */
  readonly headline?: AlertHeadline;
  /** What tells this problem from others of its name besides its labels; in any order. */
  readonly apart?: readonly string[];
  /** Whose own id of this alert the fingerprint is made of, where it is: two of one sender that differ are two alerts. */
  readonly idOf?: string;
  /** The sender's own group of it: its key, and the thing that all of its alerts are about, where that is said. */
  readonly group?: { readonly key: string; readonly target: string | null };
  /** The delivery that this one corrects: the message of which this is an edit. */
  readonly corrects?: string;
}

/** “[FIRING:2] …” as Alertmanager and Grafana title a notification, without its mark. */
export interface AlertHeadline {
  readonly text: string;
  /** How many alerts it says are firing; 0: it tells of an end. */
  readonly alerts: number;
  /** It is the default template's, which shows every label that its alerts share. */
  readonly certain: boolean;
  /** The message lists, by name, all labels of its one alert. */
  readonly whole: boolean;
}
