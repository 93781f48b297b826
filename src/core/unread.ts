import type { ToolCallId } from './ids.ts';

/**
 * A read of an incident that was refused, failed, or showed only a part, for a reason that a person can lift. Found by code
 * in the record, never in what an investigator says.
 */
export interface UnreadCall {
  readonly toolCallId: ToolCallId;
  /** `run`: it can simply be made again. `grant`: somebody has to allow it first, and Sentry must not do that itself. */
  readonly way: 'run' | 'grant';
  /** One line. */
  readonly reason: string;
}
