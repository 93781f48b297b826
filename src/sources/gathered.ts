import type { Alert } from '../core/alert.ts';
import type { BadInput, ReadResult } from './ports.ts';

/**
 * What was read of a list, each part by itself: a bad one refuses itself, not the others. All of them bad is bad input.
 *
 * @param parts null where a part tells of no alert
 * @param path where the list stands in the payload, for the name of a field in it
 */
export function gathered(parts: readonly (Alert | BadInput | null)[], path: string): ReadResult {
  const refused = parts.flatMap((part, n) =>
    part !== null && 'ok' in part
      ? [{ ...part, field: [path, n, part.field].filter((step) => step !== '').join('.') }]
      : [],
  );
  const alerts = parts.filter((part): part is Alert => part !== null && !('ok' in part));
  const [first] = refused;
  return first && alerts.length === 0 ? first : { ok: true, alerts, refused };
}
