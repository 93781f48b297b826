import type { AlertHeadline } from '../../core/alert.ts';
import type { Listed } from './listed.ts';
import type { Texts } from './message-texts.ts';
import type { Content } from './schema.ts';

/** Programs whose messages have a shape of their own; a line each in `senders.ts`. */
export interface Sender {
  /** Null: this message is not of this shape. Told by the shape, since people rename apps as they like. */
  read(message: Content, texts: Texts): Reading | null;
}

/** What a message tells. */
export interface Reading {
  readonly status: 'firing' | 'resolved';
  readonly name: string | null;
  readonly title: string;
  /** The source's own word. */
  readonly severity: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Values whose labels' names are not told; among them may be the target's. */
  readonly values: readonly string[];
  /** What its fingerprint is made of besides labels: the name, and words that tell instances apart. */
  readonly identity: { readonly name: string; readonly words: readonly string[] };
  /** In its place: the id that the alert's webhook has. */
  readonly own?: { readonly sender: string; readonly id: string };
  readonly headline?: AlertHeadline;
  /** Each alert of a group that the message lists; the rest is then said of the group. */
  readonly listed?: readonly Listed[];
  readonly apart?: readonly string[];
}
