import type { Change, ChangeKind, ChangeState } from '../../../core/change.ts';
import type { Texts } from '../message-texts.ts';
import type { Content } from '../schema.ts';

/** What a deploy bot's message tells of one change. */
export interface Deploy extends Pick<Change, 'environment' | 'by' | 'to' | 'commits'> {
  /** In whose shape it is told, for its id. */
  readonly sender: string;
  readonly kind: ChangeKind;
  readonly state: ChangeState;
  /** What was deployed, as the message calls it; the first is what people read. */
  readonly names: readonly string[];
  readonly from?: string | null;
  /** What the sender calls this run: whatever it tells of it later is of the same change. */
  readonly run?: string | null;
  /** Where it tells a time of its own. */
  readonly at?: string | null;
  readonly url?: string | null;
}

/** A program that tells of deployments in a shape of its own; a line each in `deploys.ts`. */
export interface DeploySender {
  /** Null: this message is not of this shape. */
  read(message: Content, texts: Texts): Deploy | null;
}

/** “shop-api 1.4.2 is being deployed”: in the words in which the webhooks' changes are told. */
export function titleOf(
  { kind, state, names, from, to, environment }: Deploy,
  shorten: (to: string) => string,
) {
  const words = {
    rollback: ['is being rolled back', 'rolled back', 'failed to roll back'],
    other: ['is being changed', 'changed', 'failed to change'],
  };
  const [started, succeeded, failed] = words[kind as keyof typeof words] ?? [
    'is being deployed',
    'deployed',
    'failed to deploy',
  ];
  const done = { started, succeeded, failed }[state];
  const version = to === null || kind === 'rollback' ? '' : ` ${shorten(to)}`;
  const back = kind === 'rollback' && to !== null ? ` to ${shorten(to)}` : '';
  const before = from && kind === 'rollback' ? ` from ${shorten(from)}` : '';
  return `${names[0]}${version} ${done}${before}${back}${environment === null ? '' : ` in ${environment}`}`;
}
