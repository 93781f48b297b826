import { messageOf } from '../core/errors.ts';
import type { IncidentId } from '../core/ids.ts';
import type { Log } from '../core/log.ts';
import type { HeldBack } from '../core/memory.ts';
import { within } from '../core/within.ts';

/** Who reads what memory says of past incidents. Slack's side knows; the channel is kept with each incident on record. */
export interface Audiences {
  /**
   * Which of the incidents may be told where everybody reads it who reads the thread of `here`: those of the same channel,
   * and those of public ones. What cannot be told, is not.
   *
   * @param asker who alone will read it, and must be allowed to read of them, too
   */
  mayTell(here: IncidentId, of: readonly IncidentId[], asker?: string): Promise<Told>;
  /** The incidents by who may read of them, each once: those that everybody may, then those of one channel each. */
  apart(of: readonly IncidentId[]): Promise<readonly Audience[]>;
}

export interface Told {
  readonly ids: ReadonlySet<IncidentId>;
  /** Those that there are, and that are not told. */
  readonly keptBack: ReadonlySet<IncidentId>;
  /** Of some of them it is not known whether they may be told. */
  readonly isUnsure: boolean;
}

export interface Audience {
  readonly everybody: boolean;
  readonly ids: readonly IncidentId[];
}

/** Memory waits so long to hear who may read what; it says nothing of what it has not heard of by then. */
const LIMIT_MS = 800;

/**
 * The same for whoever must not wait and must not fail: nothing may be told then.
 *
 * @param here null: an operator at a shell, who may read everything
 */
export async function toldOf(
  { audiences, log }: { readonly audiences: Audiences; readonly log: Log },
  here: IncidentId | null,
  of: readonly IncidentId[],
  asker?: string,
): Promise<Told> {
  if (of.length === 0 || here === null) return { ids: new Set(of), keptBack: new Set(), isUnsure: false };
  try {
    return await within(LIMIT_MS, audiences.mayTell(here, of, asker));
  } catch (error) {
    log.warn({ incident: here, error: messageOf(error) }, 'who may read of past incidents cannot be told');
    return { ids: new Set(), keptBack: new Set(of), isUnsure: true };
  }
}

/** Why some of what fits is not told; null: all of it is. */
export function heldBackOf({ keptBack, isUnsure }: Told, fitting: readonly IncidentId[]): HeldBack | null {
  if (!fitting.some((id) => keptBack.has(id))) return null;
  return isUnsure ? 'cannot_tell' : 'may_not';
}
