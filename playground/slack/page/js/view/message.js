import { renderAttachment } from '../blocks/attachment.js';
import { messageFile } from '../blocks/media.js';
import { renderBlocks } from '../blocks/render.js';
import { contextFor } from '../context.js';
import { act } from '../core/connection.js';
import { icon } from '../core/icons.js';
import { author, isSystem } from '../core/select-state.js';
import { clock, dayAndClock, fullTime, shortClock } from '../core/time.js';
import { html, Memo } from '../core/dom.js';
import { emojiFor } from '../text/emoji.js';
import { mrkdwn } from '../text/mrkdwn.js';
import { avatar } from './avatar.js';
import { editor } from './editor.js';
import { toolbar } from './message-toolbar.js';

/**
 * @typedef {import('../app.js').App} App @typedef {import('../core/types.js').Message} Message @typedef {import('../core/types.js').Child} Child
 * @typedef {{ place: 'channel' | 'thread', ephemeral: boolean, compact: boolean, isRoot?: boolean }} Placement
 */

/** @param {App} app @param {Message} message @param {Placement} placement */
export function messageRow(app, message, placement) {
  const scope = `${placement.place}:${app.ui.viewer}:${message.channel}:${message.ts}`;
  const editing = app.ui.editing?.ts === message.ts && app.ui.editing.channel === message.channel;
  const deps = [
    message,
    app.versions.get(scope),
    app.data.version,
    app.ui.viewer,
    placement.compact,
    placement.ephemeral,
    editing && app.ui.drafts,
    app.ui.focus === message.ts,
    app.data.snapshot?.pins[message.channel],
  ];
  const drawRow = () => draw(app, message, placement, scope, editing);
  return html`<${Memo} key=${message.ts} deps=${deps} draw=${drawRow} />`;
}

/**
 * @param {App} app
 * @param {Message} message
 * @param {Placement} placement
 * @param {string} scope
 * @param {boolean} editing
 */
function draw(app, message, placement, scope, editing) {
  const who = author(app.data, message);
  const ctx = contextFor(app, {
    scope,
    surface: 'message',
    container: { type: 'message', channel: message.channel, ts: message.ts },
  });
  const inThread = placement.place === 'thread';
  if (isSystem(message)) return systemRow(ctx, message, who.name);
  return html`<article key=${message.ts}
    class="message${placement.compact ? ' is-compact' : ''}${placement.ephemeral ? ' is-ephemeral' : ''}${app.ui.focus === message.ts ? ' is-focused' : ''}"
    data-ts=${message.ts}
    data-testid=${inThread && !placement.isRoot
      ? `thread-reply-${message.ts}`
      : `${inThread ? 'thread-root' : 'message'}-${message.ts}`}
    aria-label="${who.name}, ${dayAndClock(message.ts)}">
    ${placement.compact
      ? html`<time class="compact-time" title=${fullTime(message.ts)}>${shortClock(message.ts)}</time>`
      : html`<div class="message-avatar">${avatar(who)}</div>`}
    <div class="message-main">
      ${placement.ephemeral && onlyYou(app, message)}
      ${message.subtype === 'thread_broadcast' && !inThread && broadcastNote(app, message)}
      ${!placement.compact && byline(message, who)}
      ${editing ? editor(app, message) : body(ctx, message)}
      ${reactions(app, message)}
      ${!inThread && (message.reply_count ?? 0) > 0 && replyBar(app, message)}
    </div>
    ${!placement.ephemeral && toolbar(app, message, placement)}
  </article>`;
}

/** @param {import('../core/types.js').Ctx} ctx @param {Message} message @param {string} name */
function systemRow(ctx, message, name) {
  return html`<div class="message-system" data-ts=${message.ts}>
    <span>${mrkdwn(ctx, message.text === '' ? `${name}: ${message.subtype ?? ''}` : message.text)}</span>
    <time class="time" title=${fullTime(message.ts)}>${clock(message.ts)}</time>
  </div>`;
}

/** @param {Message} message @param {{ name: string, isApp: boolean }} who */
function byline(message, who) {
  return html`<div class="byline">
    <span class="author">${who.name}</span>
    ${who.isApp && html`<span class="app-badge">APP</span>`}
    <time class="time" title=${fullTime(message.ts)}>${clock(message.ts)}</time>
  </div>`;
}

