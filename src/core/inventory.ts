import type { ChangeKind } from './change.ts';

/** One thing that a system is made of, as it is now: a setting, an image, a package, a file. */
export interface InventoryItem {
  /** Which part of the inventory it is of; a part is read whole or not at all. */
  readonly part: string;
  /** Unique within its part, and the same from look to look: `setting work_mem`. */
  readonly key: string;
  /** What people call it: “work_mem”, “the image of shop-api”; empty: the system itself. */
  readonly name: string;
  readonly kind: ChangeKind;
  /**
   * A short text that is another one once the thing was changed: a version, a value. Never a secret. A digest begins with `#` and is shown
   * to nobody.
   */
  readonly value: string;
  /** Names of the one thing inside the system it is of (a container, a deployment); empty: it is of the whole system. */
  readonly objects: readonly string[];
  /** When it was last given a value, ISO 8601, where the system itself says so. */
  readonly since?: string;
  /** `since` is when it was last touched: it may have got this value before that, as a file that was written twice. */
  readonly orBefore?: true;
  /** Who gave it, where the system itself says so. */
  readonly by?: string;
  /** Its coming and going is told, too, and not only that its value changed. */
  readonly mayComeAndGo: boolean;
  /** How it is told, where other words fit better: “was recreated”, “created”, “dropped”. */
  readonly told?: { readonly changed?: string; readonly came?: string; readonly went?: string };
}

/** What a system is made of now, as far as it could be read. */
export interface Inventory {
  readonly items: readonly InventoryItem[];
  /**
   * The parts that were read though nothing is in them: what was there before is gone. A part whose items depend on what the configuration
   * names says so in its name (`files in /etc/shop`): one that is called otherwise is another part, and is compared with nothing.
   */
  readonly empty?: readonly string[];
  /** Parts that could not be read, each with why: what was in them is not gone. */
  readonly unread: readonly { readonly part: string; readonly why: string }[];
}
