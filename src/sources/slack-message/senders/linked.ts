import type { Texts } from '../message-texts.ts';
import { plainText, withoutMarks } from '../mrkdwn.ts';
import type { Content } from '../schema.ts';
import type { Reading, Sender } from '../sender.ts';
import { readAny, statusOfFirstLines } from './any-app.ts';
import { isOfOwnApp } from './own-app.ts';

/**
 * Senders that link to the alert their message is about. `id` in the link is the one that their webhook tells, and so gives
 * the message of their own app its alert's fingerprint; where a link tells only the monitor, or another app posts it, name and
 * labels join the two.
 */
const linked: readonly {
  readonly source: string;
  readonly link: RegExp;
  /** The webhook's `id`, where it is not the link's. */
  readonly id?: (found: Readonly<Record<string, string>>) => string;
}[] = [
  {
    source: 'pagerduty',
    link: /https?:\/\/(?:[\w-]{1,63}\.){1,4}pagerduty\.com\/incidents\/(?<id>[A-Z0-9]{6,20})\b/,
  },
  {
    source: 'opsgenie',
    link: /https?:\/\/(?:[\w-]{1,63}\.){0,4}opsgenie\.com\/alert\/(?:detail|show)\/(?<id>[0-9a-f-]{36}(?:-\d+)?)/,
  },
  {
    source: 'opsgenie',
    link: /https?:\/\/[\w-]{1,63}\.atlassian\.net\/jira\/ops\/alerts\/(?<id>[0-9a-f-]{36}(?:-\d+)?)/,
  },
  {
    source: 'opsgenie',
    link: /https?:\/\/opsg\.in\/(?:a\/)?i\/(?:[\w-]{1,60}\/)?(?<id>[0-9a-f-]{36}(?:-\d+)?)/,
  },
  { source: 'grafana-oncall', link: /\/alert-groups\/I[A-Z0-9]{6,30}\b/ },
  { source: 'new-relic', link: /\balerts\.newrelic\.com\/accounts\/\d+\/incidents\/\d+/ },
  { source: 'datadog', link: /\bdatadoghq\.(?:com|eu)\/monitors[/#]\d+/ },
  { source: 'zabbix', link: /\/tr_events\.php\?triggerid=\d+/ },
  {
    source: 'sentry-io',
    link: /\/(?:organizations\/[\w-]{1,60}\/)?issues\/(?<id>\d{3,20})\/\?(?:[^\s|>]{0,200}&)?referrer=/,
  },
  { source: 'sentry-io', link: /\bsentry\.io\/(?:organizations\/[\w-]{1,60}\/)?issues\/(?<id>\d{3,20})\b/ },
  {
    source: 'gcp-monitoring',
    link: /\bconsole\.cloud\.google\.com\/monitoring\/alerting\/(?:incidents|alerts)\/(?<id>[\w.-]{6,60})/,
  },
  {
    source: 'new-relic',
    link: /\bnewrelic\.com\/[^\s|>]{0,200}\bissues\/(?<id>[0-9a-f]{8}-[0-9a-f-]{27})\b/,
  },
  {
    source: 'cloudwatch',
    link: /\bCloudWatch Alarm \| (?<alarm>[^|\n]{1,255}?) \| (?<region>[a-z]{2}(?:-[a-z]+)+-\d) \| Account: (?<account>\d{12})\b/,
    id: ({ alarm, region, account }) => `arn:aws:cloudwatch:${region}:${account}:alarm:${alarm}`,
  },
];

/** Whether a link leads to an incident of PagerDuty or an alert of Opsgenie, in a message of that service's own app. */
export const linksToOwnPage = (url: string, message: Content): boolean =>
  linked.some(
    ({ source, link }) =>
      (source === 'pagerduty' || source === 'opsgenie') &&
      link.exec(url)?.index === 0 &&
      isOfOwnApp(source, message),
  );

/** PagerDuty, Opsgenie, Datadog, Zabbix, Sentry.io, Google Cloud, New Relic and AWS in their own apps' messages. */
export const linkedSender: Sender = {
  read(message, texts) {
    const written = [...texts.raw, ...texts.links, ...linksOf(message)];
    for (const { source, link, id: idOf } of linked) {
      const found = written.map((text) => link.exec(text)).find((match) => match !== null);
      if (!found) continue;
      const groups: Readonly<Record<string, string>> = found.groups ?? {};
      const reading = readAny(texts);
      if (reading === null) return null;
      const id = idOf?.(groups) ?? groups['id'];
      const title =
        titleOf(idOf ? groups['alarm'] : labelOf(texts.raw, found[0])) || namedBeside(reading, texts);
      const { alarm, region, account } = groups;
      return {
        ...reading,
        status: endsIt(texts.raw)
          ? 'resolved'
          : (statusOfFirstLines(texts.raw) ?? (isTicked(texts) ? 'resolved' : reading.status)),
        title,
        name: reading.name ?? title,
        labels: { ...(alarm && region && account ? { alarm, region, account } : {}), ...reading.labels },
        severity: reading.severity ?? priorityIn(texts.raw),
        identity: { name: reading.name ?? title, words: [] },
        ...(id !== undefined && isOfOwnApp(source, message) ? { own: { sender: source, id } } : {}),
      };
    }
    return null;
  },
};

/** `Incident #12 was resolved by Ann`: said of the alert, at the beginning of a text. What is not sure ends nothing. */
function endsIt(raw: readonly string[]): boolean {
  if (statusOfFirstLines(raw) !== null) return false;
  return raw.some((text) => {
    const [line = ''] = plainText(text).trim().split('\n', 1);
    return endOf.test(withoutMarks(line));
  });
}

const endOf =
  /^\W*(?:(?:alert|incident|issue|problem) (?:\W*\d{1,9} )?)?(?:(?:was|has been|is|automatically) )*(?:resolved|closed|recovered)(?: (?:by|via|automatically|at|on)\b|\W*$)|^.{0,60}\b(?:closed|resolved) (?:(?:alert|incident|issue) \W?#?|\[?#)\d|^.{0,40}\b(?:alert|incident|issue)\b.{0,40} (?:is|was|has been) (?:closed|resolved)(?: by\b|\W*$)/i;

/** `CRITICAL priority issue is ACTIVATED`, as New Relic's workflows say. */
const priorityIn = (raw: readonly string[]): string | null =>
  raw.map((text) => /\b(CRITICAL|HIGH|MEDIUM|LOW) priority issue is\b/i.exec(text)?.[1]).find(Boolean) ??
  null;

/** Amazon Q tells what is over by a tick alone. */
const isTicked = ({ raw: [first = ''] }: Texts): boolean =>
  /^\W*(?::white_check_mark:|:large_green_circle:|✅|🟢)/u.test(first);

/** A title that tells a state only is no name: that stands as the policy's, or in the first line. */
const onlyState =
  /^(?:alert|incident|issue) (?:#?[\w.-]{1,60} )?(?:(?:is|was|has) )?(?:firing|ongoing|open|opened|triggered|acknowledged|recovered|resolved|closed)$/i;

function namedBeside({ title, labels }: Reading, { lines: [first = ''] }: Texts): string {
  const plain = titleOf(title) || title;
  return onlyState.test(plain) ? labels['policy'] || withoutMarks(first) || plain : plain;
}

function linksOf({ attachments }: Content): readonly string[] {
  return (attachments ?? []).flatMap(({ title_link: link }) => (link ? [link] : []));
}

/** What a link is written as: `<https://acme.pagerduty.com/incidents/Q1|[#12] Disk full>`. A number is no name. */
function labelOf(texts: readonly string[], part: string): string | undefined {
  for (const text of texts)
    for (const [, url = '', label = ''] of text.matchAll(/<([^<>|]{1,2000})\|([^<>]{1,500})>/g))
      if (url.includes(part) && /\p{L}{2}/u.test(label)) return label;
  return undefined;
}

/** What is written on a link instead of a title. */
const noTitle = /^(?:(?:view|open|see|show|details)\b.*|opened|closed|acknowledged)$/i;

/** Without the number by which the sender counts it. */
function titleOf(label: string | undefined): string {
  const plain = withoutMarks(plainText(label ?? ''))
    .replace(/^(?:incident\s+)?(?:\[?#\d+\b(?!\.)\]?[:\s-]*|\d+:\s+)/i, '')
    .replace(/^alert (?:firing|recovered|acknowledged): /i, '')
    .replace(/^"([^"]+)"$/, '$1');
  return /\p{L}{2}/u.test(plain) && !noTitle.test(plain) ? plain : '';
}