/** @param {App} app @param {Message} message */
function onlyYou(app, message) {
  const dismiss = () =>
    void app.report(act('ephemeral.dismiss', { userId: app.ui.viewer, channel: message.channel, ts: message.ts }));
  return html`<div class="only-you">
    <span>👁  Only visible to you</span>
    <button type="button" class="text-button" data-testid="dismiss-${message.ts}" onClick=${dismiss}>Dismiss</button>
  </div>`;
}

/** @param {App} app @param {Message} message */
function broadcastNote(app, message) {
  const open = () => app.go({ channel: message.channel, thread: message.thread_ts ?? message.ts });
  return html`<button type="button" class="text-button broadcast-note" onClick=${open}>
    ${icon('thread')}
    replied to a thread
  </button>`;
}

/** @param {import('../core/types.js').Ctx} ctx @param {Message} message @returns {Child} */
function body(ctx, message) {
  const blocks = isTyped(message) ? [] : (message.blocks ?? []);
  const edited =
    message.edited && html`<span class="edited" title="Edited ${fullTime(message.edited.ts)}">(edited)</span>`;
  return html`<div class="message-body${message.streaming_state ? ' is-streaming' : ''}"
    aria-busy=${message.streaming_state ? 'true' : undefined}>
    ${blocks.length > 0
      ? renderBlocks(ctx, blocks)
      : message.text !== '' &&
          html`<div class="b-text">
            ${mrkdwn(ctx, message.text)}
            ${!message.streaming_state && edited && [' ', edited]}
          </div>`}
    ${(message.attachments ?? []).map((attachment, i) => html`<div key="a${i}">${renderAttachment(ctx, attachment)}</div>`)}
    ${(message.files ?? []).map((file) => html`<div key=${file.id}>${messageFile(ctx, file)}</div>`)}
    ${message.streaming_state && html`<span class="stream-cursor" role="status" aria-label="still writing" />`}
    ${(blocks.length > 0 || message.text === '') && !message.streaming_state && edited}
  </div>`;
}

/**
 * A person's own words: their `text` carries the same mentions as the rich text beside it, and formatting too.
 * @param {Message} message
 */
function isTyped(message) {
  return message.client_msg_id !== undefined && message.bot_id === undefined;
}

/** @param {App} app @param {Message} message */
function reactions(app, message) {
  const all = message.reactions ?? [];
  if (all.length === 0) return null;
  return html`<div class="reactions">
    ${all.map((reaction) => {
      const mine = reaction.users.includes(app.ui.viewer);
      const names = reaction.users.map((id) => app.data.users.get(id)?.real_name ?? id).join(', ');
      return html`<button key=${reaction.name} type="button" class="reaction${mine ? ' is-mine' : ''}" aria-pressed=${mine}
        title="${names} reacted with :${reaction.name}:" data-testid="reaction-${reaction.name}"
        onClick=${() => react(app, message, reaction.name)}>
        <span class="emoji">${emojiFor(reaction.name) ?? `:${reaction.name}:`}</span>
        <span class="reaction-count">${String(reaction.count)}</span>
      </button>`;
    })}
  </div>`;
}

/** @param {App} app @param {Message} message @param {string} name */
function react(app, message, name) {
  void app.report(act('reaction.toggle', { userId: app.ui.viewer, channel: message.channel, ts: message.ts, name }));
}

/** @param {App} app @param {Message} message */
function replyBar(app, message) {
  const count = message.reply_count ?? 0;
  const people = (message.reply_users ?? []).slice(0, 4);
  return html`<button type="button" class="reply-bar" data-testid="replies-${message.ts}"
    onClick=${() => app.go({ channel: message.channel, thread: message.ts })}>
    <span class="reply-avatars">${people.map((id) => avatar(replier(app, id), 'small'))}</span>
    <span class="reply-count">${count} ${count === 1 ? 'reply' : 'replies'}</span>
    ${message.latest_reply && html`<span class="reply-last">Last reply ${dayAndClock(message.latest_reply)}</span>`}
    <span class="reply-open">View thread</span>
  </button>`;
}

/** @param {App} app @param {string} id */
function replier(app, id) {
  const user = app.data.users.get(id) ?? [...app.data.users.values()].find((one) => one.profile.bot_id === id);
  return { id, name: user?.real_name ?? id, isApp: user?.is_bot === true || id.startsWith('B') };
}
