import { act, connect } from './core/connection.js';
import { readHash, readPermalink, writeHash } from './core/routing.js';
import { directMessage, visibleChannels } from './core/select-state.js';
import { applyFrame, emptyData } from './core/store.js';

/**
 * The page's controller: holds what the server said and what this person looks at, and offers what they can do.
 *
 * @typedef {import('./core/types.js').Menu} Menu
 * @typedef {{
 *   connection: 'connecting' | 'open' | 'lost', retryAt: number,
 *   viewer: string, channel: string, thread: string | undefined, home: boolean, focus: string | undefined,
 *   pane: 'list' | 'main', unreadFrom: string | undefined,
 *   menu: { menu: Menu, rect: DOMRect, query: string, active: number, loaded: Menu['groups'] | undefined, chosen: string[] } | undefined,
 *   confirm: { object: any, answer: (yes: boolean) => void } | undefined,
 *   image: { url: string, alt: string } | undefined,
 *   faultsOpen: boolean,
 *   toasts: { id: number, text: string, kind: 'notice' | 'error' }[],
 *   drafts: Record<string, string>, suggestions: Record<string, number>,
 *   editing: { channel: string, ts: string } | undefined,
 *   busy: ReadonlySet<string>, errors: Record<string, Record<string, string>>,
 * }} Ui
 * @typedef {ReturnType<typeof createApp>} App
 */

const REMEMBERED_USER = 'playground.user';

/** How long a notice stays, in milliseconds. */
const TOAST_MS = 7000;

/**
 * @param {() => void} changed called after every change; draws soon
 * @param {() => void} drawNow draws before it returns
 */
