import { numberAt } from '../../core/measure.ts';
import type { UsualRead } from '../kind.ts';
import { fileSystems } from './read/file-systems.ts';
import { hostUsage } from './read/host-usage.ts';

/** What a host is like on an ordinary day. */
export const hostUsual: readonly UsualRead[] = [
  {
    tool: hostUsage,
    input: { limit: 1 },
    numbers: [
      { name: 'load', label: 'load', unit: '', least: 1, value: (data) => numberAt(data, 'load') },
      {
        name: 'memory_used',
        label: 'memory used',
        unit: '%',
        least: 5,
        value(data) {
          const available = numberAt(data, 'memory.available_percent');
          return available === null ? null : 100 - available;
        },
      },
      {
        name: 'swap_used',
        label: 'swap used',
        unit: '%',
        least: 10,
        onlyHigher: true,
        value: (data) => numberAt(data, 'memory.swap_used_percent'),
      },
    ],
  },
  {
    tool: fileSystems,
    input: {},
    numbers: [
      {
        name: 'disk_used',
        label: 'fullest file system used',
        unit: '%',
        least: 5,
        // Of those that could not be read one may be fuller.
        value: (data) => (numberAt(data, 'complete') === 1 ? numberAt(data, 'fullest') : null),
      },
    ],
  },
];
