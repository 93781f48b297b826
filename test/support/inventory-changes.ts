import type { Inventory } from '../../src/core/inventory.ts';

/** What two looks differ in, a line each, sorted: `image of web: shop:1 → shop:2`, `container web is new`. */
export function inventoryChanges(before: Inventory, after: Inventory): readonly string[] {
  const [was, is] = [before, after].map(
    ({ items }) => new Map(items.map((item) => [`${item.part} ${item.key}`, item])),
  );
  if (was === undefined || is === undefined) throw new Error('two looks');
  const isRead = (part: string) => !after.unread.some((unread) => unread.part === part);
  return [
    ...[...is].flatMap(([key, item]) => {
      const old = was.get(key);
      if (old === undefined) return item.mayComeAndGo ? [`${item.name} ${item.told?.came ?? 'is new'}`] : [];
      if (old.value === item.value) return [];
      const { changed } = item.told ?? {};
      return [
        changed === undefined ? `${item.name}: ${old.value} → ${item.value}` : `${item.name} ${changed}`,
      ];
    }),
    ...[...was].flatMap(([key, item]) =>
      is.has(key) || !item.mayComeAndGo || !isRead(item.part)
        ? []
        : [`${item.name} ${item.told?.went ?? 'is gone'}`],
    ),
  ].toSorted();
}
