import type { ToolKind } from '../../actions/access.ts';
import type { Action } from '../../core/action.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { Incident } from '../../core/incident.ts';
import type { Callees } from '../../escalation/who-to-call.ts';
import type { WatchedState } from '../../ingest/watch-board.ts';
import type { LayerStatus } from '../../safety/layers.ts';

/** Who looks at App Home, and what they may read: nothing else counts in any line of it. */
export interface HomeReader {
  readonly userId: string;
  /** The newest incidents that they may read. */
  readonly recent: readonly Incident[];
  readonly mayRead: (incident: Incident) => Promise<boolean>;
}

/** What App Home is made of, beside the incidents themselves. */
export interface HomeSources {
  facts(reader: HomeReader): Promise<HomeFacts>;
  layers(): Promise<readonly LayerStatus[]>;
  /** What this person may do, a line each. */
  access(userId: string): Promise<readonly string[]>;
  tools(): readonly HomeTools[];
  watched(): Promise<readonly WatchedState[]>;
  /** What could not be read and somebody can grant; none for who may not ask for reads. */
  gaps(reader: HomeReader): Promise<readonly HomeGap[]>;
  tried(reader: HomeReader): Promise<HomeTried>;
  targets(): readonly string[];
}

/** What App Home shows at once; lines are ours, plain, one thing each. */
export interface HomeFacts {
  readonly isAdmin: boolean;
  /** Nothing is changed anywhere until somebody resumes. */
  readonly isStopped: boolean;
  /** Who stopped what, who investigates. `<@U…>` stands for a person. */
  readonly state: readonly string[];
  readonly cost: HomeCost;
  /** Null: nobody is ever called. */
  readonly onCall: Callees | null;
  readonly targets: readonly HomeTarget[];
  readonly gaps: readonly HomeGap[];
  /** Plans that this person may approve now, those that expire first. */
  readonly approvals: readonly HomeApproval[];
  /** Who has which incident. */
  readonly holders: ReadonlyMap<IncidentId, string>;
  readonly layers: readonly LayerStatus[];
}

export interface HomeCost {
  readonly says: string;
  /** US dollars of each of the last days (UTC), today last; null: nothing is on record of that day. */
  readonly days: readonly (number | null)[];
}

/** How a target was when it was last looked at. */
export interface HomeTarget {
  readonly name: string;
  /** `silent`: it is asked every hour, and has not answered lately. */
  readonly state: 'answers' | 'away' | 'silent' | 'unseen';
  /** When it last answered, or for `away` when it did not; null: never. */
  readonly at: string | null;
}

/** One thing that investigations could not read, and what would mend it. */
export interface HomeGap {
  readonly target: string;
  /** Why it could not be read, in a line. */
  readonly reason: string;
  readonly incidents: number;
  /** Incidents on this target with a diagnosis. */
  readonly of: number;
  readonly who: string;
  readonly what: string;
  readonly exact: string | null;
  readonly note: string | null;
}

export interface HomeApproval {
  readonly action: Action;
  readonly steps: readonly Action[];
}

/** The tools for one kind of system. */
export interface HomeTools {
  readonly domain: string;
  readonly tools: readonly HomeTool[];
}

export interface HomeTool {
  readonly name: string;
  readonly kind: ToolKind;
  /** One sentence. */
  readonly says: string;
}

/** What was tried in the incidents that somebody may read. */
export interface HomeTried {
  readonly incidents: number;
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
  /** The words that its errors have most often, with in how many they stand. */
  readonly words: ReadonlyArray<readonly [word: string, errors: number]>;
}
