import type { Alert, Severity } from '../core/alert.ts';
import { clip } from '../core/clip.ts';
import { closestName } from '../core/closest-name.ts';
import { type Refusal, refuse } from '../core/errors.ts';
import type { IncidentId } from '../core/ids.ts';
import type { Sql } from '../core/sql.ts';
import type { Target } from '../core/target.ts';
import { addRequester } from '../record/record.ts';
import { sha256 } from '../safety/sha256.ts';
import type { Accept } from './accept.ts';
import { redactAlert } from './redact-alert.ts';

export interface ByHand {
  /** What to look into, in a person's words. */
  readonly text: string;
  /** Slack user id, or a program's name on record. */
  readonly by: string;
  /** The same request twice opens one incident; another one with the same key is refused. */
  readonly key: string;
  /** A configured target's name; left out, the one that the words name, else the only one there is. */
  readonly target?: string | undefined;
  /** `warning` when left out. */
  readonly severity?: Severity | undefined;
  /** Asked before an incident is opened, not for a request that came before. */
  readonly mayOpen?: () => Promise<Refusal | undefined>;
}

/** `opened`: by this request, not by the same one before. */
export interface ManualIncident {
  readonly ok: true;
  readonly incidentId: IncidentId;
  readonly target: string | null;
  readonly opened: boolean;
}

/** Refusals: NOTHING_TO_LOOK_INTO, UNKNOWN_TARGET, KEY_REUSED, NOT_OPENED, and those of `mayOpen`. */
export type CreateManualIncident = (request: ByHand) => Promise<ManualIncident | Refusal>;

const MAX_TITLE = 200;
const MAX_TEXT = 4_000;

/**
 * Opens an incident for what a person has seen, of the target that is named, else of the one their words name, else of the
 * only one there is. Whoever opened it is one of its requesters, and so may not approve alone what needs somebody else.
 */
export function createManualIncidents(
  sql: Sql,
  accept: Accept,
  targets: Iterable<Target>,
): CreateManualIncident {
  return async (request) => {
    const text = request.text.trim().slice(0, MAX_TEXT);
    if (text.length < 3)
      return refuse('NOTHING_TO_LOOK_INTO', 'Say what to look into: /sentry investigate checkout is slow');
    const target = targetOf({ ...request, text }, [...targets]);
    if (target && 'ok' in target) return target;
    const alert = alertOf(text, request, target);
    if (request.mayOpen && !(await earlier(sql, alert))) {
      const no = await request.mayOpen();
      if (no) return no;
    }
    const { incidentId, kind } = await accept(alert);
    if (incidentId === null) return refuse('NOT_OPENED', 'That could not be opened as an incident.');
    if (kind === 'duplicate' && !isSame(await earlier(sql, alert), request, alert))
      return refuse('KEY_REUSED', 'This key was sent before with another text or target: use a new one.');
    await addRequester(sql, incidentId, request.by);
    return { ok: true, incidentId, target: target?.name ?? null, opened: kind !== 'duplicate' };
  };
}

interface Earlier {
  readonly title: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** What was asked with the same key before, as it stands on record. */
async function earlier(sql: Sql, { deliveryKey }: Alert): Promise<Earlier | undefined> {
  const [row] = await sql<Earlier>`
    SELECT title, labels, annotations FROM alert WHERE delivery_key = ${deliveryKey}`;
  return row;
}

/** A target that words name may be another by now; one that is named is held against the record. */
function isSame(before: Earlier | undefined, { target }: ByHand, alert: Alert): boolean {
  const { title, annotations } = redactAlert(alert);
  return (
    before?.title === title &&
    before.annotations['description'] === annotations['description'] &&
    (target === undefined || before.labels['target'] === target)
  );
}

function targetOf({ text, target: name }: ByHand, targets: readonly Target[]): Target | null | Refusal {
  if (name === undefined) return targetIn(text, targets);
  const named = targets.find((one) => one.name === name);
  if (named) return named;
  const near = closestName(
    name,
    targets.map((one) => one.name),
  );
  return refuse(
    'UNKNOWN_TARGET',
    near === null ? 'no target has this name' : `no target has this name: did you mean ${near}?`,
  );
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

function alertOf(text: string, { by, key, severity = 'warning' }: ByHand, target: Target | null): Alert {
  const [line = ''] = text.split('\n', 1);
  const now = new Date().toISOString();
  return {
    source: 'hand',
    status: 'firing',
    name: null,
    title: clip(line, MAX_TITLE),
    severity,
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
