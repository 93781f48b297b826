/**
 * Slack's limits as numbers, in characters or items unless said otherwise; where each is from stands in `SOURCES`.
 * Where sources disagree, the stricter number stands: what passes here must pass there.
 */
export const LIMITS = {
  message: {
    blocks: 50,
    attachments: 100,
    /** All text in all blocks together; Slack refuses somewhere between 12,000 and 13,200. */
    blockText: 12_000,
    /** Longer `text` is cut by `chat.postMessage`. */
    textTruncated: 40_000,
    /** Longer `text` is refused by `chat.update`. */
    updateText: 4000,
    markdownText: 12_000,
    /** A streamed message as a whole, in bytes of UTF-8. */
    streamBytes: 10_600,
    metadataBytes: 65_536,
  },
  view: {
    blocks: 100,
    title: 24,
    submit: 24,
    close: 24,
    privateMetadata: 3000,
    callbackId: 255,
    externalId: 255,
    stack: 3,
    /** Bytes of the view as JSON. */
    bytes: 250_000,
  },
  id: 255,
  text: 3000,
  sectionFields: 10,
  sectionField: 2000,
  header: 150,
  actions: 25,
  context: 10,
  contextActions: 5,
  button: { text: 75, value: 2000, url: 3000, label: 75 },
  confirm: { title: 100, text: 300, button: 30 },
  option: { text: 75, value: 150, description: 75, url: 3000 },
  select: { options: 100, groups: 100, groupLabel: 75, placeholder: 150 },
  overflow: 5,
  choices: 10,
  input: { label: 2000, hint: 2000, maxLength: 3000 },
  image: { url: 3000, alt: 2000, title: 2000 },
  markdown: 12_000,
  table: { rows: 100, columns: 20, text: 10_000 },
  dataTable: { rows: 101, columns: 20, text: 20_000, pageSize: 100 },
  card: { title: 150, subtitle: 150, body: 200, actions: 3 },
  carousel: 10,
  container: { children: 10, title: 150 },
  /** `points` is how many categories a chart has, and with it how many values each of its series. */
  chart: { perMessage: 2, title: 50, label: 20, axis: 50, series: 6, points: 20, segments: 6 },
  plan: { tasks: 48, title: 3000 },
  alert: 200,
  iconButtonUsers: 10,
  video: { title: 200, description: 200, author: 50 },
} as const;

const docs = 'docs.slack.dev/reference';
const block = (name: string): string => `${docs}/block-kit/blocks/${name}-block`;
const element = (name: string): string => `${docs}/block-kit/block-elements/${name}-element`;
const object = (name: string): string => `${docs}/block-kit/composition-objects/${name}-object`;

/** Where each of the limits is written down. `@slack/types` is version 3.2, its comments. */
export const SOURCES = {
  message: `${docs}/methods/chat.postMessage, chat.update; the total text: slackapi/bolt-js issues 2509 and 2867`,
  view: `${docs}/views; its bytes: slackapi/bolt-js issue 2867`,
  id: `${docs}/block-kit/blocks`,
  text: object('text'),
  sectionFields: block('section'),
  sectionField: block('section'),
  header: block('header'),
  actions: block('actions'),
  context: block('context'),
  contextActions: block('context-actions'),
  button: element('button'),
  confirm: object('confirmation-dialog'),
  option: object('option'),
  select: element('select-menu'),
  overflow: element('overflow-menu'),
  choices: element('checkboxes'),
  input: block('input'),
  image: block('image'),
  markdown: block('markdown'),
  table: block('table'),
  dataTable: block('data-table'),
  card: block('card'),
  carousel: block('carousel'),
  container: block('container'),
  chart: `${block('data-visualization')}; another copy allows 12 series and segments`,
  plan: `${block('plan')}; the titles have no documented limit and are held to that of any text`,
  alert: block('alert'),
  iconButtonUsers: element('icon-button'),
  video: block('video'),
} as const satisfies Record<keyof typeof LIMITS, string>;
