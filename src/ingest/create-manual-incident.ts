import type { Alert } from '../core/alert.ts';
import { clip } from '../core/clip.ts';
import { type Refusal, refuse } from '../core/errors.ts';
import type { IncidentId } from '../core/ids.ts';
import type { Sql } from '../core/sql.ts';
import type { Target } from '../core/target.ts';
import { addRequester } from '../record/record.ts';
import { sha256 } from '../safety/sha256.ts';
import type { Accept } from './accept.ts';

export interface ByHand {
  /** What to look into, in a person's words. */
  readonly text: string;
  /** Slack user id. */
  readonly by: string;
  /** The same request twice opens one incident. */
  readonly key: string;
}

export type CreateManualIncident = (
  request: ByHand,
) => Promise<
  { readonly ok: true; readonly incidentId: IncidentId; readonly target: string | null } | Refusal
>;

const MAX_TITLE = 200;
const MAX_TEXT = 4_000;

/**
 * Opens an incident for what a person has seen, of the target their words name, else of the only one there is. Whoever
 * opened it is one of its requesters, and so may not approve alone what needs somebody else.
 */
export function createManualIncidents(
  sql: Sql,
  accept: Accept,
  targets: Iterable<Target>,
): CreateManualIncident {
  return async ({ text: given, by, key }) => {
    const text = given.trim().slice(0, MAX_TEXT);
    if (text.length < 3)
      return refuse('NOTHING_TO_LOOK_INTO', 'Say what to look into: /sentry investigate checkout is slow');
    const target = targetIn(text, [...targets]);
    const { incidentId } = await accept(alertOf(text, by, key, target));
    if (incidentId === null) return refuse('NOT_OPENED', 'That could not be opened as an incident.');
    await addRequester(sql, incidentId, by);
    return { ok: true, incidentId, target: target?.name ?? null };
  };
}

/** The target whose name or alias stands in the text as a word, the longest name first. */
function targetIn(text: string, targets: readonly Target[]): Target | null {
  const words = ` ${text.toLowerCase().replace(/[^\p{L}\p{N}._:-]+/gu, ' ')} `.replace(/[.:](?= )/g, '');
  const named = targets
    .flatMap((target) =>
      [target.name, ...target.aliases].map((name) => ({ target, name: name.toLowerCase() })),
    )
    .filter(({ name }) => words.includes(` ${name} `))
    .toSorted((a, b) => b.name.length - a.name.length)[0];
  return named?.target ?? (targets.length === 1 ? (targets[0] ?? null) : null);
}

function alertOf(text: string, by: string, key: string, target: Target | null): Alert {
  const [line = ''] = text.split('\n', 1);
  const now = new Date().toISOString();
  return {
    source: 'hand',
    status: 'firing',
    name: null,
    title: clip(line, MAX_TITLE),
    severity: 'warning',
    sourceSeverity: null,
    labels: target === null ? {} : { target: target.name },
    annotations: { description: text, requested_by: by },
    target: target?.name ?? null,
    fingerprint: sha256(`hand\0${key}`).slice(0, 32),
    deliveryKey: `hand:${key}`,
    startsAt: now,
    endsAt: null,
    url: null,
  };
}
