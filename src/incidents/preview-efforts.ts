import { type EffortRule, effortRuleFor } from '../actions/policy/effort-rules.ts';
import { count } from '../core/count.ts';
import { type Effort, efforts } from '../core/effort.ts';
import type { Sql } from '../core/sql.ts';
import { type AlertFacts, type AlertMatcher, mayQuieten } from '../safety/alert-matcher.ts';

/** What rules would have done about alerts on record. */
export interface EffortPreview {
  readonly days: number;
  readonly alerts: number;
  readonly incidents: number;
  /** In the order of the policy. */
  readonly rules: readonly (Hits & { readonly match: string; readonly effort: Effort })[];
  /** By effort; what no rule fits is `adaptive`. */
  readonly efforts: Readonly<Record<Effort, number>>;
  /** What is muted now or by a window of maintenance, whenever that is open. */
  readonly mutes: readonly (Hits & { readonly match: string })[];
}

interface Hits {
  readonly alerts: number;
  readonly incidents: number;
}

const PAGE = 2_000;

/** Looks through the firing alerts of so many days, a page at a time; writes nothing. */
export async function previewEfforts(
  sql: Sql,
  given: {
    readonly rules: readonly EffortRule[];
    readonly mutes: readonly AlertMatcher[];
    readonly days: number;
  },
): Promise<EffortPreview> {
  const rules = given.rules.map((rule) => ({ rule, tally: new Tally() }));
  const mutes = given.mutes.map((matcher) => ({ matcher, tally: new Tally() }));
  const all = new Tally();
  const byEffort = Object.fromEntries(efforts.map((effort) => [effort, 0])) as Record<Effort, number>;
  let after = '0';
  for (;;) {
    const page = await readPage(sql, given.days, after);
    for (const { incident, ...facts } of page) {
      all.add(incident);
      const rule = effortRuleFor(given.rules, facts);
      rules.find((each) => each.rule === rule)?.tally.add(incident);
      byEffort[rule?.effort ?? 'adaptive'] += 1;
      for (const { matcher, tally } of mutes) if (mayQuieten(matcher, facts)) tally.add(incident);
    }
    after = page.at(-1)?.no ?? after;
    if (page.length < PAGE) break;
  }
  return {
    days: given.days,
    ...all.hits(),
    rules: rules.map(({ rule, tally }) => ({
      match: rule.matcher.text,
      effort: rule.effort,
      ...tally.hits(),
    })),
    efforts: byEffort,
    mutes: mutes.map(({ matcher, tally }) => ({ match: matcher.text, ...tally.hits() })),
  };
}

const readPage = (sql: Sql, days: number, after: string) => sql<
  AlertFacts & { readonly no: string; readonly incident: string }
>`
  SELECT a.id::text AS no, a.incident_id AS incident, coalesce(a.labels->>'alertname', i.alert_name, '') AS alertname, i.severity,
         coalesce(i.target, '') AS target, a.source, a.title, a.labels
    FROM alert a JOIN incident i ON i.id = a.incident_id
   WHERE a.id > ${after}::bigint AND a.status = 'firing' AND a.source <> 'hand'
     AND a.received_at > statement_timestamp() - ${days} * interval '1 day'
   ORDER BY a.id LIMIT ${PAGE}`;

class Tally {
  #alerts = 0;
  readonly #incidents = new Set<string>();

  add(incident: string): void {
    this.#alerts += 1;
    this.#incidents.add(incident);
  }

  hits(): Hits {
    return { alerts: this.#alerts, incidents: this.#incidents.size };
  }
}

/** For a terminal. */
export function formatPreview(preview: EffortPreview): readonly string[] {
  const { days, alerts, incidents, rules, mutes } = preview;
  const hits = (one: Hits): string =>
    one.alerts === 0
      ? 'matches nothing'
      : `${count(one.alerts, 'alert')} of ${count(one.incidents, 'incident')}`;
  return [
    `${count(alerts, 'alert')} of ${count(incidents, 'incident')} in ${count(days, 'day')}. An alert counts as severe as its incident.`,
    '',
    rules.length === 0
      ? 'The policy has no rule of effort: all of them are adaptive.'
      : 'Rules, each with the alerts that no rule before it fits:',
    ...rules.map((rule) => `  ${rule.effort.padEnd(9)}  ${rule.match}: ${hits(rule)}`),
    `By effort: ${efforts.map((effort) => `${effort} ${preview.efforts[effort]}`).join(', ')}`,
    ...(mutes.length === 0 ? [] : ['', 'Muted now, or by maintenance while it is open:']),
    ...mutes.map((mute) => `  ${mute.match}: ${hits(mute)}`),
  ];
}
