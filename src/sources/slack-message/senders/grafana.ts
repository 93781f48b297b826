import type { Listed } from '../listed.ts';
import { plainText } from '../mrkdwn.ts';
import type { Sender } from '../sender.ts';
import { readTemplate, templateStatus } from '../template.ts';

const labelLine = /^\s*-\s+([^\s=]+)\s+=\s?(.*)$/;

/**
 * Grafana's unified alerting with its default message (grafana/alerting, templates/default_template.go): a title like
 * Alertmanager's, and below it, alert by alert, the labels with their names. One alert is told with all of them.
 */
export const grafana: Sender = {
  read(message) {
    const attachment = message.attachments?.find(({ title }) => title && templateStatus(title) !== null);
    const body = plainText(attachment?.text ?? '');
    if (!attachment?.title || !/^Labels:\s*$/m.test(body) || !/^Value:/m.test(body)) return null;
    const alerts = alertsIn(body);
    const reading = readTemplate(attachment.title, {
      labels: sharedBy(alerts.map(({ labels }) => labels)),
      annotations: sharedBy(alerts.map(({ annotations }) => annotations)),
      certain: false,
      whole: alerts.length === 1,
    });
    return reading && { ...reading, labels: withoutPrivate(reading.labels), listed: toldApart(alerts) };
  },
};

/** The text between two “Value:” is of one alert; those that fire stand first, under a word for each kind. */
function alertsIn(body: string): readonly Listed[] {
  const parts = body.split(/^Value:.*$/m);
  let status: Listed['status'] = 'firing';
  return parts.slice(1).map((part, n) => {
    if (/^\W*resolved\W*$/im.test(parts[n] ?? '')) status = 'resolved';
    const [labels = '', annotations = ''] = part.split(/^Annotations:\s*$/m);
    return { labels: pairsIn(labels), annotations: pairsIn(annotations), status };
  });
}

const toldApart = (alerts: readonly Listed[]): readonly Listed[] =>
  alerts.length < 2 ? [] : alerts.map((alert) => ({ ...alert, labels: withoutPrivate(alert.labels) }));

function pairsIn(text: string): Readonly<Record<string, string>> {
  const found = text.split('\n').map((line) => labelLine.exec(line));
  return Object.fromEntries(found.flatMap((each) => (each?.[1] ? [[each[1], each[2]?.trim() ?? '']] : [])));
}

/** What they all tell, and tell alike. */
function sharedBy(maps: ReadonlyArray<Readonly<Record<string, string>>>): Readonly<Record<string, string>> {
  const [first = {}, ...others] = maps;
  return Object.fromEntries(
    Object.entries(first).filter(([key, value]) => others.every((map) => map[key] === value)),
  );
}

function withoutPrivate(labels: Listed['labels']): Listed['labels'] {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => !name.startsWith('__')));
}
