import { act } from '../core/connection.js';
import { html } from '../core/dom.js';
import { icon } from '../core/icons.js';
import { applyFrame } from '../core/store.js';
import { fullTime } from '../core/time.js';

/** @typedef {import('../app.js').App} App @typedef {import('../app.js').Replay} Replay */

const SPEEDS = [1, 10, 60];
/** What runs until the next frame. @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** Plays a thread again as it came to be. What is shown is read once: nothing live is asked, and nothing in it can be pressed. @param {App} app @param {string} channel @param {string} thread */
export async function startReplay(app, channel, thread) {
  const answer = await app.report(act('thread.recording', { userId: app.ui.viewer, channel, thread_ts: thread }));
  if (!answer.ok) return;
  const frames = answer.frames ?? [];
  if (frames.length === 0) {
    app.toast('Nothing to replay: this thread is from before the last start.');
    return;
  }
  app.set({ replay: { channel, thread, frames, shown: 1, speed: 10, playing: true } });
  schedule(app);
}

/** @param {App} app */
export function endReplay(app) {
  clearTimeout(timer);
  app.set({ replay: undefined });
}

/** The replay of this very thread, if one is on. @param {App} app @param {string} channel @param {string} thread */
export function replayOf(app, channel, thread) {
  const { replay } = app.ui;
  return replay?.channel === channel && replay.thread === thread ? replay : undefined;
}

/** The page as it was then: for drawing only. @param {App} app @param {Replay} replay @returns {App} */
export function asItWas(app, { frames, shown }) {
  // What only one person was told is of now.
  const snapshot = app.data.snapshot && { ...app.data.snapshot, ephemerals: [] };
  const empty = { ...app.data, snapshot, messages: new Map() };
  const data = frames
    .slice(0, shown)
    .reduce((now, { message }) => applyFrame(now, { type: 'message', message }), empty);
  return Object.create(app, { data: { value: data } });
}

/** @param {App} app @param {Partial<Replay>} change */
function change(app, change) {
  const { replay } = app.ui;
  if (!replay) return;
  app.set({ replay: { ...replay, ...change } });
  schedule(app);
}

/** The next frame, after as long as it took then, by the speed. @param {App} app */
function schedule(app) {
  clearTimeout(timer);
  const { replay } = app.ui;
  if (!replay?.playing) return;
  const { frames, shown, speed } = replay;
  const next = frames[shown];
  if (!next) return change(app, { playing: false });
  const took = next.atMs - (frames[shown - 1]?.atMs ?? next.atMs);
  timer = setTimeout(() => change(app, { shown: shown + 1 }), took / speed);
}

/** Says that this is a replay, and steers it. @param {App} app @param {Replay} replay */
export function replayBar(app, replay) {
  const { frames, shown, speed, playing } = replay;
  const isOver = shown >= frames.length;
  const at = frames[shown - 1]?.atMs ?? 0;
  return html`<section class="replay" aria-label="Replay" data-testid="replay"
    onKeydown=${(/** @type {KeyboardEvent} */ event) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      endReplay(app);
    }}>
    <p class="replay-says">
      <strong>Replay</strong>${' '}of what happened. Nothing here is live, and nothing can be pressed.
      <span class="replay-at" data-testid="replay-at">
        ${`${shown} of ${frames.length} · ${fullTime(String(at / 1000))}`}
      </span>
    </p>
    <div class="replay-buttons">
      <button type="button" class="btn btn-small" data-testid="replay-play"
        hook=${{ mount: (/** @type {HTMLElement} */ el) => setTimeout(() => el.focus({ preventScroll: true })) }}
        onClick=${() => change(app, isOver ? { shown: 1, playing: true } : { playing: !playing })}>
        ${isOver ? 'Again' : playing ? 'Pause' : 'Play'}
      </button>
      <button type="button" class="btn btn-small" disabled=${isOver} data-testid="replay-step"
        onClick=${() => change(app, { shown: shown + 1, playing: false })}>
        Step
      </button>
      ${SPEEDS.map(
        (each) => html`<button key=${each} type="button" class="btn btn-small" aria-pressed=${String(each === speed)}
          aria-label="Speed ${each}" data-testid="replay-speed-${each}" onClick=${() => change(app, { speed: each })}>
          ${`${each}×`}
        </button>`,
      )}
      <button type="button" class="btn btn-small" data-testid="replay-end" onClick=${() => endReplay(app)}>
        ${icon('close', 'icon btn-svg')}
        Back to now
      </button>
    </div>
  </section>`;
}
