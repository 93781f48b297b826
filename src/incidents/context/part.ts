import type { ToolCallId } from '../../core/ids.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import type { Recall } from '../../core/memory.ts';
import type { Target } from '../../core/target.ts';
import type { ChangesLooked } from '../../core/what-changed.ts';

/** What a part may go by. */
export interface ContextAbout {
  readonly record: IncidentRecord;
  readonly recall: Recall;
  readonly neighbours: readonly Pick<Target, 'name' | 'kind'>[];
  /** The look for changes, which has begun; null: it could not be asked. Absent where nobody can be. */
  readonly changes?: Promise<ChangesLooked | null>;
  /** Aborted when its time is over, or the work is stopped. */
  readonly signal: AbortSignal;
}

/** What it found; null: nothing. `nothing`: there is nothing, and `line` says where it looked. */
export type PartFound = {
  readonly line: string;
  readonly nothing?: true;
  readonly toolCallId?: ToolCallId;
  /** Whose words are in it: ids of Slack. */
  readonly people?: readonly string[];
} | null;

/** One thing that is gathered around an incident. To add one, write it like `links.ts` and put it into `parts.ts`. */
export interface ContextPart {
  /** By which the record knows it. */
  readonly name: string;
  /** For people: `Past incidents`. */
  readonly label: string;
  /** It is given up after so long. */
  readonly limitMs: number;
  /** The work waits for it, up to its limit. All others are waited for by nobody. */
  readonly awaited?: true;
  /** Absent: to every incident. Where it is false the part is left out, and is no gap. */
  concerns?(about: Omit<ContextAbout, 'signal'>): boolean;
  /** Throws where it cannot tell. */
  gather(about: ContextAbout): Promise<PartFound> | PartFound;
}
