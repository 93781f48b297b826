import { openMenu } from '../context.js';
import { act } from '../core/connection.js';
import { icon } from '../core/icons.js';
import { html } from '../core/dom.js';
import { emojiFor, QUICK_REACTIONS } from '../text/emoji.js';
import { unescape } from '../text/mrkdwn.js';

/** @typedef {import('../app.js').App} App @typedef {import('../core/types.js').Message} Message */

/**
 * What one can do with a message; shown on hover and focus, always reachable by keyboard.
 * @param {App} app
 * @param {Message} message
 * @param {{ place: 'channel' | 'thread' }} placement
 */
export function toolbar(app, message, placement) {
  const id = { userId: app.ui.viewer, channel: message.channel, ts: message.ts };
  return html`<div class="toolbar" role="toolbar" aria-label="Message actions">
    ${QUICK_REACTIONS.slice(0, 2).map((name) =>
      tool(
        `React with ${name}`,
        emojiFor(name) ?? name,
        () => void app.report(act('reaction.toggle', { ...id, name })),
        `react-${name}`,
      ),
    )}
    <button type="button" class="tool" title="Add a reaction" aria-label="Add a reaction"
      onClick=${(/** @type {MouseEvent} */ event) =>
        openMenu(app, /** @type {Element} */ (event.currentTarget), {
          label: 'Add a reaction',
          groups: [
            {
              options: QUICK_REACTIONS.map((name) => ({
                value: name,
                text: `${emojiFor(name)}  ${name.replaceAll('_', ' ')}`,
              })),
            },
          ],
          pick: ([name = '']) => void app.report(act('reaction.toggle', { ...id, name })),
        })}>
      ${icon('smile')}
    </button>
    ${placement.place === 'channel' &&
      tool(
        'Reply in thread',
        icon('thread'),
        () => app.go({ channel: message.channel, thread: message.thread_ts ?? message.ts }),
        `reply-${message.ts}`,
      )}
    <button type="button" class="tool" title="More actions" aria-label="More actions" data-testid="more-${message.ts}"
      onClick=${(/** @type {MouseEvent} */ event) =>
        openMore(app, message, /** @type {Element} */ (event.currentTarget))}>
      ${icon('more')}
    </button>
  </div>`;
}

/**
 * @param {string} label
 * @param {import('../core/types.js').Child} body
 * @param {() => void} onClick
 * @param {string} testId
 */
function tool(label, body, onClick, testId) {
  return html`<button type="button" class="tool" title=${label} aria-label=${label} data-testid=${testId} onClick=${onClick}>
    ${body}
  </button>`;
}

/** @param {App} app @param {Message} message @param {Element} anchor */
function openMore(app, message, anchor) {
  const id = { userId: app.ui.viewer, channel: message.channel, ts: message.ts };
  const own = message.user === app.ui.viewer && message.bot_id === undefined;
  const shortcuts = (app.data.snapshot?.shortcuts ?? []).filter((one) => one.type === 'message');
  openMenu(app, anchor, {
    label: 'More actions',
    groups: [
      {
        options: [
          { value: 'link', text: 'Copy link' },
          { value: 'text', text: 'Copy text' },
          ...(own
            ? [
                { value: 'edit', text: 'Edit message' },
                { value: 'delete', text: 'Delete message…', danger: true },
              ]
            : []),
        ],
      },
      ...(shortcuts.length > 0
        ? [
            {
              label: 'Apps',
              options: shortcuts.map((one) => ({ value: `shortcut:${one.callback_id}`, text: one.name })),
            },
          ]
        : []),
    ],
    pick: ([value = '']) => {
      if (value === 'link') copy(app, permalink(message), 'Link copied.');
      else if (value === 'text') copy(app, unescape(message.text), 'Text copied.');
      else if (value === 'edit') app.set({ editing: { channel: message.channel, ts: message.ts } });
      else if (value === 'delete') void remove(app, id);
      else void app.report(act('shortcut.message', { ...id, callback_id: value.slice('shortcut:'.length) }));
    },
  });
}

/** @param {Message} message */
function permalink(message) {
  const thread = message.thread_ts && message.thread_ts !== message.ts ? `?thread_ts=${message.thread_ts}` : '';
  return `${location.origin}/archives/${message.channel}/p${message.ts.replace('.', '')}${thread}`;
}

/** @param {App} app @param {string} words @param {string} said */
function copy(app, words, said) {
  navigator.clipboard.writeText(words).then(
    () => app.toast(said),
    () => app.toast('The browser did not allow copying.', 'error'),
  );
}

/** @param {App} app @param {{ userId: string, channel: string, ts: string }} id */
async function remove(app, id) {
  const sure = await app.confirm({
    title: { type: 'plain_text', text: 'Delete message' },
    text: { type: 'plain_text', text: 'Delete this message? This cannot be undone.' },
    confirm: { type: 'plain_text', text: 'Delete' },
    deny: { type: 'plain_text', text: 'Keep' },
    style: 'danger',
  });
  if (sure) await app.report(act('message.delete', id));
}
