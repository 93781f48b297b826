import type { Alert } from '../../domain/alert.ts';
import { storable } from '../../domain/storable.ts';
import { badInput } from '../bad-input.ts';
import { bareValues } from '../correlate.ts';
import { fingerprintOf } from '../fingerprint.ts';
import type { AlertSource, ReadContext, ReadResult } from '../ports.ts';
import { severityOf } from '../severity.ts';
import { clip, storableMap } from '../storable-text.ts';
import { namedTarget } from '../target.ts';
import { blockText } from './block-text.ts';
import { readHeadline } from './headline.ts';
import { firstLink, plainText } from './mrkdwn.ts';
import { pairsOf } from './pairs.ts';
import { type Content, SlackMessage } from './schema.ts';

/**
 * A message another app posted at the top level of an alert channel. People's messages, thread replies, our own
 * messages and edits that change nothing about the alert are no alerts.
 */
export const slackMessage: AlertSource = {
  name: 'slack',
  vague: true,
  read(payload: unknown, context: ReadContext): ReadResult {
    const parsed = SlackMessage.safeParse(payload);
    if (!parsed.success) return badInput(parsed.error);
    const alert = readEvent(parsed.data, context);
    return { ok: true, alerts: alert ? [alert] : [] };
  },
};

function readEvent(event: SlackMessage, context: ReadContext): Alert | null {
  if (event.subtype === 'message_changed') {
    const now = event.message;
    if (!now || !isAnotherAppsPost(now, context)) return null;
    const sentAt = now.edited?.ts ?? event.event_ts ?? event.ts;
    const alert = readContent(now, event.channel, sentAt, `${now.ts}:${sentAt}`);
    const before = event.previous_message && readContent(event.previous_message, event.channel, now.ts, '');
    return alert && (!before || alert.status !== before.status || alert.fingerprint !== before.fingerprint)
      ? alert
      : null;
  }
  if (event.subtype && event.subtype !== 'bot_message') return null;
  return isAnotherAppsPost(event, context) ? readContent(event, event.channel, event.ts, event.ts) : null;
}

/** By `bot_id`, not by subtype: modern apps post without one. */
function isAnotherAppsPost(message: Content, { own }: ReadContext): boolean {
  if (!message.bot_id && !message.app_id && message.subtype !== 'bot_message') return false;
  if (message.thread_ts && message.thread_ts !== message.ts) return false;
  if (own?.botId && message.bot_id === own.botId) return false;
  return !(own?.userId && message.user === own.userId);
}

function readContent(message: Content, channel: string, sentAt: string, key: string): Alert | null {
  const { titleLine, lines, url } = textsOf(message);
  if (titleLine === null) return null;
  const headline = readHeadline(titleLine);
  const pairs = pairsOf([titleLine, ...lines]);
  const labels = storableMap(pairs.labels);
  const { status: statusLabel, ...identifying } = labels;
  const values = headline.values.filter((value) => !Object.values(identifying).includes(value));
  const description = lines.join('\n').trim();
  const name = identifying['alertname'] ?? headline.name;
  const title = name ?? headline.title;
  const sourceSeverity = identifying['severity'] ?? identifying['priority'] ?? headline.severity;
  const at = new Date(Number(sentAt) * 1000).toISOString();
  const status = headline.status ?? (isResolvedWord(statusLabel) ? 'resolved' : 'firing');
  return {
    source: 'slack',
    status,
    name: name === null ? null : storable(name),
    title: clip(storable(title), 300),
    severity: severityOf(sourceSeverity),
    sourceSeverity,
    labels: identifying,
    annotations: {
      ...storableMap(pairs.annotations),
      ...(description === '' ? {} : { text: clip(storable(description), 3000) }),
      ...(values.length === 0 ? {} : { [bareValues]: storable(values.join(' ')) }),
    },
    target: namedTarget(identifying) ?? values[0] ?? null,
    fingerprint: fingerprintOf(storable(title), identifying, values.map(storable)),
    deliveryKey: `slack:${channel}:${key}`,
    startsAt: at,
    endsAt: status === 'resolved' ? at : null,
    url: url && storable(url),
  };
}

function isResolvedWord(word: string | undefined): boolean {
  return word !== undefined && /^(resolved|ok|recovered|closed|normal|up)$/i.test(word);
}

interface Texts {
  readonly titleLine: string | null;
  readonly lines: readonly string[];
  readonly url: string | null;
}

/** The content sits in `text`, in attachments, in their blocks or in blocks; often in one of them only. */
function textsOf(message: Content): Texts {
  const attachments = message.attachments ?? [];
  const blocks = blockText([
    ...(message.blocks ?? []),
    ...attachments.flatMap((attachment) => attachment.blocks ?? []),
  ]);
  const titles = [...attachments.map(({ title }) => title), ...blocks.headers];
  const bodies = [...attachments.flatMap(({ pretext, text }) => [pretext, text]), ...blocks.lines];
  const shown = [...titles, ...bodies].filter(isWritten);
  // Beside blocks `text` is only the notification's wording of the same, and `fallback` always is.
  const spare = [message.text, ...(shown.length === 0 ? attachments.map(({ fallback }) => fallback) : [])];
  const raw = message.blocks?.length && shown.length > 0 ? shown : [...shown, ...spare.filter(isWritten)];
  const fields = attachments.flatMap((attachment) =>
    (attachment.fields ?? []).map(({ title, value }) => `${title ?? ''}: ${value ?? ''}`),
  );
  const [first, ...rest] = raw;
  const [titleLine = null, ...more] = first === undefined ? [] : linesOf(first);
  const lines = [...more, ...fields.flatMap(linesOf), ...rest.flatMap(linesOf)];
  const link = attachments.find((attachment) => attachment.title_link)?.title_link;
  return {
    titleLine,
    lines: [...new Set(lines)],
    url: link ?? blocks.links[0] ?? (first ? firstLink(first) : null),
  };
}

function isWritten(text: string | null | undefined): text is string {
  return !!text?.trim();
}

function linesOf(mrkdwn: string): readonly string[] {
  return plainText(mrkdwn)
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line.trim() !== '');
}
