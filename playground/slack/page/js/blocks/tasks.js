import { h } from '../core/vdom.js';
import { withEmoji } from '../text/emoji.js';
import { link } from '../text/entities.js';
import { richText } from '../text/rich-text.js';
import { list, text } from './fields.js';

/** plan and task_card: what an agent is doing. */

/** @typedef {import('../core/types.js').Ctx} Ctx @typedef {import('../core/types.js').Block} Block */

/** @type {Record<string, string>} */
const STATUS_WORDS = { pending: 'Waiting', in_progress: 'Running', complete: 'Done', error: 'Failed' };

/**
 * @param {Ctx} ctx
 * @param {Block} block
 */
export function plan(ctx, block) {
  const tasks = list(block.tasks);
  const done = tasks.filter((task) => task.status === 'complete').length;
  return h(
    'div',
    { class: 'b-plan' },
    h(
      'div',
      { class: 'plan-head' },
      h('span', { class: 'plan-title' }, withEmoji(text(block.title))),
      tasks.length > 0 && h('span', { class: 'plan-count' }, `${done} of ${tasks.length}`),
    ),
    tasks.length > 0 &&
      h(
        'div',
        { class: 'plan-bar', 'aria-hidden': 'true' },
        h('span', { style: { '--done': `${(100 * done) / tasks.length}%` } }),
      ),
    h(
      'ol',
      { class: 'plan-tasks' },
      tasks.map((task, i) => h('li', { key: text(task.task_id) || i }, taskCard(ctx, task, true))),
    ),
  );
}

/**
 * @param {Ctx} ctx
 * @param {Block} block
 * @param {boolean} [nested]
 */
export function taskCard(ctx, block, nested = false) {
  const status = text(block.status) in STATUS_WORDS ? text(block.status) : 'pending';
  const sources = list(block.sources);
  return h(
    'div',
    { class: `task task-${status}${nested ? '' : ' task-alone'}` },
    h('span', { class: 'task-mark', role: 'img', 'aria-label': STATUS_WORDS[status] }),
    h(
      'div',
      { class: 'task-body' },
      h('div', { class: 'task-title' }, withEmoji(text(block.title))),
      block.details && h('div', { class: 'task-details' }, richText(ctx, block.details)),
      block.output && h('details', { class: 'task-output' }, h('summary', null, 'Output'), richText(ctx, block.output)),
      sources.length > 0 &&
        h(
          'div',
          { class: 'task-sources' },
          sources.map((source) => link(ctx, text(source.url), [text(source.text) || text(source.url)], 'source-chip')),
        ),
    ),
  );
}
