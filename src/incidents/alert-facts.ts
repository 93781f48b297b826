import type { Severity } from '../core/alert.ts';
import type { IncidentId } from '../core/ids.ts';
import type { Sql, Tx } from '../core/sql.ts';
import type { AlertFacts } from '../safety/alert-matcher.ts';

/** What is asked of an incident itself. */
export interface AlertSubject {
  readonly id: IncidentId;
  readonly severity: Severity;
  readonly target: string | null;
  readonly alertName: string | null;
  readonly title: string;
  readonly labels: AlertFacts['labels'];
}

/**
 * Each alert of an incident that fires. A chat message shows less of an alert than its webhook does: where there is a webhook, that alone
 * is asked. An alert is as severe as its incident.
 */
export async function alertFacts(db: Sql | Tx, incident: AlertSubject): Promise<readonly AlertFacts[]> {
  const alerts = await db<{
    readonly source: string;
    readonly title: string;
    readonly labels: AlertFacts['labels'];
    readonly isMessage: boolean;
  }>`
    SELECT DISTINCT ON (a.source, a.fingerprint) a.source, a.title, a.labels, a.delivery_key LIKE 'slack:%' AS "isMessage"
      FROM alert_state s JOIN alert a USING (incident_id, source, fingerprint)
     WHERE s.incident_id = ${incident.id} AND s.firing AND a.status = 'firing'
     ORDER BY a.source, a.fingerprint, a.id DESC`;
  const webhooks = alerts.filter(({ isMessage }) => !isMessage);
  const telling = webhooks.length > 0 ? webhooks : alerts;
  const firing =
    telling.length > 0 ? telling : [{ source: '', title: incident.title, labels: incident.labels }];
  return firing.map((alert) => factsOf(incident, alert));
}

/** One alert of an incident. */
export function factsOf(
  { severity, target, alertName }: Pick<AlertSubject, 'severity' | 'target' | 'alertName'>,
  { source, title, labels }: Pick<AlertFacts, 'source' | 'title' | 'labels'>,
): AlertFacts {
  return {
    alertname: typeof labels['alertname'] === 'string' ? labels['alertname'] : (alertName ?? ''),
    severity,
    target: target ?? '',
    source,
    title,
    labels,
  };
}
