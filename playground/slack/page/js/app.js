import { act, connect } from './core/connection.js';
import { onPhone } from './core/dom.js';
import { readHash, readPermalink, writeHash } from './core/routing.js';
import { directMessage, visibleChannels } from './core/select-state.js';
import { applyFrame, emptyData } from './core/store.js';

/**
 * A thread that is played again; `shown`: how many of its frames are.
 * @typedef {{ channel: string, thread: string, frames: readonly import('./core/types.js').RecordedFrame[], shown: number, speed: number, playing: boolean }} Replay
 * @typedef {import('./core/types.js').Menu} Menu
 * @typedef {{
 *   connection: 'connecting' | 'open' | 'lost', retryAt: number,
 *   viewer: string, channel: string, thread: string | undefined, home: boolean, focus: string | undefined,
 *   pane: 'list' | 'main', unreadFrom: string | undefined,
 *   menu: { menu: Menu, rect: DOMRect, query: string, active: number, loaded: Menu['groups'] | undefined, chosen: string[] } | undefined,
 *   confirm: { object: any, answer: (yes: boolean) => void } | undefined,
 *   image: { url: string, alt: string } | undefined,
 *   faultsOpen: boolean,
 *   replay: Replay | undefined,
 *   toasts: { id: number, text: string, kind: 'notice' | 'error' }[],
 *   drafts: Record<string, string>, suggestions: Record<string, number>,
 *   editing: { channel: string, ts: string } | undefined,
 *   busy: ReadonlySet<string>, errors: Record<string, Record<string, string>>,
 * }} Ui
 */

const REMEMBERED_USER = 'playground.user';

/** How long a notice stays, in milliseconds. */
const TOAST_MS = 7000;

/** The page's controller: holds what the server said and what this person looks at, and offers what they can do. */
export class App {
  data = emptyData();
  ui = initialUi();
  /** Text a person types or chooses in blocks, by scope. @type {Map<string, Record<string, Record<string, import('./core/types.js').ElementInput>>>} */
  forms = new Map();
  /** @type {Map<string, any>} */
  locals = new Map();
  /** The version of each scope, for memoised drawing. @type {Map<string, number>} */
  versions = new Map();
  #toastId = 0;
  #changed;
  #drawNow;

  /**
   * @param {() => void} changed called after every change; draws soon
   * @param {() => void} drawNow draws before it returns
   */
  constructor(changed, drawNow) {
    this.#changed = changed;
    this.#drawNow = drawNow;
    this.retryNow = connect({
      onFrame: (frame) => this.#onFrame(frame),
      onState: (connection, wait) => this.set({ connection, retryAt: Date.now() + wait }),
    }).retryNow;
    window.addEventListener('hashchange', () => {
      const place = readHash(location.hash);
      if (place.home !== true && this.data.channels.has(place.channel ?? '')) this.go(place);
    });
  }

  /** @param {Partial<Ui>} change */
  set(change) {
    this.ui = { ...this.ui, ...change };
    this.#changed();
  }

  /**
   * For what replaces text under the person's fingers: drawn before the next key arrives.
   * @param {Partial<Ui>} change
   */
  setNow(change) {
    this.ui = { ...this.ui, ...change };
    this.#drawNow();
  }

  /** @param {string} scope */
  touch(scope) {
    this.versions.set(scope, (this.versions.get(scope) ?? 0) + 1);
    this.#changed();
  }

  /**
   * @param {string} text
   * @param {'notice' | 'error'} [kind]
   */
  toast(text, kind = 'notice') {
    const id = ++this.#toastId;
    this.set({ toasts: [...this.ui.toasts.slice(-3), { id, text, kind }] });
    setTimeout(() => this.dropToast(id), TOAST_MS);
  }

  /** @param {number} id */
  dropToast(id) {
    this.set({ toasts: this.ui.toasts.filter((toast) => toast.id !== id) });
  }

