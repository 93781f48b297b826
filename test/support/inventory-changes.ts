import { changesBetween } from '../../src/changes/looks/changes-between.ts';
import { screenedParts } from '../../src/changes/looks/screened-item.ts';
import type { Change } from '../../src/core/change.ts';
import type { Inventory } from '../../src/core/inventory.ts';

/** What two looks at a target `shop` tell, as they would be recorded, by their titles. */
export function inventoryChanges(before: Inventory, after: Inventory): readonly Change[] {
  const known = new Map(screenedParts(before).map(({ part, items }) => [part, items]));
  const looks = {
    target: { name: 'shop', environment: 'test' },
    lastAt: '2020-01-01T00:00:00.000Z',
    endedAt: new Date(Date.now() + 60_000).toISOString(),
  };
  return screenedParts(after)
    .flatMap((seen) => {
      const items = known.get(seen.part);
      return items === undefined ? [] : changesBetween(items, seen, looks);
    })
    .toSorted((a, b) => (a.title < b.title ? -1 : 1));
}

export const titlesOf = (changes: readonly Change[]): readonly string[] => changes.map(({ title }) => title);
