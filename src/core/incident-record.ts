import type { Action } from './action.ts';
import type { Denial } from './denial.ts';
import type { IncidentEvent } from './event.ts';
import type { Incident } from './incident.ts';
import type { Episode } from './memory.ts';
import type { Json, ToolCall } from './tool-call.ts';

/** Everything on record about one incident: what Slack draws, `why` tells and `sentry incident --json` prints. */
export interface IncidentRecord {
  readonly incident: Incident;
  readonly alerts: readonly RecordedAlert[];
  /** Oldest first. */
  readonly events: readonly IncidentEvent[];
  readonly toolCalls: readonly ToolCall[];
  readonly actions: readonly Action[];
  readonly episodes: readonly Episode[];
  /** What people said No to here, and what stands on its cards from elsewhere; oldest first. */
  readonly denials: readonly Denial[];
}

export interface RecordedAlert {
  readonly source: string;
  readonly status: 'firing' | 'resolved';
  readonly title: string;
  readonly labels: Json;
  readonly annotations: Json;
  readonly startsAt: string;
  readonly receivedAt: string;
  readonly url: string | null;
  /** `<source>:…`; a chat message's is `slack:<channel id>:<ts>…`. */
  readonly deliveryKey: string;
}