  /** A thread opens beside or over the channel, where the panel of faults would cover it. @param {import('./core/routing.js').Place} place */
  go(place) {
    const next = { ...(place.focus && !place.thread ? this.#threadOf(place.channel, place.focus) : {}), ...place };
    if (next.channel !== undefined && !this.data.channels.has(next.channel))
      return this.toast('This channel does not exist here.', 'error');
    const channel = next.channel ?? this.ui.channel;
    const moved = channel !== this.ui.channel || next.home !== this.ui.home;
    const thread = next.home ? undefined : next.thread;
    this.set({
      channel,
      thread,
      home: next.home === true,
      focus: next.focus,
      pane: 'main',
      menu: undefined,
      editing: undefined,
      replay: undefined,
      ...(thread ? { faultsOpen: false } : {}),
      ...(moved ? { unreadFrom: this.data.snapshot?.lastRead[this.ui.viewer]?.[channel] } : {}),
    });
    remember(writeHash({ channel, ...(thread ? { thread } : {}), home: this.ui.home }));
  }

  /** @param {string} userId */
  switchUser(userId) {
    localStorage.setItem(REMEMBERED_USER, userId);
    sessionStorage.setItem(REMEMBERED_USER, userId);
    this.set({ viewer: userId, menu: undefined, editing: undefined });
    const channel = this.data.channels.get(this.ui.channel);
    const stays =
      channel && (channel.is_im ? channel.user === userId : !channel.is_private || channel.members.includes(userId));
    if (!stays) this.go({ channel: visibleChannels(this.data, userId)[0]?.id ?? '' });
    if (this.ui.home) void this.openHome();
  }

  async openHome() {
    this.go({ home: true });
    await this.report(act('home.open', { userId: this.ui.viewer, tab: 'home' }));
  }

  async openDirectMessage() {
    const known = directMessage(this.data, this.ui.viewer);
    if (known) this.go({ channel: known.id });
    else {
      const answer = await this.report(act('dm.open', { userId: this.ui.viewer }));
      if (answer.ok && answer.channel && this.data.channels.has(answer.channel)) this.go({ channel: answer.channel });
    }
    await this.report(act('home.open', { userId: this.ui.viewer, tab: 'messages' }));
  }

  /**
   * Shows why an action was refused; hands its answer on.
   * @param {Promise<import('./core/types.js').PageAnswer>} pending
   */
  async report(pending) {
    const answer = await pending;
    if (!answer.ok) this.toast(answer.reason, 'error');
    return answer;
  }

  /** @param {string} key @param {boolean} on */
  setBusy(key, on) {
    const busy = new Set(this.ui.busy);
    if (on) busy.add(key);
    else busy.delete(key);
    this.set({ busy });
  }

  /** @param {any} object a confirm object @returns {Promise<boolean>} */
  confirm(object) {
    return new Promise((resolve) => {
      const before = /** @type {HTMLElement | null} */ (document.activeElement);
      const answer = (/** @type {boolean} */ yes) => {
        this.set({ confirm: undefined });
        before?.focus();
        resolve(yes);
      };
      this.set({ confirm: { object, answer } });
    });
  }

  /** @param {string} url */
  openLink(url) {
    const place = readPermalink(url);
    if (!place || !this.data.channels.has(place.channel ?? '')) return false;
    this.go(place);
    return true;
  }

  /**
   * @param {string | undefined} channel
   * @param {string} ts
   */
  #threadOf(channel, ts) {
    const message = this.data.messages.get(channel ?? '')?.find((one) => one.ts === ts);
    if (message?.thread_ts) return { thread: message.thread_ts };
    return (message?.reply_count ?? 0) > 0 ? { thread: ts } : {};
  }

  /** @param {import('./core/types.js').PageFrame} frame */
  #onFrame(frame) {
    if (frame.type === 'notice') {
      if (frame.userId === this.ui.viewer) this.toast(frame.text);
      return;
    }
    this.data = applyFrame(this.data, frame);
    if (frame.type === 'snapshot') this.#arrive();
    if (frame.type === 'views' && frame.stack.length === 0) this.set({ errors: {} });
    this.#changed();
  }

  /** The first snapshot decides who and where one is; later ones only correct what is gone. */
  #arrive() {
    const { data } = this;
    const people = data.snapshot?.people ?? [];
    if (!people.some((person) => person.userId === this.ui.viewer))
      this.ui = { ...this.ui, viewer: people[0]?.userId ?? '' };
    if (data.channels.has(this.ui.channel) || this.ui.home) return;
    const asked = readPermalink(location.href) ?? readHash(location.hash);
    const first = visibleChannels(data, this.ui.viewer)[0]?.id ?? '';
    const known = asked.home || data.channels.has(asked.channel ?? '');
    if (asked.home) void this.openHome();
    this.go(known ? asked : { channel: first });
    if (asked.home) this.set({ channel: first });
    if (onPhone() && !known) this.set({ pane: 'list' });
  }
}

/**
 * Each place is a step of the browser's history, so that Back closes a thread on a phone.
 * @param {string} hash
 */
function remember(hash) {
  if (location.hash === hash) return;
  const first = location.hash === '' || location.pathname !== '/';
  if (first) history.replaceState(null, '', `/${location.search}${hash}`);
  else history.pushState(null, '', hash);
}

/** @returns {Ui} */
function initialUi() {
  const asked = new URLSearchParams(location.search).get('user');
  const remembered = sessionStorage.getItem(REMEMBERED_USER) ?? localStorage.getItem(REMEMBERED_USER);
  return {
    connection: 'connecting',
    retryAt: 0,
    viewer: asked ?? remembered ?? '',
    channel: '',
    thread: undefined,
    home: false,
    focus: undefined,
    pane: 'main',
    unreadFrom: undefined,
    menu: undefined,
    confirm: undefined,
    image: undefined,
    faultsOpen: false,
    replay: undefined,
    toasts: [],
    drafts: {},
    suggestions: {},
    editing: undefined,
    busy: new Set(),
    errors: {},
  };
}
