import type { Texts } from './message-texts.ts';
import { plainText, withoutMarks } from './mrkdwn.ts';

/** What is said of an alert and neither begins nor ends it: notes, pauses, trials, and that nothing can be seen. */
const noNews: readonly RegExp[] = [
  /^INSUFFICIENT_DATA: "|\bstate is now INSUFFICIENT_DATA\b|^(?:Current|New) State: `?INSUFFICIENT_DATA\b|^Insufficient Data: /i,
  /^Uptime Kuma Alert: Testing$|^Someone is testing the alert notification within Grafana\b/,
];

/** Of the first line alone: further down an alert may tell of such things itself. */
const noNewsFirst: readonly RegExp[] = [
  /^(?:Host|Service) (?!problem\b|recovery\b)[A-Z]\w{1,30}(?: \w{1,20})? notification$/i,
  /^.{1,80} added (?:a )?(?:note|comment|tags?) to\b/i,
  /^.{1,200} was (?:un)?muted\b/i,
];

/** Beyond these no sender says what its message is. */
const MOST_LINES = 40;

export function tellsNoNews({ titleLine, lines }: Texts): boolean {
  const said = [titleLine ?? '', ...lines.slice(0, MOST_LINES)].map((line) => withoutMarks(plainText(line)));
  const first = said.find((line) => line !== '') ?? '';
  return (
    noNewsFirst.some((pattern) => pattern.test(first)) ||
    said.some((line) => noNews.some((pattern) => pattern.test(line)))
  );
}
