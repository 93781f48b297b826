import type { Change, ChangeKind } from '../../core/change.ts';
import type { Sql } from '../../core/sql.ts';
import type { Json } from '../../core/tool-call.ts';
import { BY_SENTRY, isMadeBySentry } from '../made-for.ts';
import type { FoundChange } from './changes-between.ts';

/**
 * What an action may change of what looks compare. One that only stirs what runs (a restart of a container, a vacuum, a session that is
 * ended) changes none of it: what is found of its object is another's doing.
 */
export const CHANGED_BY: ReadonlyMap<string, readonly ChangeKind[]> = new Map([
  ['postgres_set_setting', ['config']],
  ['postgres_autovacuum_on', ['migration']],
  ['container_update', ['config']],
  ['apply_patch', ['config']],
  ['undo_patch', ['config']],
  ['kubernetes_scale', ['config']],
  ['kubernetes_rollout_restart', ['deployment']],
  ['kubernetes_rollout_undo', ['rollback', 'deployment', 'config']],
  ['kubernetes_cordon', ['infrastructure']],
  ['kubernetes_uncordon', ['infrastructure']],
]);

/** The clock of the system and ours differ by less. */
const SKEW_MS = 60_000;
const MOST_ACTIONS = 100;

/** An action of Sentry's that ran, or runs, on a target. Times are ISO 8601, by the database's clock. */
export interface OwnAction {
  readonly tool: string;
  readonly input: Json;
  readonly isUndo: boolean;
  readonly startedAt: string;
  /** Null: it is not known to be over. */
  readonly finishedAt: string | null;
  /** “Sentry for INC-3, approved by Olivia”. */
  readonly by: string;
}

/** How people are called where a change says by whom it was; null where nobody can tell. */
export type NameOf = (userId: string) => Promise<string | null>;

/** What Sentry did at a target since its parts were read last, and before this time. */
export async function ownActions(
  sql: Sql,
  nameOf: NameOf,
  target: string,
  endedAt: string,
): Promise<readonly OwnAction[]> {
  const rows = await sql<Omit<OwnAction, 'by'> & { incident: string; approvers: readonly string[] }>`
    SELECT tool, input, incident_id AS incident, undoes IS NOT NULL AS "isUndo", started_at AS "startedAt",
           CASE WHEN state = 'succeeded' THEN finished_at END AS "finishedAt",
           CASE WHEN approved_by = '{}' AND decided_by IS NOT NULL THEN ARRAY[decided_by] ELSE approved_by END AS approvers
      FROM action
     WHERE target = ${target} AND state IN ('started', 'succeeded', 'unknown') AND NOT audit_only AND started_at <= ${endedAt}
       AND started_at >= (SELECT min(read_at) FROM change_part WHERE target = ${target}) - interval '1 hour'
     ORDER BY started_at DESC LIMIT ${MOST_ACTIONS}`;
  const mayChange = rows.filter(({ tool }) => CHANGED_BY.has(tool));
  return Promise.all(
    mayChange.map(async ({ incident, approvers, ...action }) => ({
      ...action,
      by: `${BY_SENTRY}${incident}${await approval(approvers, nameOf)}`,
    })),
  );
}

async function approval(approvers: readonly string[], nameOf: NameOf): Promise<string> {
  const named = await Promise.all(
    approvers.map(async (who) => (who === 'policy' ? 'a rule of the policy' : nameOf(who))),
  );
  const known = [...new Set(named.filter((name) => name !== null))];
  return known.length === 0 ? '' : `, approved by ${known.join(' and ')}`;
}

/** When its part was read last: it was not changed yet. */
interface Since {
  readonly lastAt: string;
}

/** What of these an action of Sentry's did is told as its doing. What more than one may have done, or who else did, stays as it is. */
export function withOwnActions(
  found: readonly (FoundChange & Since)[],
  actions: readonly OwnAction[],
): readonly Change[] {
  const mayBe = found.map((each) => actions.filter((action) => mayHaveDone(action, each)));
  return found.map(({ change }, at) => {
    const given = isMadeBySentry(change) ? { ...change, by: null } : change;
    const [last, ...others] = mayBe[at] ?? [];
    if (last === undefined || others.some(({ by }) => by !== last.by)) return given;
    // Of two things that it names nobody knows which one it did.
    if (mayBe.some((some, other) => other !== at && some.includes(last))) return given;
    const { startedAt, finishedAt, by, tool, isUndo } = last;
    const bounds =
      given.startedAt === null
        ? {}
        : {
            startedAt: others.reduce(
              (first, each) => (each.startedAt < first ? each.startedAt : first),
              startedAt,
            ),
            at: finishedAt !== null && finishedAt < given.at ? finishedAt : given.at,
          };
    const kind = isUndo || /(^|_)undo(_|$)/.test(tool) ? 'rollback' : given.kind;
    return { ...given, ...bounds, by, kind };
  });
}

function mayHaveDone(
  { tool, input, startedAt, finishedAt }: OwnAction,
  { change, names, kinds, lastAt }: FoundChange & Since,
): boolean {
  if (change.by !== null && change.by.toLowerCase() !== 'sentry') return false;
  if (finishedAt !== null && finishedAt < lastAt) return false;
  if (!kinds.every((kind) => CHANGED_BY.get(tool)?.includes(kind))) return false;
  // The system's own time of it, where it tells one, is that of the run.
  const [first, last] = [Date.parse(startedAt) - SKEW_MS, Date.parse(finishedAt ?? change.at) + SKEW_MS];
  const at = Date.parse(change.at);
  if (change.startedAt === null && (at < first || at > last)) return false;
  return isNamed(names, new Set(textsOf(input)), input);
}

/** `checkout` is named, and `shop/checkout` only where its namespace is, or none is. */
function isNamed(names: readonly string[], texts: ReadonlySet<string>, input: Json): boolean {
  const own = names.map((name) => name.toLowerCase());
  if (!own.some((name) => texts.has(name))) return false;
  const namespace = (input as { readonly namespace?: unknown } | null)?.namespace;
  const whole = own.filter((name) => own.some((other) => name.endsWith(`/${other}`)));
  return (
    typeof namespace !== 'string' ||
    whole.length === 0 ||
    whole.some(
      (name) =>
        texts.has(name.slice(name.indexOf('/') + 1)) && name.startsWith(`${namespace.toLowerCase()}/`),
    )
  );
}

function textsOf(input: unknown): readonly string[] {
  if (typeof input === 'string') return [input.toLowerCase()];
  return typeof input === 'object' && input !== null ? Object.values(input).flatMap(textsOf) : [];
}
