import type { Severity } from '../core/alert.ts';
import { isWithin } from '../core/hours.ts';
import type { QuietHours } from './escalation-config.ts';

/** Whether nobody is to be called for an incident of this severity at this moment. */
export function isQuiet(quietHours: readonly QuietHours[], severity: Severity, at: Date): boolean {
  return quietHours.some((hours) => hours.severities.includes(severity) && isWithin(hours, at));
}
