import { act } from './core/connection.js';

/** @typedef {import('./app.js').App} App @typedef {import('./core/types.js').Ctx} Ctx @typedef {import('./core/types.js').ActionContainer} ActionContainer */

/**
 * What blocks need from the page, for one surface: one message in one pane, one modal, the Home tab.
 * @param {App} app
 * @param {{ scope: string, surface: Ctx['surface'], container: ActionContainer }} where
 * @returns {Ctx}
 */
export function contextFor(app, { scope, surface, container }) {
  const busyKey = (/** @type {string} */ blockId, /** @type {string} */ actionId) => `${scope}|${blockId}|${actionId}`;
  const viewId = container.type === 'view' ? container.viewId : '';
  return {
    dir: app.data,
    viewer: app.ui.viewer,
    scope,
    surface,
    local: {
      get: (key) => app.locals.get(`${scope}|${key}`),
      set: (key, value) => {
        app.locals.set(`${scope}|${key}`, value);
        app.touch(scope);
      },
    },
    form: {
      get: (blockId, actionId) => app.forms.get(scope)?.[blockId]?.[actionId],
      set: (blockId, actionId, input) => {
        const form = app.forms.get(scope) ?? {};
        app.forms.set(scope, { ...form, [blockId]: { ...form[blockId], [actionId]: input } });
        app.touch(scope);
      },
    },
    errors: app.ui.errors[viewId] ?? {},
    busy: (blockId, actionId) => app.ui.busy.has(busyKey(blockId, actionId)),
    act: async (block, element, input) => {
      if (element.confirm && !(await app.confirm(element.confirm))) return;
      const blockId = String(block.block_id ?? '');
      const actionId = String(element.action_id ?? '');
      const key = busyKey(blockId, actionId);
      if (app.ui.busy.has(key)) return;
      setBusy(app, scope, key, true);
      const form = app.forms.get(scope) ?? {};
      await app.report(
        act('block.action', { userId: app.ui.viewer, container, block_id: blockId, action_id: actionId, input, form }),
      );
      setBusy(app, scope, key, false);
    },
    loadOptions: async (block, element, query) => {
      const answer = await app.report(
        act('options.load', {
          userId: app.ui.viewer,
          container,
          block_id: String(block.block_id ?? ''),
          action_id: String(element.action_id ?? ''),
          query,
        }),
      );
      return answer.ok ? [...(answer.options ?? [])] : [];
    },
    openMenu: (anchor, menu) => openMenu(app, anchor, menu),
    openLink: (url) => app.openLink(url),
    openImage: (url, alt) => app.set({ image: { url, alt } }),
  };
}

/**
 * @param {App} app
 * @param {string} scope
 * @param {string} key
 * @param {boolean} on
 */
function setBusy(app, scope, key, on) {
  app.setBusy(key, on);
  app.touch(scope);
}

/**
 * @param {App} app
 * @param {Element} anchor
 * @param {import('./core/types.js').Menu} menu
 */
export function openMenu(app, anchor, menu) {
  const chosen = menu.chosen ?? [];
  app.set({
    menu: { menu, rect: anchor.getBoundingClientRect(), query: '', active: 0, loaded: undefined, chosen },
  });
  if (menu.load) void loadMenu(app, menu, '');
}

/**
 * Fills a menu whose options the app supplies.
 * @param {App} app
 * @param {import('./core/types.js').Menu} menu
 * @param {string} query
 */
export async function loadMenu(app, menu, query) {
  const loaded = await menu.load?.(query);
  const open = app.ui.menu;
  if (open?.menu === menu && open.query === query) app.set({ menu: { ...open, loaded: loaded ?? [] } });
}
