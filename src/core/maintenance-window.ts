import type { Hours } from './hours.ts';

/** A window of `sentry.yaml` in which alerts wait. */
export interface MaintenanceWindow {
  /** A matcher that has been read before. */
  readonly matcher: string;
  readonly reason: string;
  /** Once (ISO 8601), or every week. */
  readonly when: { readonly from: string; readonly to: string } | Hours;
}
