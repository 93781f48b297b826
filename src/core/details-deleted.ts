import type { Incident } from './incident.ts';

/** That the details of an old incident are gone, for whoever asks for them; null while they are there. */
export function formatDetailsDeleted({ id, detailsDeletedAt }: Incident): string | null {
  return detailsDeletedAt === null
    ? null
    : `The details of ${id} were deleted on ${detailsDeletedAt.slice(0, 10)} for their age (SENTRY_RETENTION). That it happened, what was approved and run, and how it ended are kept.`;
}
