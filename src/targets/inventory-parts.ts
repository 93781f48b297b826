import type { ChangeKind } from '../core/change.ts';
import { messageOf } from '../core/errors.ts';
import type { Inventory, InventoryItem } from '../core/inventory.ts';
import { sha256 } from '../safety/sha256.ts';
import { oneLine } from './format.ts';

/** What is read in one go, and the parts that it is. */
export interface InventorySource {
  readonly parts: readonly string[];
  read(): Promise<Inventory>;
}

/** Of one system: what is beyond is told as unread. */
export const MOST_ITEMS = 5_000;
/** Sources that are read in one go, so that a look at a large system is not a burst of requests. */
const AT_ONCE = 4;
const NAME = 80;
const VALUE = 160;

/** Reads all sources; the parts of one that fails are unread, with why. Throws what the first one threw where none could be read. */
export async function readInventory(sources: readonly InventorySource[]): Promise<Inventory> {
  const read: Inventory[] = [];
  const faults: unknown[] = [];
  for (let at = 0; at < sources.length; at += AT_ONCE) {
    const some = sources.slice(at, at + AT_ONCE).map(async (source): Promise<Inventory> => {
      try {
        return withEmpty(source, await source.read());
      } catch (error) {
        faults.push(error);
        return unreadOf(source.parts, messageOf(error));
      }
    });
    read.push(...(await Promise.all(some)));
  }
  if (faults.length === sources.length) throw faults[0];
  return bounded({
    items: read.flatMap(({ items }) => items),
    empty: read.flatMap(({ empty = [] }) => empty),
    unread: read.flatMap(({ unread }) => unread),
  });
}

/** Parts of which nothing is known, for one reason. */
export const unreadOf = (parts: readonly string[], why: string): Inventory => ({
  items: [],
  unread: parts.map((part) => ({ part, why })),
});

function withEmpty({ parts }: InventorySource, { items, unread }: Inventory): Inventory {
  const told = new Set([...items, ...unread].map(({ part }) => part));
  return { items, unread, empty: parts.filter((part) => !told.has(part)) };
}

/** Leaves whole parts out, the largest first, until the rest is few enough. */
function bounded(inventory: Inventory): Inventory {
  const sizes = new Map<string, number>();
  for (const { part } of inventory.items) sizes.set(part, (sizes.get(part) ?? 0) + 1);
  let total = inventory.items.length;
  const left = new Map<string, number>();
  for (const [part, size] of [...sizes].toSorted(([, a], [, b]) => b - a)) {
    if (total <= MOST_ITEMS) break;
    left.set(part, size);
    total -= size;
  }
  return {
    ...inventory,
    items: inventory.items.filter(({ part }) => !left.has(part)),
    unread: [
      ...inventory.unread,
      ...[...left].map(([part, size]) => ({ part, why: `these are ${size} things, more than are compared` })),
    ],
  };
}

/**
 * Another one when the content is another, for what is not shown. 24 bits: enough to tell a change, and too few to try guesses at a
 * password against.
 */
export const digestOf = (content: string): string => `#${sha256(content).slice(0, 6)}`;

/** Whoever made the thing wrote its names. */
export const shortName = (name: string): string => oneLine(name, NAME);

/** Of a text that is too long, its beginning and what tells it from others that begin so. */
export function shortValue(value: string): string {
  const line = oneLine(value, VALUE);
  return line === value ? line : `${line} (${digestOf(value)})`;
}

/** Names as one value: which there are. */
export const namesValue = (names: readonly string[]): string =>
  names.length === 0 ? 'none' : shortValue(names.toSorted().join(', '));

/** One thing inside a system that has several properties: a container, a workload. */
export interface Thing {
  readonly part: string;
  /** `container shop-api`: what the keys of its items begin with. */
  readonly key: string;
  /** What it is called in “image of shop-api”. */
  readonly name: string;
  readonly objects: readonly string[];
  readonly since?: string;
  readonly by?: string;
}

/** A property of a thing: it is there as long as the thing is, so only that it has another value is told. */
export function propertyOf(thing: Thing, kind: ChangeKind, property: string, value: string): InventoryItem {
  const { key, name, ...rest } = thing;
  return {
    ...rest,
    key: `${key} ${property}`,
    name: `${shortName(property)} of ${shortName(name)}`,
    kind,
    value: shortValue(value),
    mayComeAndGo: false,
  };
}

/** The same of one of its environment variables, whose names anybody may choose: they are no other property's key. */
export const variableOf = (thing: Thing, name: string, value: string): InventoryItem => ({
  ...propertyOf(thing, 'config', name, value),
  key: `${thing.key} variable ${shortValue(name)}`,
});

/** ISO 8601 in UTC, to the millisecond, so that moments can be put in order as texts; undefined for what is no time. */
export function momentOf(time: string | null | undefined): string | undefined {
  const at = new Date(time ?? Number.NaN);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}
