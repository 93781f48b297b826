import type { Inventory, InventoryItem } from '../../core/inventory.ts';
import { digestOf, readInventory, shortName } from '../inventory-parts.ts';
import type { Prometheus, RuleGroup } from './system.ts';

const WITHIN_MS = 10_000;

/** What a Prometheus was told to scrape and to alert on, and its version: a changed rule is why an alert is new, or gone. */
export function prometheusInventory(system: Prometheus, signal: AbortSignal): Promise<Inventory> {
  const options = { signal, timeoutMs: WITHIN_MS };
  return readInventory([
    {
      parts: ['version'],
      read: async () => whole([item('version', '', 'infrastructure', await system.version(options))]),
    },
    {
      parts: ['configuration'],
      async read() {
        const { content, loadedAt } = await system.loadedConfig(options);
        const config = item('configuration', 'configuration', 'config', digestOf(content));
        return whole([loadedAt === null ? config : { ...config, since: loadedAt }]);
      },
    },
    {
      parts: ['rule groups'],
      read: async () => whole((await system.ruleGroups(options)).map(groupItem)),
    },
  ]);
}

const whole = (items: readonly InventoryItem[]): Inventory => ({ items, unread: [] });

const item = (part: string, name: string, kind: InventoryItem['kind'], value: string): InventoryItem => ({
  part,
  key: part,
  name,
  kind,
  value,
  objects: [],
  mayComeAndGo: false,
});

const groupItem = ({ file, name, content }: RuleGroup): InventoryItem => ({
  part: 'rule groups',
  key: `group ${name} in ${file}`,
  name: `rule group ${shortName(name)}`,
  kind: 'config',
  value: digestOf(content),
  objects: [shortName(name)],
  mayComeAndGo: true,
  told: { came: 'was added', went: 'was removed' },
});
