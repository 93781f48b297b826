import type { Severity } from './alert.ts';

/** The words monitoring systems use (Prometheus, Grafana, PagerDuty, Opsgenie, Zabbix, syslog), each in one place. */
const words: Readonly<Record<Exclude<Severity, 'unknown'>, readonly string[]>> = {
  critical: [
    'critical',
    'crit',
    'page',
    'fatal',
    'emergency',
    'emerg',
    'disaster',
    'urgent',
    'alert',
    'p0',
    'p1',
    'sev0',
    'sev1',
    's1',
    'danger',
  ],
  error: ['error', 'err', 'high', 'major', 'p2', 'sev2', 's2', 'failure', 'down'],
  warning: ['warning', 'warn', 'medium', 'moderate', 'average', 'minor', 'p3', 'sev3', 's3', 'ticket'],
  info: [
    'info',
    'information',
    'informational',
    'notice',
    'low',
    'debug',
    'none',
    'ok',
    'good',
    'p4',
    'p5',
    'sev4',
    'sev5',
    's4',
  ],
};

const severityOfWord = new Map<string, Severity>(
  Object.entries(words).flatMap(([severity, list]) => list.map((word) => [word, severity as Severity])),
);

/** The source's own word for a severity, in ours; `unknown` for none or one we do not know. `SEV-1` and `sev1` are one. */
export function severityOf(word: string | null | undefined): Severity {
  const plain = (word ?? '').toLowerCase().replace(/[^a-z0-9]/g, '');
  return severityOfWord.get(plain) ?? 'unknown';
}
