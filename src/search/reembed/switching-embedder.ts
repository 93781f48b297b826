import type { Embedder } from '../ports.ts';

/** An embedding that another can take over from while it is in use. */
export interface SwitchingEmbedder extends Embedder {
  /** From now on; the one before is closed. */
  switchTo(next: Embedder): Promise<void>;
}

export function createSwitchingEmbedder(first: Embedder): SwitchingEmbedder {
  let current = first;
  return {
    get fingerprint() {
      return current.fingerprint;
    },
    embed: (texts, when) => current.embed(texts, when),
    close: () => current.close(),
    async switchTo(next) {
      const before = current;
      current = next;
      if (before !== next) await before.close();
    },
  };
}
