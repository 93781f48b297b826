import { LIMITS } from '../limits.ts';
import {
  actionsElement,
  buttonElement,
  contextActionsElement,
  imageElement,
  inputElement,
  sectionAccessory,
} from './elements.ts';
import { anyText, mrkdwn, plainText } from './objects.ts';
import {
  among,
  anything,
  boolean,
  both,
  byType,
  fields,
  isRecord,
  list,
  needsOneOf,
  number,
  type Rule,
  string,
  url,
} from './rules.ts';

/** Where blocks are shown: some are for messages only. */
export type Surface = 'message' | 'modal' | 'home';

const MESSAGE_ONLY = new Set([
  'container',
  'context_actions',
  'data_table',
  'data_visualization',
  'markdown',
  'plan',
  'table',
  'task_card',
]);

function block(required: Record<string, Rule>, optional: Record<string, Rule> = {}): Rule {
  return fields({ type: anything, ...required }, { block_id: string(LIMITS.id), ...optional });
}

const richTextPart = byType(() => ({
  rich_text_section: fields({ type: anything, elements: list(anything, 1000, 0) }),
  rich_text_list: fields(
    { type: anything, elements: list(anything, 1000, 0), style: among('bullet', 'ordered') },
    { indent: number(0, 8), border: number(0, 1), offset: number(0, 10_000) },
  ),
  rich_text_quote: fields({ type: anything, elements: list(anything, 1000, 0) }, { border: number(0, 1) }),
  rich_text_preformatted: fields(
    { type: anything, elements: list(anything, 1000, 0) },
    { border: number(0, 1), language: string(50) },
  ),
}));
const richText = block({ elements: list(richTextPart, 1000, 0) });
const richTextOnly = byType(() => ({ rich_text: richText }));

const cell = byType(() => ({
  raw_text: fields({ type: anything, text: string(LIMITS.table.text, 0) }),
  raw_number: fields({ type: anything, value: anything, text: string(100, 0) }),
  rich_text: richText,
}));

function table(limits: { rows: number; columns: number; text: number }, minRows: number): Rule {
  const rows = list(list(cell, limits.columns), limits.rows, minRows);
  return (value, at, problems) => {
    rows(value, at, problems);
    if (textLength(value) > limits.text) {
      problems.push({ message: `must be less than ${limits.text + 1} characters`, at });
    }
  };
}

const image = both(
  block(
    { alt_text: string(LIMITS.image.alt) },
    { title: plainText(LIMITS.image.title), image_url: url(LIMITS.image.url), slack_file: anything },
  ),
  needsOneOf(['image_url', 'slack_file'], true),
);

const source = fields({ type: anything, url: url(3000), text: string(255) });
const taskCard = block(
  {
    task_id: string(255),
    title: string(LIMITS.plan.title),
    status: among('pending', 'in_progress', 'complete', 'error'),
  },
  { details: richTextOnly, output: richTextOnly, sources: list(source, 100, 0) },
);

const card = both(
  block(
    {},
    {
      hero_image: imageElement,
      icon: imageElement,
      title: mrkdwn(LIMITS.card.title),
      subtitle: mrkdwn(LIMITS.card.subtitle),
      body: mrkdwn(LIMITS.card.body),
      actions: list(buttonElement, LIMITS.card.actions),
    },
  ),
  needsOneOf(['hero_image', 'title', 'body', 'actions']),
);

const label = string(LIMITS.chart.label);
const point = fields({ label, value: number(-Number.MAX_VALUE, Number.MAX_VALUE) });
const seriesChart = both(
  fields({
    type: anything,
    series: list(fields({ name: label, data: list(point, LIMITS.chart.points) }), LIMITS.chart.series),
    axis_config: fields(
      { categories: list(label, LIMITS.chart.points) },
      { x_label: string(LIMITS.chart.axis), y_label: string(LIMITS.chart.axis) },
    ),
  }),
  (value, at, problems) => {
    if (!isRecord(value) || !isRecord(value['axis_config']) || !Array.isArray(value['series'])) return;
    const { categories } = value['axis_config'];
    const series = value['series'].filter(isRecord);
    if (new Set(series.map(({ name }) => name)).size < series.length)
      problems.push({ message: 'series names must be unique', at: `${at}/series` });
    series.forEach(({ data }, index) => {
      const labels = Array.isArray(data) ? data.filter(isRecord).map((each) => each['label']) : [];
      if (JSON.stringify(labels) !== JSON.stringify(categories))
        problems.push({ message: 'must have one value for each category', at: `${at}/series/${index}/data` });
    });
  },
);
const segment = fields({ label, value: number(Number.MIN_VALUE, Number.MAX_VALUE) });
const chart = byType(() => ({
  area: seriesChart,
  bar: seriesChart,
  line: seriesChart,
  pie: fields({ type: anything, segments: list(segment, LIMITS.chart.segments) }),
}));

