import { html } from '../core/dom.js';
import { withEmoji } from '../text/emoji.js';
import { link } from '../text/entities.js';
import { richText } from '../text/rich-text.js';
import { list, text } from './fields.js';

/** plan and task_card: what an agent is doing. */

/** @typedef {import('../core/types.js').Ctx} Ctx @typedef {import('../core/types.js').Block} Block */

/** @type {Record<string, string>} */
const STATUS_WORDS = { pending: 'Waiting', in_progress: 'Running', complete: 'Done', error: 'Failed' };

/** Open while something is still to be done, then folded; a press says otherwise. @param {Ctx} ctx @param {Block} block */
export function plan(ctx, block) {
  const tasks = list(block.tasks);
  const done = tasks.filter((task) => task.status === 'complete').length;
  const ended = tasks.filter((task) => task.status === 'complete' || task.status === 'error').length;
  const key = `plan:${text(block.block_id)}`;
  const open = ctx.local.get(key) ?? ended < tasks.length;
  return html`<div class="b-plan">
    <button type="button" class="plan-head" aria-expanded=${open} data-testid="plan-toggle" onClick=${() => ctx.local.set(key, !open)}>
      <span class="chevron${open ? ' is-open' : ''}" aria-hidden="true" />
      <span class="plan-title">${withEmoji(text(block.title))}</span>
      ${tasks.length > 0 && html`<span class="plan-count">${done} of ${tasks.length}</span>`}
    </button>
    ${tasks.length > 0 &&
      html`<div class="plan-bar" aria-hidden="true"><span style=${{ '--done': `${(100 * done) / tasks.length}%` }} /></div>`}
    ${open &&
      html`<ol class="plan-tasks">
        ${tasks.map((task, i) => html`<li key=${text(task.task_id) || i}>${taskCard(ctx, task, true)}</li>`)}
      </ol>`}
  </div>`;
}

/** @param {Ctx} ctx @param {Block} block @param {boolean} [nested] */
export function taskCard(ctx, block, nested = false) {
  const status = text(block.status) in STATUS_WORDS ? text(block.status) : 'pending';
  const sources = list(block.sources);
  return html`<div class="task task-${status}${nested ? '' : ' task-alone'}">
    <span class="task-mark" role="img" aria-label=${STATUS_WORDS[status]} />
    <div class="task-body">
      <div class="task-title">${withEmoji(text(block.title))}</div>
      ${block.details && html`<details class="task-output">
        <summary>Details</summary>
        ${richText(ctx, block.details)}
      </details>`}
      ${block.output && html`<details class="task-output">
        <summary>Output</summary>
        ${richText(ctx, block.output)}
      </details>`}
      ${sources.length > 0 &&
        html`<div class="task-sources">
          ${sources.map((source) => link(ctx, text(source.url), [text(source.text) || text(source.url)], 'source-chip'))}
        </div>`}
    </div>
  </div>`;
}
