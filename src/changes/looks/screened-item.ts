import { clip } from '../../core/clip.ts';
import type { Inventory, InventoryItem } from '../../core/inventory.ts';
import { redact } from '../../safety/screen/redact.ts';
import { sha256 } from '../../safety/sha256.ts';

/** An item as it is kept: without secrets, and bounded. */
export type KeptItem = Omit<InventoryItem, 'part'>;

/** A part as one look saw it whole; `digest` is the same for the same items. */
export interface SeenPart {
  readonly part: string;
  readonly digest: string;
  readonly items: readonly KeptItem[];
}

const NAME = 200;
const VALUE = 200;
const OBJECTS = 10;
/** Hexadecimal digits. */
const DIGEST = 12;
/** Enough to see that a secret was changed, and too little to guess it by. */
const SECRET_DIGEST = 4;

/** The parts that a look read whole, as they may be stored, shown and given to a model. */
export function screenedParts({ items, empty = [] }: Inventory): readonly SeenPart[] {
  const parts = new Map<string, InventoryItem[]>(empty.map((part) => [part, []]));
  for (const item of items) parts.set(item.part, [...(parts.get(item.part) ?? []), item]);
  return [...parts].map(([part, found]) => {
    const kept = screened(found);
    const stable = kept.map(({ since: _since, by: _by, ...item }) => item);
    return { part: plain(part), digest: sha256(JSON.stringify(stable)), items: kept };
  });
}

/** In the order of their keys. Most parts hold nothing to hide, which one look at all of it tells. */
function screened(items: readonly InventoryItem[]): readonly KeptItem[] {
  const all = items.map((item) => JSON.stringify(item.objects) + asSetting(item)).join('\n');
  const isClean = redact(all) === all;
  return items
    .map((item) => kept(item, isClean))
    .toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

function kept(item: InventoryItem, isClean: boolean): KeptItem {
  const { key, name, kind, value, objects, since, orBefore, by, mayComeAndGo, told } = item;
  const text = (given: string, most: number): string => clip(plain(isClean ? given : redact(given)), most);
  const isSecret = !isClean && (redact(value) !== value || redact(asSetting(item)) !== asSetting(item));
  const cleanKey = isClean ? key : redact(key);
  return {
    // What is hidden or long stays another one than its neighbour.
    key:
      cleanKey === key && key.length <= NAME
        ? plain(key)
        : `${clip(plain(cleanKey), NAME)} ${digestOf(key, SECRET_DIGEST)}`,
    name: text(name, NAME),
    kind,
    value: isSecret
      ? digestOf(value, SECRET_DIGEST)
      : value.length > VALUE
        ? digestOf(value, DIGEST)
        : plain(value),
    objects: objects.slice(0, OBJECTS).map((object) => text(object, NAME)),
    mayComeAndGo,
    ...(told ? { told } : {}),
    ...(since === undefined ? {} : { since }),
    ...(orBefore ? { orBefore } : {}),
    ...(by === undefined ? {} : { by: text(by, NAME) }),
  };
}

/** A name may be what says that the value beside it is a secret. */
const asSetting = ({ key, name, value, by = '' }: InventoryItem): string => `${key} ${name}=${value} ${by}`;

const digestOf = (text: string, digits: number): string => `#${sha256(text).slice(0, digits)}`;

/** One line without characters that are not seen: whoever names a table is not to write lines of ours. */
const plain = (text: string): string => text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim();
