import type { CallReason } from '../core/event.ts';
import type { IncidentId } from '../core/ids.ts';
import type { RowOf } from '../core/sql.ts';

/** Who has an incident, and when to look at it again. Times are ISO 8601. */
export type EscalationRow = RowOf<{
  readonly incidentId: IncidentId;
  /** Nothing before this calls anybody. */
  readonly since: string;
  readonly nextAt: string | null;
  /** A Slack id, or the name of a person at a paging service. */
  readonly acknowledgedBy: string | null;
  readonly acknowledgedAt: string | null;
  /** They said that they have it; in an earlier run, where `acknowledgedAt` is before this one. */
  readonly holds: boolean;
  readonly releasedAt: string | null;
  /** Levels up to this one are called at once. */
  readonly hurried: number;
  readonly hurriedAt: string | null;
}>;

export type CallRow = RowOf<{
  readonly key: string;
  readonly level: number;
  readonly reason: CallReason;
  readonly at: string;
}>;

/** What a paging service is to be brought to know of a page, and what it was told last. */
export type PageWord = 'trigger' | 'acknowledge' | 'resolve';

export type PageRow = RowOf<{
  readonly incidentId: IncidentId;
  readonly level: number;
  readonly pager: string;
  readonly dedupKey: string;
  readonly summary: string;
  readonly reason: string;
  readonly want: PageWord;
  /** Null: it may not know of it. */
  readonly told: PageWord | null;
  readonly attempts: number;
  readonly failingSince: string | null;
  /** When the thread was told that it does not arrive. */
  readonly failedAt: string | null;
}>;
