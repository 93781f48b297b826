/** Within this many pixels of the end a list follows new messages; above, it stays where the reader is. */
const NEAR_END = 80;

/**
 * Keeps lists at their end while they grow (also by streamed text and late images) and leaves a reader who has
 * scrolled up alone.
 * @param {HTMLElement} root
 */
export function createScrollKeeper(root) {
  /** Lists seen before; a new one starts at its end. @type {WeakSet<Element>} */
  const known = new WeakSet();
  /** @type {WeakSet<Element>} */
  const atEnd = new WeakSet();
  /** @type {string | undefined} */
  let shown;

  const lists = () => /** @type {HTMLElement[]} */ ([...root.querySelectorAll('[data-stick]')]);
  const resized = new ResizeObserver(() => {
    for (const list of lists()) if (atEnd.has(list)) toEnd(list);
  });

  /** @param {HTMLElement} list */
  function remember(list) {
    if (isAtEnd(list)) atEnd.add(list);
    else atEnd.delete(list);
  }

  return {
    /** @returns {void} */
    before() {
      for (const list of lists()) remember(list);
    },
    /**
     * @param {void} _
     * @param {string | undefined} focus the message to bring into view, once
     */
    after(_, focus) {
      for (const list of lists()) {
        if (!known.has(list)) {
          known.add(list);
          atEnd.add(list);
          resized.observe(list);
          list.addEventListener('scroll', () => remember(list), { passive: true });
          list.addEventListener('load', () => atEnd.has(list) && toEnd(list), true);
        }
        if (atEnd.has(list)) toEnd(list);
      }
      if (focus !== undefined && focus !== shown) bringIntoView(root, focus);
      shown = focus;
    },
  };
}

/** @param {HTMLElement} list */
function isAtEnd(list) {
  return list.scrollHeight - list.scrollTop - list.clientHeight < NEAR_END;
}

/** @param {HTMLElement} list */
function toEnd(list) {
  list.scrollTop = list.scrollHeight;
}

/**
 * @param {HTMLElement} root
 * @param {string} ts
 */
function bringIntoView(root, ts) {
  for (const message of root.querySelectorAll(`[data-ts="${CSS.escape(ts)}"]`))
    message.scrollIntoView({ block: 'center' });
}
