import type { LayerStatus } from '../../safety/layers.ts';

/** What App Home shows a person beside the incidents; lines are ours, plain, one thing each. */
export interface HomeFacts {
  /** Sees what every layer says, and where proposals wait. */
  readonly isAdmin: boolean;
  /** The mode, who stopped what, who investigates. `<@U…>` stands for a person. */
  readonly state: readonly string[];
  readonly cost: readonly string[];
  readonly layers: readonly LayerStatus[];
  /** What this person may do. */
  readonly access: readonly string[];
  readonly tools: readonly HomeTools[];
}

/** The tools for one kind of system. */
export interface HomeTools {
  readonly domain: string;
  readonly reading: number;
  /** In words: what a person has to approve. */
  readonly changing: readonly string[];
}
