import { pageKeyOfTitle } from '../../core/page-key.ts';
import type { PageNews } from '../../core/page-news.ts';
import { personName } from '../person-name.ts';
import type { ReadContext } from '../ports.ts';
import { isAnotherAppsPost } from './another-app.ts';
import { textsOf } from './message-texts.ts';
import { plainText, withoutMarks } from './mrkdwn.ts';
import { type Content, SlackMessage } from './schema.ts';
import { linksToOwnPage } from './senders/linked.ts';

/** What PagerDuty's or Opsgenie's own app says in Slack of a page of ours; null: it is another message. */
export function readSlackPageNews(payload: unknown, context: ReadContext): PageNews | null {
  const parsed = SlackMessage.safeParse(payload);
  if (!parsed.success) return null;
  const event = parsed.data;
  const isEdit = event.subtype === 'message_changed';
  const message = isEdit ? event.message : event;
  if (!message || !isAnotherAppsPost(message, context)) return null;
  const dedupKey = keyIn(message);
  if (dedupKey === null) return null;
  const sentAt = isEdit ? (message.edited?.ts ?? event.event_ts ?? event.ts) : event.ts;
  return { dedupKey, ...saidBy(message), at: new Date(Number(sentAt) * 1_000).toISOString() };
}

/** Its title stands in the link to the incident or alert, or is an attachment's that links there; said by the service's own app. */
function keyIn(message: Content): string | null {
  const titles = [
    ...(message.attachments ?? []).flatMap(({ title, title_link: link }) =>
      title && link && linksToOwnPage(link, message) ? [title] : [],
    ),
    ...textsOf(message).raw.flatMap((text) =>
      [...text.matchAll(LINK)].flatMap(([, url = '', label = '']) =>
        linksToOwnPage(url, message) ? [label] : [],
      ),
    ),
  ];
  for (const title of titles) {
    const key = pageKeyOfTitle(withoutMarks(plainText(title)).replace(COUNTED, ''));
    if (key !== null) return key;
  }
  return null;
}

const LINK = /<(https?:[^<>|]{1,2000})\|([^<>]{1,2000})>/g;

/** `[#34] …`, `[Opsgenie] #3: …`: how the services number a title. */
const COUNTED = /^(?:\[[A-Za-z ]{1,20}\] )?(?:\[#\d{1,12}\] |#\d{1,12}: )?/;

const acts = {
  acknowledged: 'acknowledged',
  unacknowledged: 'released',
  'un-acknowledged': 'released',
  reopened: 'released',
  reassigned: 'reassigned',
  delegated: 'reassigned',
  resolved: 'resolved',
  closed: 'resolved',
} as const;
const ACT = Object.keys(acts).join('|');

/** `Acknowledged by Ann`, `*Resolved:* …`, `Incident #3 was reassigned to Ben by Ann`, `Status: Acknowledged`. */
const PASSIVE = new RegExp(
  `^\\W*(?:status: ?)?(?:(?:alert|incident)(?: \\W?\\d{1,12})?,? )?(?:(?:was|has been|is) )?(${ACT})\\b:?(?: to (.{1,80}?))?(?: by (.{1,80}?))?\\W*$`,
  'i',
);
/** `Ann acknowledged alert #3`. */
const ACTIVE = new RegExp(`^(.{1,80}?) (${ACT}) (?:the )?(?:alert|incident)\\b`, 'i');

/** Read without titles and quotations: a title may say anything. */
function saidBy(message: Content): Pick<PageNews, 'kind' | 'by' | 'to'> {
  const titles = new Set((message.attachments ?? []).map(({ title }) => title ?? ''));
  const lines = textsOf(message)
    .raw.filter((text) => !titles.has(text))
    .flatMap((text) => text.replaceAll(LINK, '').split('\n'))
    .map((line) => withoutMarks(plainText(line).replaceAll(/["“][^"”]{0,500}["”]/g, '')));
  for (const line of lines) {
    const [, act, to, by] = PASSIVE.exec(line) ?? [];
    if (act !== undefined) return { kind: kindOf(act), by: personName(by), to: personName(to) };
    const [, person, done] = ACTIVE.exec(line) ?? [];
    if (done !== undefined) return { kind: kindOf(done), by: personName(person), to: null };
  }
  return { kind: 'echo', by: null, to: null };
}

const kindOf = (act: string): PageNews['kind'] => acts[act.toLowerCase() as keyof typeof acts];
