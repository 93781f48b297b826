import { isWithin, spanOfHours } from '../../core/hours.ts';
import type { MaintenanceWindow } from '../../core/maintenance-window.ts';
import { sha256 } from '../../safety/sha256.ts';

/** One time that a window is open; times are ISO 8601. */
export interface Occurrence {
  /** The same whichever process says it, for as long as it is open. */
  readonly key: string;
  readonly from: string;
  readonly until: string;
  readonly window: MaintenanceWindow;
}

/** The windows that are open at a moment. */
export function openWindows(windows: readonly MaintenanceWindow[], at: Date): readonly Occurrence[] {
  return windows.flatMap((window) => {
    const span = spanOf(window, at);
    if (span === null) return [];
    const [from, until] = [span.from.toISOString(), span.to.toISOString()];
    const key = sha256(JSON.stringify([window.matcher, window.reason, window.when, from])).slice(0, 32);
    return [{ key, from, until, window }];
  });
}

/** Null: it is not open. */
function spanOf({ when }: MaintenanceWindow, at: Date): { readonly from: Date; readonly to: Date } | null {
  if ('days' in when) return isWithin(when, at) ? spanOfHours(when, at) : null;
  const [from, to] = [new Date(when.from), new Date(when.to)];
  return from <= at && at < to ? { from, to } : null;
}
