import { act } from '../core/connection.js';
import { icon } from '../core/icons.js';
import { html } from '../core/dom.js';
import { applySuggestion, suggestionsFor } from './suggestions.js';

/** @typedef {import('../app.js').App} App @typedef {import('../core/types.js').Channel} Channel @typedef {{ channel: Channel, thread: string | undefined }} Target */

/**
 * Where one writes: Enter sends, Shift+Enter breaks the line, `/` offers commands, `@` people, `#` channels.
 * @param {App} app
 * @param {Target} target
 */
export function composer(app, target) {
  const key = `${app.ui.viewer}:${target.channel.id}:${target.thread ?? ''}`;
  const value = app.ui.drafts[key] ?? '';
  const offers = suggestionsFor(app, value, target.thread !== undefined);
  const active = Math.min(app.ui.suggestions[key] ?? 0, Math.max(0, offers.length - 1));
  const listId = `suggest-${target.thread === undefined ? 'channel' : 'thread'}`;
  const setDraft = (/** @type {string} */ text) =>
    app.set({ drafts: { ...app.ui.drafts, [key]: text }, suggestions: { ...app.ui.suggestions, [key]: 0 } });
  const take = (/** @type {number} */ index) => {
    const offer = offers[index];
    if (!offer) return;
    app.setNow({
      drafts: { ...app.ui.drafts, [key]: applySuggestion(value, offer) },
      suggestions: { ...app.ui.suggestions, [key]: 0 },
    });
  };
  return html`<form class="composer"
    onSubmit=${(/** @type {Event} */ event) => {
      event.preventDefault();
      void send(app, target, key);
    }}>
    ${offers.length > 0 && suggestionList(offers, active, listId, take)}
    <div class="composer-box">
      <textarea
        key=${key} class="composer-input" rows="1" value=${value} placeholder=${placeholder(app, target)}
        aria-label=${placeholder(app, target)} aria-autocomplete="list"
        aria-controls=${offers.length > 0 ? listId : undefined}
        aria-activedescendant=${offers.length > 0 ? `${listId}-${active}` : undefined}
        data-testid=${target.thread === undefined ? 'composer' : 'thread-composer'} maxlength="12000"
        hook=${{ mount: (/** @type {HTMLTextAreaElement} */ el) => setTimeout(() => grow(el)), update: grow }}
        onInput=${(/** @type {Event} */ event) =>
          setDraft(/** @type {HTMLTextAreaElement} */ (event.currentTarget).value)}
        onKeydown=${(/** @type {KeyboardEvent} */ event) => {
          if (event.isComposing) return;
          if (offers.length > 0 && steer(app, event, { key, offers, active, take, value })) return;
          if (event.key === 'Enter' && !event.shiftKey) {
            event.preventDefault();
            void send(app, target, key);
          }
        }} />
      <button type="submit" class="send${value.trim() === '' ? '' : ' is-ready'}" aria-label="Send"
        disabled=${value.trim() === ''} data-testid=${target.thread === undefined ? 'send' : 'thread-send'}>
        ${icon('send')}
      </button>
    </div>
    <p class="composer-hint" aria-hidden="true">
      <kbd>Enter</kbd>
      ${' to send · '}
      <kbd>Shift + Enter</kbd>
      ${' for a new line'}
    </p>
  </form>`;
}

/** @param {App} app @param {Target} target */
function placeholder(app, target) {
  if (target.thread !== undefined) return 'Reply…';
  if (!target.channel.is_im) return `Message #${target.channel.name}`;
  return 'Message the app';
}

/** @param {HTMLTextAreaElement} el */
function grow(el) {
  el.style.setProperty('height', 'auto');
  // Nothing can be measured while the column is hidden (phone); it stays one line until it is typed in.
  if (el.scrollHeight > 0) el.style.setProperty('height', `${Math.min(el.scrollHeight, 220)}px`);
}

/**
 * Keys while suggestions are shown. True when the key was used.
 * @param {App} app
 * @param {KeyboardEvent} event
 * @param {{ key: string, offers: import('./suggestions.js').Suggestion[], active: number, take: (index: number) => void, value: string }} at
 */
function steer(app, event, { key, offers, active, take, value }) {
  const move = (/** @type {number} */ to) =>
    app.set({ suggestions: { ...app.ui.suggestions, [key]: (to + offers.length) % offers.length } });
  const complete = offers[active]?.insert.trim() === value.trim();
  if (event.key === 'ArrowDown') move(active + 1);
  else if (event.key === 'ArrowUp') move(active - 1);
  else if (event.key === 'Tab' || (event.key === 'Enter' && !event.shiftKey && !complete)) take(active);
  else return false;
  event.preventDefault();
  return true;
}

/**
 * @param {import('./suggestions.js').Suggestion[]} offers
 * @param {number} active
 * @param {string} id
 * @param {(index: number) => void} take
 */
function suggestionList(offers, active, id, take) {
  return html`<ul class="suggestions" role="listbox" id=${id} aria-label="Suggestions" data-testid="suggestions">
    ${offers.map((offer, i) =>
      html`<li
        key=${offer.insert} id="${id}-${i}" role="option" class=${i === active ? 'suggestion is-active' : 'suggestion'}
        aria-selected=${i === active}
        onMousedown=${(/** @type {MouseEvent} */ event) => {
          event.preventDefault();
          take(i);
        }}>
        <span class="suggestion-name">${offer.label}</span>
        <span class="suggestion-detail">${offer.detail}</span>
      </li>`,
    )}
  </ul>`;
}

/** @param {App} app @param {Target} target @param {string} key */
async function send(app, target, key) {
  const typed = (app.ui.drafts[key] ?? '').trim();
  if (typed === '') return;
  const isCommand = /^\/[a-z]/i.test(typed);
  if (isCommand && target.thread !== undefined)
    return app.toast('Slash commands do not work in threads, as in Slack. Use the channel.', 'error');
  app.setNow({ drafts: { ...app.ui.drafts, [key]: '' } });
  const userId = app.ui.viewer;
  const channel = target.channel.id;
  const answer = isCommand
    ? await app.report(act('command.run', { userId, channel, text: typed }))
    : await app.report(
        act('message.post', {
          userId,
          channel,
          text: typed,
          ...(target.thread === undefined ? {} : { thread_ts: target.thread }),
        }),
      );
  if (answer.ok && !isCommand) openConversation(app, target, answer.ts);
  // A refused message is given back, unless something new was typed meanwhile.
  if (!answer.ok && (app.ui.drafts[key] ?? '') === '') app.set({ drafts: { ...app.ui.drafts, [key]: typed } });
}

/**
 * In a direct message with an agent each message begins a conversation of its own, and is answered in its thread.
 * @param {App} app
 * @param {Target} target
 * @param {string | undefined} ts
 */
function openConversation(app, target, ts) {
  if (target.channel.is_im && target.thread === undefined && ts !== undefined)
    app.go({ channel: target.channel.id, thread: ts });
}

/** Sends a suggested prompt as this person's message. @param {App} app @param {Channel} channel @param {string} text */
export async function sayInDirect(app, channel, text) {
  const answer = await app.report(act('message.post', { userId: app.ui.viewer, channel: channel.id, text }));
  if (answer.ok) openConversation(app, { channel, thread: undefined }, answer.ts);
}
