import { readHeadline } from '../headline.ts';
import { withoutMarks } from '../mrkdwn.ts';
import { pairsOf } from '../pairs.ts';
import type { Sender } from '../sender.ts';

/** Any other app: the first line, and the `name: value` lines below it. */
export const anyApp: Sender = {
  read(_message, { titleLine, lines }) {
    if (titleLine === null) return null;
    const headline = readHeadline(withoutMarks(titleLine));
    const pairs = pairsOf([titleLine, ...lines]);
    const { status: told, ...labels } = pairs.labels;
    const name = labels['alertname'] ?? headline.name;
    const title = name ?? headline.title;
    return {
      status: headline.status ?? (isResolvedWord(told) ? 'resolved' : 'firing'),
      name,
      title,
      severity: labels['severity'] ?? labels['priority'] ?? headline.severity,
      labels,
      annotations: pairs.annotations,
      values: [],
      identity: { name: title, words: [] },
    };
  },
};

function isResolvedWord(word: string | undefined): boolean {
  return word !== undefined && /^(resolved|ok|recovered|closed|normal|up)$/i.test(word);
}
