import type { ChangeKind } from './change.ts';

/** One thing that a system is made of, as it is now: a setting, an image, a package, a file. */
export interface InventoryItem {
  /** Which part of the inventory it is of; a part is read whole or not at all. */
  readonly part: string;
  /** Unique within the inventory, and the same from look to look: `setting work_mem`. */
  readonly key: string;
  /** What people call it: “work_mem”, “the image of shop-api”. */
  readonly name: string;
  readonly kind: ChangeKind;
  /** A short text that is another one once the thing was changed: a version, a value, a digest. Never a secret. */
  readonly value: string;
  /** Names of the one thing inside the system it is of (a container, a deployment); empty: it is of the whole system. */
  readonly objects: readonly string[];
  /** When it got this value, ISO 8601, where the system itself says so. */
  readonly since?: string;
  /** Who gave it, where the system itself says so. */
  readonly by?: string;
  /** Its coming and going is told, too, and not only that its value changed. */
  readonly mayComeAndGo: boolean;
}

/** What a system is made of now, as far as it could be read. */
export interface Inventory {
  readonly items: readonly InventoryItem[];
  /** Parts that could not be read, each with why: what was in them is not gone. */
  readonly unread: readonly { readonly part: string; readonly why: string }[];
}
