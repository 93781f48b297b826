import { severityOf } from '../../../core/severity.ts';
import { statusOf } from '../../declared/status-words.ts';
import { readHeadline } from '../headline.ts';
import type { Texts } from '../message-texts.ts';
import { plainText, withoutMarks } from '../mrkdwn.ts';
import { pairsOf } from '../pairs.ts';
import type { Content } from '../schema.ts';
import type { Reading, Sender } from '../sender.ts';

/** Any other app whose message is marked as an alert. */
export const anyApp: Sender = {
  read(message, texts) {
    const reading = readAny(texts);
    return reading !== null && isMarked(message, texts, reading) ? reading : null;
  },
};

/** Whatever another app says, where a channel's owner wants that. */
export const everyMessage: Sender = { read: (_message, texts) => readAny(texts) };

/** The first line, and the `name: value` lines below it. */
export function readAny({ titleLine, lines }: Texts): Reading | null {
  if (titleLine === null) return null;
  const headline = readHeadline(withoutMarks(titleLine));
  const { scope, text } = scoped(titleLine, headline.title);
  const pairs = pairsOf([titleLine, scope, ...lines]);
  const { status: told, ...named } = pairs.labels;
  // Beside `[Alerting] name` stand what was measured and how much of it.
  const labels = headline.name === null ? named : withoutMeasures(named);
  const name = labels['alertname'] ?? headline.name;
  const title = name ?? text;
  return {
    // `Alert: name` tells what the message is, not that it fires.
    status:
      (/^\W*(?:new )?alert:/i.test(titleLine) ? saidStatus(told) : null) ??
      headline.status ??
      saidStatus(told) ??
      'firing',
    name,
    title,
    severity: labels['severity'] ?? labels['priority'] ?? levelIn(labels) ?? headline.severity,
    labels,
    annotations: pairs.annotations,
    values: [],
    identity: { name: title, words: [] },
  };
}

const withoutMeasures = (labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(labels).filter(([, value]) => !/^(?:-?\d[\d.]*(?:e[-+]?\d+)?|null)$/i.test(value)),
  );

/** Sentry.io's tag and PagerDuty's word; a level may be anything else as well. */
const levelIn = ({ level, urgency }: Readonly<Record<string, string>>): string | null =>
  [level, urgency].find((word) => severityOf(word) !== 'unknown') ?? null;

/** Datadog's scope: `[Triggered on {host:db-1,env:prod}] …` or `… on host:db-1,env:prod`. */
function scoped(line: string, title: string): { readonly scope: string; readonly text: string } {
  const marked = /\[[\w -]{1,20} on \{([^}\n]*)\}\]/.exec(line)?.[1];
  const found = /^(.+?) on ([\w.-]+:[^\s,]+(?:, ?[\w.-]+:[^\s,]+)*)$/.exec(title);
  if (marked !== undefined) return { scope: `tags: ${marked}`, text: title };
  return { scope: found ? `tags: ${found[2]}` : '', text: found?.[1] ?? title };
}

const saidStatus = (word: string | undefined) => statusOf(word ?? null, { firing: [], resolved: [] });

/** Slack's `danger` and `warning`, and what apps draw as red, orange and yellow. */
const alarming =
  /^(?:danger|warning|#?(?:a30200|daa038|d00000|e01e5a|ff0000|[c-f][0-9a-f][0-5][0-9a-f][0-5][0-9a-f]))$/i;

/** What a message about something that works, or that somebody did, does not say. */
const trouble =
  /\b(?:alerts?|alarms?|incidents?|outages?|down|critical|fatal|fail(?:s|ed|ing|ures?)?|errors?|exceptions?|unhealthy|unreachable|unavailable|crash(?:ed|es|ing|loop\w*)?|oom\w*|timed? ?outs?|degraded|exceed(?:s|ed)|breach(?:ed)?|saturated|not responding|above|below|too (?:high|low|slow|many|few|long)|(?:is|are|almost|nearly) full|slow|lag(?:s|ging)?|stuck|blocked|dead(?:locks?)?|missing|expire[sd]|expiring|leak(?:s|ing)?|throttled|killed|spikes?|anomal(?:y|ies|ous))\b/i;

/** Words of trouble in what people do about code, or that there is none. */
const noTrouble =
  /\b(?:(?:pull|merge) request|merged|pushed|reminder|(?:no|0|zero|without) (?:\w+ )?(?:errors?|failures?|failed|alerts?|incidents?|exceptions?))\b/i;

/** What a text of it begins with. */
export function statusOfFirstLines(raw: readonly string[]): Reading['status'] | null {
  const said = raw.map(
    (text) => readHeadline(withoutMarks(plainText(text).trimStart().split('\n', 1)[0] ?? '')).status,
  );
  return said.find((status) => status !== null) ?? null;
}

/** Whether it says, by a status, a severity, a colour or a word, that something is wrong, or that it is no longer. */
function isMarked({ attachments }: Content, { titleLine, lines, raw }: Texts, reading: Reading): boolean {
  const { status } = pairsOf([titleLine ?? '', ...lines]).labels;
  return (
    statusOfFirstLines(raw) !== null ||
    saidStatus(status) !== null ||
    reading.name !== null ||
    severityOf(reading.severity) !== 'unknown' ||
    (attachments ?? []).some(({ color }) => alarming.test(color ?? '')) ||
    tellsTrouble((titleLine ?? '').replaceAll('_', ' ')) ||
    isRuleName(reading.title)
  );
}

const tellsTrouble = (line: string): boolean => trouble.test(line) && !noTrouble.test(line);

/** `OperationalError`, `pg_down`: one word as rules and exceptions are called, nothing else. */
const isRuleName = (title: string): boolean => /^[A-Za-z][\w.]*$/.test(title) && /[a-z][A-Z]|_/.test(title);
