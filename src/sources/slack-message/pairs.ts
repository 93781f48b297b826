import { trimMarks } from '../../core/trim-marks.ts';

/** Words people write for labels, as the label they mean. */
const synonyms = new Map([
  ['alert_name', 'alertname'],
  ['alert_rule', 'alertname'],
  ['alarm_name', 'alertname'],
  ['problem_name', 'alertname'],
  ['trigger_severity', 'severity'],
  ['rule', 'alertname'],
  ['sev', 'severity'],
  ['environment', 'env'],
  ['hostname', 'host'],
  ['db', 'database'],
]);

/** `State: alerting` tells the status; `state: idle in transaction` is a label like any other. */
const stateNames = new Set(['state', 'current_state', 'new_state', 'trigger_status', 'monitor_condition']);
const statusWord =
  /^(?:firing|alerting|triggered|alarm|fired|activated|open|acknowledged|resolved|ok|recovered|closed|deactivated|normal|up|down|problem)$/i;

/** Words that are a label although they are not written like one (`Severity: critical`). */
const knownWords = new Set([
  'alertname',
  'severity',
  'priority',
  'urgency',
  'policy',
  'status',
  'instance',
  'host',
  'service',
  'database',
  'datname',
  'job',
  'env',
  'cluster',
  'namespace',
  'pod',
  'container',
  'node',
  'region',
  'team',
  'target',
]);

const notes = new Set([
  'summary',
  'description',
  'message',
  'details',
  'runbook',
  'runbook_url',
  'dashboard',
]);

/** Lists of `name:value`. */
const tagLists = new Set(['tags', 'event_tags', 'monitor_tags', 'alert_tags']);

/** Beyond these it is no list of labels. */
const MOST_LINES = 1_000;
const LINE = 2_000;

const aPair = /^[\s•·*_~`>-]*([A-Za-z_][\w ]{0,40}?)[*_`\s]*(?::[*_]*\s+|:[*_]+\s*|\s=\s|=)(.+)$/;

/** What a line tells the value of, the first thing where it tells several; null: nothing. */
export function pairName(line: string): string | null {
  const part = line.slice(0, LINE);
  return (/\b([A-Za-z_]\w*)="/.exec(part) ?? aPair.exec(part))?.[1]?.trim().toLowerCase() ?? null;
}

export interface Pairs {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/**
 * `name: value` and `name = value` lines of an alert message, as Alertmanager's and Grafana's templates write them, and
 * `name="value"` lists. A label that several alerts of a group show with different values belongs to none: left out.
 */
export function pairsOf(lines: readonly string[]): Pairs {
  const labels = new Map<string, string | null>();
  const annotations: Record<string, string> = {};
  for (const whole of lines.slice(0, MOST_LINES)) {
    const line = whole.slice(0, LINE);
    for (const [, name = '', value = ''] of line.matchAll(/\b([A-Za-z_]\w*)="([^"]*)"/g)) put(name, value);
    const several = [...line.matchAll(/(?<![\w`])([A-Za-z_][\w.]{0,60}):\s?`([^`]{1,500})`/g)];
    if (several.length > 1) {
      for (const [, name = '', value = ''] of several) put(name, value);
      continue;
    }
    const pair = aPair.exec(line);
    if (pair?.[1] && pair[2] && !pair[2].startsWith('"')) put(pair[1], pair[2], /[=]/.test(line));
  }
  return {
    labels: Object.fromEntries([...labels].filter((entry): entry is [string, string] => entry[1] !== null)),
    annotations,
  };

  function put(rawName: string, rawValue: string, isAssignment = true): void {
    const snake = rawName.trim().toLowerCase().replace(/\s+/g, '_');
    const value = trimMarks(rawValue, { before: ' *_`"', after: ' *_`",' })
      // `Host: db-1 [10.0.0.7]` is Zabbix's.
      .replace(/(?<=\S)\s+\[[0-9a-f.:]{2,45}\]$/i, '');
    const name = stateNames.has(snake) && statusWord.test(value) ? 'status' : (synonyms.get(snake) ?? snake);
    if (value === '') return;
    if (tagLists.has(name)) {
      for (const [, tag = '', said = ''] of value.matchAll(
        /(?<![\w.-])([A-Za-z_][\w.-]{0,60}):\s?([^\s,;`]{1,200})/g,
      ))
        put(tag, said);
      return;
    }
    if (notes.has(name)) {
      annotations[name] ??= value;
      return;
    }
    const writtenAsLabel =
      /^[a-z_][a-z0-9_]*$/.test(rawName.trim()) &&
      (isAssignment || !value.includes(' ') || /^\s*`[^`]*`\s*$/.test(rawValue));
    if (!knownWords.has(name) && !writtenAsLabel) return;
    const known = labels.get(name);
    labels.set(name, known === undefined || known === value ? value : null);
  }
}
