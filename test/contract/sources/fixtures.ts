import type { Alert } from '../../../src/core/alert.ts';
import type { Change } from '../../../src/core/change.ts';

/** What `test/contract/sources/<source>.ts` exports as `fixtures`: payloads of one source, and what must be read in them. */
export interface SourceFixtures {
  /** The beginning of one problem. */
  readonly firing: unknown;
  /** Its one alert. */
  readonly alert: Pick<Alert, 'name' | 'title' | 'severity' | 'target'> & Partial<Alert>;
  /** The end of the same problem; null: the source never tells of one. */
  readonly resolved: unknown;
  /** The beginning of the same problem on another thing. */
  readonly otherThing: unknown;
  /** A beginning with this text wherever the sender, or who talks to it, can write. */
  readonly carrying: (text: string) => unknown;
  /** What is refused: the field that the message must name (empty: the payload as a whole), and what it must say of it. */
  readonly bad: readonly { readonly payload: unknown; readonly field: string; readonly says: string }[];
}

/** What it exports as `changes`, where its source tells of changes. */
export interface ChangeFixtures {
  /** A change that took effect. */
  readonly succeeded: object;
  readonly change: Partial<Change> & Pick<Change, 'kind' | 'title' | 'where'>;
  /** The same change before; null: the source tells of it once. */
  readonly started: object | null;
  /** Payloads of the same sender that tell of no change. */
  readonly none: readonly object[];
}
