import { z } from 'zod';
import { type ActionOutcome, isRiskier, type Risk } from '../../../core/action.ts';
import { messageOf, OpsError } from '../../../core/errors.ts';
import type { Json } from '../../../core/tool-call.ts';
import type { Deadline, ToolContext } from '../../../tools/define.ts';
import type { SessionOptions } from '../../../tools/ports.ts';
import { bootClock, passed } from '../../boot-clock.ts';
import type { Cluster, ObjectRef } from '../cluster.ts';
import type { KubernetesObject } from '../objects.ts';
import type { KubernetesSystem } from '../tool.ts';

/** For every card. */
export const GUARDED =
  'The cluster itself checks that the object is unchanged when it acts. It knows no deadline: Sentry looks at its own clock right before it asks.';

/** A controller may write its state in between a look and a change: so often both are made anew. */
export const TRIES = 4;

/** What takes an action back is for the very object that it was done to. */
export const onlyUid = z
  .string()
  .regex(/^[\w-]{1,64}$/)
  .optional()
  .describe('Only if the object has this uid: an undo names it.');

/** An object to change. Throws OpsError GONE when there is none of that name, or, where a uid is asked for, not that one. */
export async function present<T extends KubernetesObject>(
  cluster: Cluster,
  ref: ObjectRef & { readonly uid?: string | undefined },
  options: SessionOptions,
): Promise<T> {
  try {
    return ofUid(await cluster.get<T>(ref, options), ref);
  } catch (error) {
    throw asGone(error, ref);
  }
}

/** The object itself. Throws OpsError GONE when it took its name after the one of that uid. */
export function ofUid<T extends KubernetesObject>(
  object: T,
  { kind, name, uid }: ObjectRef & { readonly uid?: string | undefined },
): T {
  if (uid === undefined || object.metadata.uid === uid) return object;
  throw new OpsError('GONE', `${kind} ${name} is another one of the same name by now.`, {
    hint: 'Look at it again.',
  });
}

/** An object that is not there is gone; everything else stays what it is. */
export function asGone(error: unknown, { kind, name }: ObjectRef): unknown {
  if (!(error instanceof OpsError && error.code === 'KUBERNETES_NOT_FOUND')) return error;
  return new OpsError('GONE', `There is no ${kind} ${name}.`, { hint: 'List what is there.', cause: error });
}

interface Change<T> {
  readonly ref: ObjectRef;
  /** What keeps it from being done to the object as it is now; undefined: nothing. */
  moved(object: T): string | undefined;
  /** Of the object as it is now; the version that goes with the change holds it to that. */
  risk?(object: T): Risk;
  /** What is set, by JSON pointer. */
  values(object: T): Readonly<Record<string, Json>>;
}

/** Has the cluster admit and validate a change without making it. Throws what the cluster has against it. */
export async function rehearse<T extends KubernetesObject>(
  { system, ...options }: ToolContext<KubernetesSystem>,
  { ref, values }: Pick<Change<T>, 'ref' | 'values'>,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const object = await present<T>(system.cluster, ref, options);
    try {
      await system.cluster.change(ref, object.metadata.resourceVersion, values(object), {
        ...options,
        dryRun: true,
      });
      return;
    } catch (error) {
      if (tries >= TRIES || !isConflict(error)) throw error;
    }
  }
}

/**
 * Makes a change if the object is still as it was approved and the deadline has not passed. The version that was looked at
 * goes with the change, so the cluster refuses it when anything moved in between; where only its state did, it is tried again.
 */
export async function change<T extends KubernetesObject>(
  { system, ...options }: ToolContext<KubernetesSystem>,
  { ref, moved, risk, values }: Change<T>,
  deadline: Deadline,
  done: { readonly text: string; readonly data: Json },
): Promise<ActionOutcome> {
  for (let tries = 1; ; tries += 1) {
    const object = await present<T>(system.cluster, ref, options);
    const why = moved(object);
    if (why !== undefined) return nothing(why);
    const riskier = risk && riskierThan(deadline, risk(object));
    if (riskier) return riskier;
    if (passed(bootClock(), deadline)) return nothing('the deadline had passed.');
    try {
      await system.cluster.change(ref, object.metadata.resourceVersion, values(object), options);
      return { kind: 'succeeded', ...done };
    } catch (error) {
      if (tries >= TRIES || !isConflict(error)) return outcomeOf(error);
    }
  }
}

/** Nothing is done where it would be of higher risk than it was approved as; undefined: it is not. */
export const riskierThan = ({ risk: approved }: Deadline, now: Risk): ActionOutcome | undefined =>
  approved !== undefined && isRiskier(now, approved)
    ? nothing(`it is of ${now} risk by now, and was approved as one of ${approved} risk.`)
    : undefined;

export const nothing = (why: string): ActionOutcome => ({ kind: 'failed', text: `Nothing was done: ${why}` });

/** An answer that refuses is a certain *no effect*; silence, and an error of the server, leave it open. */
export function outcomeOf(error: unknown): ActionOutcome {
  const text = messageOf(error);
  return error instanceof OpsError && /^KUBERNETES_(?!5\d\d$|AWAY$|TOO_LARGE$)/.test(error.code)
    ? nothing(text)
    : { kind: 'unknown', text };
}

export const isConflict = (error: unknown): boolean =>
  error instanceof OpsError && error.code === 'KUBERNETES_CONFLICT';
