import type { Alert } from '../core/alert.ts';
import type { Change, Push } from '../core/change.ts';

/** An alert source: a folder with `index.ts` and `schema.ts`, and one line in `registry.ts`. */
export interface AlertSource {
  /** What `Alert.source` says, in kebab case; also its route, its `--source` and its label in the metrics. */
  readonly name: string;
  /** What people call it. */
  readonly title: string;
  /** Ends the sentence “It must be …”, for whoever handed in something else. */
  readonly payload: string;
  /** Where the sender describes it. */
  readonly docs?: string;
  /** By its webhook's route, as messages that Sentry sees in Slack, or from a target that Sentry watches. */
  readonly arrives: 'webhook' | 'slack' | 'watch';
  /** Whether it sends the end of every alert as well: a chat message alone may never be followed by one, nor a line of a log. */
  readonly sendsEnds: boolean;
  /** Whether it tells again, at least every few days, of every alert that still fires: then its silence says something. */
  readonly repeats?: boolean;
  /**
   * The times of its alerts are the sender's own, of one occurrence: what began at or before an end that it told is over, whichever
   * of the two comes first. Elsewhere the order of arrival counts.
   */
  readonly ownTimes?: boolean;
  /** Its alerts may carry fewer labels than the problem has (a chat message), so they may join an incident by less. */
  readonly partialLabels: boolean;
  /** Whether it tells of changes; `only`: and of no alerts. */
  readonly changes?: 'too' | 'only';
  /** How it signs what it sends, where it can. */
  readonly signature?: Signature;
  /** Before a delivery by HTTP is read: looks at what else proves its sender, and answers its handshake. Null: go on. */
  receive?(payload: unknown): Promise<BadInput | null>;
  /** Reads one delivery. Must not throw: bad input is a value that names the field. */
  read(payload: unknown, context: ReadContext): ReadResult | Promise<ReadResult>;
}

/** HMAC-SHA256 of the body with the webhook's secret, in hexadecimal digits behind `prefix`, in `header` (lower case). */
export interface Signature {
  readonly header: string;
  readonly prefix: string;
}

export interface ReadContext {
  readonly receivedAt: Date;
  /** Every message of another app is an alert, also one that is not marked as such; for chat sources. */
  readonly everyMessage?: boolean;
  /** Whose own messages are no alerts; for chat sources. */
  readonly own?: { readonly botId: string | null; readonly userId: string | null };
}

export type ReadResult =
  /**
   * Empty when the payload is well-formed but tells of no alert (a person's message, a thread reply). `refused`: those of
   * several that could not be read, without harm to the others. `changes`: what it says was changed, which opens nothing.
   */
  | {
      readonly ok: true;
      readonly alerts: readonly Alert[];
      /**
       * Where the alerts are those that a message of a group lists: what the message as one says of the group, which is what is
       * accepted. Its end often lists none of them, and would be of nothing that is known.
       */
      readonly together?: Alert;
      readonly changes?: readonly Change[];
      /** What it says was pushed: kept to tell what a deployment brings. */
      readonly pushes?: readonly Push[];
      readonly refused?: readonly BadInput[];
    }
  | BadInput;

export interface BadInput {
  readonly ok: false;
  /** A path like `alerts.0.labels.instance`; empty when the payload as a whole is wrong. */
  readonly field: string;
  /** What was expected there, for whoever sent it. */
  readonly reason: string;
}

/** What is accepted of what was read. */
export const acceptedOf = ({
  alerts,
  together,
}: Extract<ReadResult, { readonly ok: true }>): readonly Alert[] =>
  together === undefined ? alerts : [together];
