import { type Alert, bareValues, postedBy } from '../../core/alert.ts';
import type { Change } from '../../core/change.ts';
import { clip } from '../../core/clip.ts';
import { severityOf } from '../../core/severity.ts';
import { badInput } from '../bad-input.ts';
import { fingerprintOf, fingerprintOfId } from '../fingerprint.ts';
import type { AlertSource, ReadContext, ReadResult } from '../ports.ts';
import { namedTarget } from '../target.ts';
import { isAnotherAppsPost } from './another-app.ts';
import { readDeploy } from './deploys.ts';
import type { Listed } from './listed.ts';
import { type Texts, textsOf } from './message-texts.ts';
import { tellsNoNews } from './no-news.ts';
import { type Content, SlackMessage } from './schema.ts';
import type { Reading } from './sender.ts';
import { senders, sendersOfAll } from './senders.ts';

/**
 * A message another app posted at the top level of an alert channel that tells of trouble, or of its end. People's messages, thread replies, our own
 * messages and edits that change nothing about the alert are no alerts.
 */
export const slackMessage = {
  name: 'slack',
  title: 'Another app’s message in Slack',
  payload: 'a message event of Slack’s Events API',
  arrives: 'slack',
  sendsEnds: false,
  partialLabels: true,
  changes: 'too',
  read(payload: unknown, context: ReadContext): ReadResult {
    const parsed = SlackMessage.safeParse(asPosted(payload, context));
    if (!parsed.success) return badInput(parsed.error);
    const changes = changesIn(parsed.data, context);
    const read = readEvent(parsed.data, context);
    if (read === null) return { ok: true, alerts: [], changes };
    const { alert, listed } = read;
    return listed.length > 1
      ? { ok: true, alerts: listed, together: alert, changes }
      : { ok: true, alerts: [alert], changes };
  },
} satisfies AlertSource;

/** What an app hands to an incoming webhook or to `chat.postMessage`, as it would arrive if it were posted now. */
function asPosted(payload: unknown, { receivedAt }: ReadContext): unknown {
  if (payload === null || typeof payload !== 'object' || Array.isArray(payload) || 'ts' in payload)
    return payload;
  const isPost = 'text' in payload || 'blocks' in payload || 'attachments' in payload;
  const ts = (receivedAt.getTime() / 1000).toFixed(6);
  return isPost ? { channel: '', bot_id: 'posted', ...payload, ts } : payload;
}

interface Read {
  /** What the message says as one. */
  readonly alert: Alert;
  /** Each of a group, where they are listed. */
  readonly listed: readonly Alert[];
}

/** What another app's message says was deployed. */
function changesIn(event: SlackMessage, context: ReadContext): readonly Change[] {
  const isEdit = event.subtype === 'message_changed';
  if (!isEdit && event.subtype && event.subtype !== 'bot_message') return [];
  const message = isEdit ? event.message : event;
  if (!message || !isAnotherAppsPost(message, context)) return [];
  const sentAt = isEdit ? (message.edited?.ts ?? event.event_ts ?? event.ts) : message.ts;
  const change = readDeploy(message, textsOf(message), sentAt);
  return change === null ? [] : [change];
}

function readEvent(event: SlackMessage, context: ReadContext): Read | null {
  if (event.subtype === 'message_changed') {
    const now = event.message;
    if (!now || !isAnotherAppsPost(now, context)) return null;
    const sentAt = now.edited?.ts ?? event.event_ts ?? event.ts;
    const read = readContent(now, event.channel, sentAt, `${now.ts}:${sentAt}`, context);
    const before =
      event.previous_message && readContent(event.previous_message, event.channel, now.ts, '', context);
    if (read === null || (before && stateOf(before) === stateOf(read))) return null;
    return { ...read, alert: { ...read.alert, corrects: `slack:${event.channel}:${now.ts}` } };
  }
  if (event.subtype && event.subtype !== 'bot_message') return null;
  return isAnotherAppsPost(event, context)
    ? readContent(event, event.channel, event.ts, event.ts, context)
    : null;
}

/** What an edit changes, or not. */
const stateOf = ({ alert, listed }: Read): string =>
  [alert, ...listed].map(({ fingerprint, status }) => `${fingerprint} ${status}`).join();

function readContent(
  message: Content,
  channel: string,
  sentAt: string,
  key: string,
  context: ReadContext,
): Read | null {
  const texts = textsOf(message);
  if (!context.everyMessage && tellsNoNews(texts)) return null;
  const reading = firstReading(message, texts, context);
  if (reading === null) return null;
  const alert = toAlert(reading, message, texts, { sentAt, deliveryKey: `slack:${channel}:${key}` });
  return { alert, listed: (reading.listed ?? []).map((one, n) => toListed(one, n, alert)) };
}

/** One of a group: its labels are all there, so it has the fingerprint of its webhook. */
function toListed({ status, labels, annotations }: Listed, n: number, group: Alert): Alert {
  const { headline: _headline, ...said } = group;
  const name = labels['alertname'] ?? group.name;
  const sourceSeverity = labels['severity'] ?? labels['priority'] ?? group.sourceSeverity;
  return {
    ...said,
    status,
    name,
    title: clip(name ?? group.title, 300),
    severity: severityOf(sourceSeverity),
    sourceSeverity,
    labels,
    annotations: { ...annotations, [postedBy]: group.annotations[postedBy] ?? '' },
    target: namedTarget(labels),
    fingerprint: fingerprintOf(name ?? group.title, labels),
    deliveryKey: `${group.deliveryKey}#${n + 1}`,
    endsAt: status === 'resolved' ? group.startsAt : null,
  };
}

function toAlert(
  reading: Reading,
  message: Content,
  texts: Texts,
  { sentAt, deliveryKey }: { readonly sentAt: string; readonly deliveryKey: string },
): Alert {
  const { status, name, severity: sourceSeverity, labels, values, identity, headline, apart, own } = reading;
  const description = texts.lines.join('\n').trim();
  const at = new Date(Number(sentAt) * 1000).toISOString();
  const bare = values.filter((value) => value !== '' && !Object.values(labels).includes(value));
  return {
    source: 'slack',
    status,
    name,
    title: clip(reading.title, 300),
    severity: severityOf(sourceSeverity),
    sourceSeverity,
    labels,
    annotations: {
      ...reading.annotations,
      ...(description === '' ? {} : { text: clip(description, 3000) }),
      ...(bare.length === 0 ? {} : { [bareValues]: bare.join(' ') }),
      [postedBy]: message.bot_id ?? message.app_id ?? message.user ?? '',
    },
    target: namedTarget(labels) ?? bare[0] ?? null,
    fingerprint: own
      ? fingerprintOfId(own.sender, own.id)
      : fingerprintOf(identity.name, labels, identity.words),
    deliveryKey,
    startsAt: at,
    endsAt: status === 'resolved' ? at : null,
    url: texts.url,
    ...(headline ? { headline: { ...headline, text: clip(headline.text, 8000) } } : {}),
    ...(apart ? { apart } : {}),
    ...(own ? { idOf: own.sender } : {}),
  };
}

function firstReading(message: Content, texts: Texts, { everyMessage }: ReadContext): Reading | null {
  for (const sender of everyMessage ? sendersOfAll : senders) {
    const reading = sender.read(message, texts);
    if (reading !== null) return reading;
  }
  return null;
}
