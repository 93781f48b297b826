import { act } from '../core/connection.js';
import { html } from '../core/dom.js';
import { decodeTyped } from '../text/typed.js';

/** @typedef {import('../app.js').App} App @typedef {import('../core/types.js').Message} Message */

/** A message being edited by its author. @param {App} app @param {Message} message */
export function editor(app, message) {
  const key = `edit:${message.channel}:${message.ts}`;
  const before = decodeTyped(app.data, message.text);
  const value = app.ui.drafts[key] ?? before;
  const done = () => {
    const { [key]: _, ...drafts } = app.ui.drafts;
    app.set({ editing: undefined, drafts });
  };
  const save = async () => {
    const text = (app.ui.drafts[key] ?? before).trim();
    if (text === '' || text === before) return done();
    const answer = await app.report(
      act('message.edit', { userId: app.ui.viewer, channel: message.channel, ts: message.ts, text }),
    );
    if (answer.ok) done();
  };
  return html`<div class="editor">
    <textarea class="text-input" rows="2" value=${value} aria-label="Edit message"
      hook=${{ mount: (/** @type {HTMLTextAreaElement} */ el) => setTimeout(() => el.focus()) }}
      onInput=${(/** @type {Event} */ event) =>
        app.set({
          drafts: { ...app.ui.drafts, [key]: /** @type {HTMLTextAreaElement} */ (event.currentTarget).value },
        })}
      onKeydown=${(/** @type {KeyboardEvent} */ event) => {
        if (event.key === 'Escape') done();
        if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
          event.preventDefault();
          void save();
        }
      }} />
    <div class="b-actions">
      <button type="button" class="btn btn-small" onClick=${done}>Cancel</button>
      <button type="button" class="btn btn-small btn-primary" onClick=${() => void save()}>Save</button>
    </div>
  </div>`;
}
