import { plainText, withoutMarks } from '../mrkdwn.ts';
import type { Sender } from '../sender.ts';

const severity = '[*`](debug|info|low|medium|high|critical)[*`]';
/** What kind of finding it is, how bad, and on the next line what: the header since 0.10.22. */
const header = new RegExp(
  String.raw`(Prometheus Alert Firing|Prometheus resolved|K8s event detected|Notification)[*\x60].*?${severity}\s*\n(.+)`,
  'is',
);
/** Before: all on one line, the status only of what can be silenced. */
const oldHeader = new RegExp(
  String.raw`^[^\w\x60]*(?:\x60(firing|resolved)\x60)?[^\w\x60]*${severity}\s+(.+)$`,
  'i',
);
const source = /^\*Source:\*\s+`([^`]*)`/;
const alert = /\*(?:Alert|K8s event detected|Notification):\*\s*(.+)/s;
const label = /^\s*[●•*-]\s+([A-Za-z_][\w./-]*)\s+`([^`]*)`\s*$/;

/**
 * Robusta (src/robusta/integrations/slack/sender.py). Its header tells kind and severity; which alert it is stands below:
 * the title, the cluster, the description, and the labels where its playbook adds them.
 */
export const robusta: Sender = {
  read(_message, { raw }) {
    const cluster = raw.map((text) => source.exec(text)?.[1]).find((found) => found !== undefined);
    const [first = ''] = raw;
    const [, kind = '', bad = '', rest = ''] =
      header.exec(first) ?? (cluster === undefined ? [] : (oldHeader.exec(plainText(first)) ?? []));
    const title = withoutMarks(plainText(rest).split('\n', 1)[0] ?? '').replace(/^\[RESOLVED\]\s*/, '');
    if (title === '') return null;
    const described = plainText(
      raw
        .slice(1)
        .map((text) => alert.exec(text)?.[1])
        .find(Boolean) ?? '',
    ).trim();
    const labels = labelsIn(raw);
    const where = cluster === undefined ? {} : { cluster };
    return {
      status: /resolved/i.test(kind) ? 'resolved' : 'firing',
      name: labels['alertname'] ?? title,
      title,
      severity: labels['severity'] ?? bad,
      labels: { ...where, ...labels },
      annotations: described === '' ? {} : { description: described },
      values: [...wordsIn(title), ...Object.values(labels), ...wordsIn(described)],
      identity: { name: title, words: labels['alertname'] ? [] : [timeless(described)] },
      apart: labels['alertname'] || described === '' ? [] : [timeless(described)],
    };
  },
};

/** “● pod `api-1`”, as its table of the alert's labels is drawn. */
function labelsIn(raw: readonly string[]): Readonly<Record<string, string>> {
  const found = raw.flatMap((text) => text.split('\n')).map((line) => label.exec(line));
  return Object.fromEntries(found.flatMap((each) => (each?.[1] ? [[each[1], each[2] ?? '']] : [])));
}

/** Measured values differ between two notifications of one alert; numbers within a name do not. */
function timeless(text: string): string {
  return text.replace(/(?<![\w.-])[-+]?\d[\d.,]*(?:%|[a-zµ]{1,3})?(?![\w-])/gi, '#');
}

const wordsIn = (text: string): readonly string[] =>
  text.split(/[\s,;()]+/).map((word) => word.replace(/^["'`*]+|["'`*.:]+$/g, ''));