export function createApp(changed, drawNow) {
  let data = emptyData();
  /** @type {Ui} */
  let ui = initialUi();
  let toastId = 0;
  /** Text a person types or chooses in blocks, by scope; and the version of each scope for memoised drawing. */
  /** @type {Map<string, Record<string, Record<string, import('./core/types.js').ElementInput>>>} */
  const forms = new Map();
  /** @type {Map<string, any>} */
  const locals = new Map();
  /** @type {Map<string, number>} */
  const versions = new Map();

  const app = {
    get data() {
      return data;
    },
    get ui() {
      return ui;
    },
    forms,
    locals,
    versions,
    /** @param {Partial<Ui>} change */
    set(change) {
      ui = { ...ui, ...change };
      changed();
    },
    /**
     * For what replaces text under the person's fingers: drawn before the next key arrives.
     * @param {Partial<Ui>} change
     */
    setNow(change) {
      ui = { ...ui, ...change };
      drawNow();
    },
    /** @param {string} scope */
    touch(scope) {
      versions.set(scope, (versions.get(scope) ?? 0) + 1);
      changed();
    },
    /**
     * @param {string} text
     * @param {'notice' | 'error'} [kind]
     */
    toast(text, kind = 'notice') {
      const id = ++toastId;
      app.set({ toasts: [...ui.toasts.slice(-3), { id, text, kind }] });
      setTimeout(() => app.dropToast(id), TOAST_MS);
    },
    /** @param {number} id */
    dropToast(id) {
      app.set({ toasts: ui.toasts.filter((toast) => toast.id !== id) });
    },
    /** @param {import('./core/routing.js').Place} place */
    go(place) {
      const next = { ...(place.focus && !place.thread ? threadOf(place.channel, place.focus) : {}), ...place };
      if (next.channel !== undefined && !data.channels.has(next.channel))
        return app.toast('This channel does not exist here.', 'error');
      const channel = next.channel ?? ui.channel;
      const moved = channel !== ui.channel || next.home !== ui.home;
      app.set({
        channel,
        thread: next.home ? undefined : next.thread,
        home: next.home === true,
        focus: next.focus,
        pane: 'main',
        menu: undefined,
        editing: undefined,
        ...(moved ? { unreadFrom: data.snapshot?.lastRead[ui.viewer]?.[channel] } : {}),
      });
      remember(writeHash({ channel, ...(ui.thread ? { thread: ui.thread } : {}), home: ui.home }));
    },
    /** @param {string} userId */
    switchUser(userId) {
      localStorage.setItem(REMEMBERED_USER, userId);
      sessionStorage.setItem(REMEMBERED_USER, userId);
      app.set({ viewer: userId, menu: undefined, editing: undefined });
      const channel = data.channels.get(ui.channel);
      const stays =
        channel && (channel.is_im ? channel.user === userId : !channel.is_private || channel.members.includes(userId));
      if (!stays) app.go({ channel: visibleChannels(data, userId)[0]?.id ?? '' });
      if (ui.home) void app.openHome();
    },
    async openHome() {
      app.go({ home: true });
      await app.report(act('home.open', { userId: ui.viewer, tab: 'home' }));
    },
    async openDirectMessage() {
      const known = directMessage(data, ui.viewer);
      if (known) app.go({ channel: known.id });
      else {
        const answer = await app.report(act('dm.open', { userId: ui.viewer }));
        if (answer.ok && answer.channel && data.channels.has(answer.channel)) app.go({ channel: answer.channel });
      }
      await app.report(act('home.open', { userId: ui.viewer, tab: 'messages' }));
    },
    /**
     * Shows why an action was refused; hands its answer on.
     * @param {Promise<import('./core/types.js').PageAnswer>} pending
     */
    async report(pending) {
      const answer = await pending;
      if (!answer.ok) app.toast(answer.reason, 'error');
      return answer;
    },
    /** @param {string} key @param {boolean} on */
    setBusy(key, on) {
      const busy = new Set(ui.busy);
      if (on) busy.add(key);
      else busy.delete(key);
      app.set({ busy });
    },
    /** @param {any} object a confirm object @returns {Promise<boolean>} */
    confirm(object) {
      return new Promise((resolve) => {
        const before = /** @type {HTMLElement | null} */ (document.activeElement);
        app.set({
          confirm: {
            object,
            answer: (yes) => {
              app.set({ confirm: undefined });
              before?.focus();
              resolve(yes);
            },
          },
        });
      });
    },
    /** @param {string} url */
    openLink(url) {
      const place = readPermalink(url);
      if (!place || !data.channels.has(place.channel ?? '')) return false;
      app.go(place);
      return true;
    },
    retryNow: () => {},
  };

  /**
   * @param {string | undefined} channel
   * @param {string} ts
   */
  function threadOf(channel, ts) {
    const message = data.messages.get(channel ?? '')?.find((one) => one.ts === ts);
    if (message?.thread_ts) return { thread: message.thread_ts };
    return (message?.reply_count ?? 0) > 0 ? { thread: ts } : {};
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

  /** @param {import('./core/types.js').PageFrame} frame */
  function onFrame(frame) {
    if (frame.type === 'notice') {
      if (frame.userId === ui.viewer) app.toast(frame.text);
      return;
    }
    data = applyFrame(data, frame);
    if (frame.type === 'snapshot') arrive();
    if (frame.type === 'views' && frame.stack.length === 0) app.set({ errors: {} });
    changed();
  }

  /** The first snapshot decides who and where one is; later ones only correct what is gone. */
  function arrive() {
    const people = data.snapshot?.people ?? [];
    if (!people.some((person) => person.userId === ui.viewer)) ui = { ...ui, viewer: people[0]?.userId ?? '' };
    if (data.channels.has(ui.channel) || ui.home) return;
    const permalink = readPermalink(location.href);
    const asked = permalink ?? readHash(location.hash);
    const first = visibleChannels(data, ui.viewer)[0]?.id ?? '';
    const known = asked.home || data.channels.has(asked.channel ?? '');
    if (asked.home) void app.openHome();
    const phone = matchMedia('(max-width: 720px)').matches;
    app.go(known ? asked : { channel: first });
    if (asked.home) app.set({ channel: first });
    if (phone && !known) app.set({ pane: 'list' });
  }

  app.retryNow = connect({
    onFrame,
    onState: (connection, wait) => app.set({ connection, retryAt: Date.now() + wait }),
  }).retryNow;
  window.addEventListener('hashchange', () => {
    const place = readHash(location.hash);
    if (place.home !== true && data.channels.has(place.channel ?? '')) app.go(place);
  });
  return app;
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
    toasts: [],
    drafts: {},
    suggestions: {},
    editing: undefined,
    busy: new Set(),
    errors: {},
  };
}