const BLOCKS: Readonly<Record<string, Rule>> = {
  actions: block({ elements: list(actionsElement, LIMITS.actions) }),
  alert: block(
    { text: anyText(LIMITS.alert) },
    { level: among('default', 'info', 'warning', 'error', 'success') },
  ),
  card,
  carousel: block({
    elements: list(
      byType(() => ({ card })),
      LIMITS.carousel,
    ),
  }),
  container: both(
    block(
      {
        child_blocks: list(
          byType(() => containerChildren),
          LIMITS.container.children,
        ),
      },
      {
        title: plainText(LIMITS.container.title),
        rich_text_title: richTextOnly,
        subtitle: anyText(LIMITS.container.title),
        width: among('narrow', 'standard', 'wide', 'full'),
        icon: imageElement,
        is_collapsible: boolean,
        default_collapsed: boolean,
        has_header_divider: boolean,
      },
    ),
    both(needsOneOf(['title', 'rich_text_title']), (value, at, problems) => {
      if (isRecord(value) && value['default_collapsed'] === true && value['is_collapsible'] !== true)
        problems.push({ message: 'default_collapsed needs is_collapsible', at });
    }),
  ),
  context: block({
    elements: list(
      (value, at, problems) =>
        (isRecord(value) && value['type'] === 'image' ? imageElement : anyText(LIMITS.text))(
          value,
          at,
          problems,
        ),
      LIMITS.context,
    ),
  }),
  context_actions: block({ elements: list(contextActionsElement, LIMITS.contextActions) }),
  data_table: block(
    { rows: table(LIMITS.dataTable, 2), caption: string(LIMITS.text) },
    {
      page_size: number(1, LIMITS.dataTable.pageSize),
      row_header_column_index: number(0, LIMITS.dataTable.columns),
    },
  ),
  data_visualization: block({ title: string(LIMITS.chart.title), chart }),
  divider: block({}),
  file: block({ source: among('remote'), external_id: string(LIMITS.id) }),
  header: block({ text: plainText(LIMITS.header) }),
  image,
  input: block(
    { label: plainText(LIMITS.input.label), element: inputElement },
    { hint: plainText(LIMITS.input.hint), optional: boolean, dispatch_action: boolean },
  ),
  markdown: block({ text: string(LIMITS.markdown) }),
  plan: block(
    { title: string(LIMITS.plan.title) },
    {
      tasks: list(
        byType(() => ({ task_card: taskCard })),
        LIMITS.plan.tasks,
        0,
      ),
    },
  ),
  rich_text: richText,
  section: both(
    block(
      {},
      {
        text: anyText(LIMITS.text),
        fields: list(anyText(LIMITS.sectionField), LIMITS.sectionFields),
        accessory: sectionAccessory,
        expand: boolean,
      },
    ),
    needsOneOf(['text', 'fields']),
  ),
  table: block(
    { rows: table(LIMITS.table, 1) },
    {
      column_settings: list(
        (value, at, problems) => {
          // `null` skips a column.
          if (value === null) return;
          fields({}, { align: among('left', 'center', 'right'), is_wrapped: boolean })(value, at, problems);
        },
        LIMITS.table.columns,
        0,
      ),
    },
  ),
  task_card: taskCard,
  video: block(
    {
      alt_text: string(LIMITS.image.alt),
      title: plainText(LIMITS.video.title),
      thumbnail_url: url(3000),
      video_url: url(3000),
    },
    {
      title_url: url(3000),
      author_name: string(LIMITS.video.author),
      provider_name: string(255),
      provider_icon_url: url(3000),
      description: plainText(LIMITS.video.description),
    },
  ),
};

const CONTAINER_CHILDREN =
  'actions context divider file header image input rich_text section table video'.split(' ');
const containerChildren: Readonly<Record<string, Rule>> = Object.fromEntries(
  CONTAINER_CHILDREN.flatMap((name) => {
    const rule = BLOCKS[name];
    return rule === undefined ? [] : [[name, rule] as const];
  }),
);

const forMessages = BLOCKS;
const forViews = Object.fromEntries(Object.entries(BLOCKS).filter(([name]) => !MESSAGE_ONLY.has(name)));

/** One block on a surface. */
export function blockOn(surface: Surface): Rule {
  return byType(() => (surface === 'message' ? forMessages : forViews));
}

/** Characters of everything a reader sees: each `text` that is a string, wherever it stands. */
export function textLength(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, each) => sum + textLength(each), 0);
  if (!isRecord(value)) return 0;
  let sum = 0;
  for (const [name, each] of Object.entries(value)) {
    if (name === 'text' && typeof each === 'string') sum += each.length;
    else sum += textLength(each);
  }
  return sum;
}
