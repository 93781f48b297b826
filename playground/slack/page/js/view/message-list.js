import { isSystem } from '../core/select-state.js';
import { dayLabel } from '../core/time.js';
import { html } from '../core/dom.js';
import { messageRow } from './message.js';

/** @typedef {import('../app.js').App} App @typedef {import('../core/types.js').Message} Message @typedef {{ message: Message, ephemeral: boolean }} Entry */

/** Messages of one author within this many seconds stand under one name. */
const GROUP_SECONDS = 300;

/**
 * Messages with day lines, the unread line, and grouping.
 * @param {App} app
 * @param {Entry[]} entries
 * @param {'channel' | 'thread'} place
 * @returns {import('../core/types.js').Child}
 */
export function messageList(app, entries, place) {
  let lastDay = '';
  let unreadShown = place === 'thread' || app.ui.unreadFrom === undefined;
  /** @type {Entry | undefined} */
  let before;
  // One flat list, so that Preact finds each row again by its key.
  return entries.flatMap((entry) => {
    const { message } = entry;
    const day = dayLabel(message.ts);
    const newDay = place === 'channel' && day !== lastDay;
    lastDay = day;
    const isFirstUnread = !unreadShown && message.ts > (app.ui.unreadFrom ?? '') && message.user !== app.ui.viewer;
    if (isFirstUnread) unreadShown = true;
    const compact = !newDay && !isFirstUnread && before !== undefined && grouped(before, entry);
    before = entry;
    return [
      newDay && html`<div key="day-${day}" class="day-line" role="separator"><span>${day}</span></div>`,
      isFirstUnread &&
        html`<div key="unread" class="unread-line" role="separator" aria-label="New messages"><span>New</span></div>`,
      messageRow(app, message, { place, ephemeral: entry.ephemeral, compact }),
    ];
  });
}

/** @param {Entry} before @param {Entry} after */
function grouped(before, after) {
  const a = before.message;
  const b = after.message;
  if (before.ephemeral || after.ephemeral || isSystem(a) || isSystem(b)) return false;
  if (isCard(b)) return false;
  if (b.subtype === 'thread_broadcast' || (a.reply_count ?? 0) > 0) return false;
  const same = a.user === b.user && a.bot_id === b.bot_id && a.username === b.username;
  return same && Number(b.ts) - Number(a.ts) < GROUP_SECONDS;
}

/** An app's card stands under its own name, with room around it. @param {Message} message */
function isCard(message) {
  return message.bot_id !== undefined && ((message.blocks?.length ?? 0) > 1 || (message.attachments?.length ?? 0) > 0);
}
