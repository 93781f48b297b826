import { severityLabels } from '../../core/alert.ts';
import { type Refusal, refuse } from '../../core/errors.ts';
import type { IncidentId } from '../../core/ids.ts';
import { type Condition, formatConditions } from '../../core/matcher.ts';
import type { Sql } from '../../core/sql.ts';
import { HIDDEN } from '../../safety/alert-matcher.ts';
import { readSpan } from '../../safety/kill-switch/parse-kill-switch.ts';
import { type AlertSubject, alertFacts } from '../alert-facts.ts';

interface Deps {
  readonly sql: Sql;
  /** Whether a label says which thing is ill, and not who noticed it. */
  readonly isIdentifying: (label: string) => boolean;
  /** Whether everybody may read of it: a mute's matcher is told of where all alerts are. */
  readonly isPublic: (id: IncidentId) => Promise<boolean>;
}

const ONLY_TIME =
  /^(confirm\s+)?((?:this|it|that)\s+)?(?:for\s+)?(\d{1,5})\s*(?:(m)(?:ins?|inutes?)?|(h)(?:rs?|ours?)?|(d)(?:ays?)?)\b[.,:;]?(.*)$/is;

/**
 * What somebody typed, with the matcher that it lacks: “2h deploying” is of the incident it is said in. The matcher is for its alerts, as
 * bad as they are now: nothing else waits, and nothing that gets worse.
 */
export async function withMatcher(
  deps: Deps,
  text: string,
  here: IncidentId | null,
): Promise<string | Refusal> {
  const [, confirm = '', pointing, count = '', m = '', h = '', d = '', reason = ''] =
    ONLY_TIME.exec(text.trim()) ?? [];
  const span = `${count}${m}${h}${d}`;
  if (here === null && pointing !== undefined) return refuse('MATCHER', SAY_WHICH);
  if (here === null || readSpan(span) === undefined) return text;
  if (!(await deps.isPublic(here)))
    return refuse(
      'MATCHER',
      `A mute is told of in the first alert channel, and ${here} is not for everybody there. ${SAY_WHICH}`,
    );
  const matcher = await matcherOf(deps, here);
  return typeof matcher === 'string' ? `${confirm}${matcher} ${span}${reason}` : matcher;
}

async function matcherOf({ sql, isIdentifying }: Deps, id: IncidentId): Promise<string | Refusal> {
  const [incident] = await sql<AlertSubject>`
    SELECT id, severity, target, alert_name AS "alertName", title, labels FROM incident WHERE id = ${id}`;
  if (!incident) return refuse('UNKNOWN_INCIDENT', `There is no ${id}.`);
  const [first, ...others] = await alertFacts(sql, incident);
  if (!first?.alertname) return refuse('MATCHER', `The alert of ${id} has no name. ${SAY_WHICH}`);
  const own = Object.entries(first.labels).filter(
    ([name, value]) =>
      typeof value === 'string' && value !== '' && isIdentifying(name) && !KNOWN.includes(name),
  );
  const names = new Set(
    [first, ...others].flatMap(({ labels }) => Object.keys(labels)).filter((name) => isIdentifying(name)),
  );
  const differs = [...names].find((name) => others.some(({ labels }) => labels[name] !== first.labels[name]));
  if (differs !== undefined || others.some(({ alertname }) => alertname !== first.alertname))
    return refuse('MATCHER', `The alerts of ${id} differ in ${differs ?? 'their names'}. ${SAY_WHICH}`);
  if (own.some(([, value]) => String(value).includes(HIDDEN)))
    return refuse('MATCHER', `A part of the labels of ${id} is hidden here. ${SAY_WHICH}`);
  const conditions = [
    ['alertname', first.alertname],
    ['severity', incident.severity],
    ...(incident.target === null ? [] : [['target', incident.target]]),
    ...own,
  ].map(([name, value]): Condition => ({ name: String(name), op: '=', value: String(value) }));
  return formatConditions(conditions);
}

/** What a matcher asks of the incident, and not of its labels. */
const KNOWN: readonly string[] = ['alertname', 'target', 'source', 'title', ...severityLabels];
const SAY_WHICH =
  'Nothing is muted: say which alerts, like /sentry mute alertname="DiskFull", severity="warning" 2h';
