import { parseArgs } from 'node:util';
import type { GrowthSize } from './growth-fill.ts';

/** As `sentry bench growth` passes them on. */
export function growthSize(args: readonly string[]): GrowthSize {
  const { values } = parseArgs({
    args: [...args],
    options: {
      incidents: { type: 'string', default: '100000' },
      'audit-entries': { type: 'string', default: '1000000' },
      json: { type: 'boolean', default: false },
    },
  });
  return { incidents: Number(values.incidents), auditEntries: Number(values['audit-entries']) };
}
