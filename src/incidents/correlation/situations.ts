import { z } from 'zod';
import { severities } from '../../core/alert.ts';
import { formatMergeReason } from '../../core/merge.ts';
import { correlate, mayRest, type Neighbour, type SharedChange, type Side } from './correlate.ts';
import { topologyOf } from './topology.ts';

const texts = z.record(z.string(), z.string());
const time = z.coerce.date();

/** One line of a file of situations: what was configured, what changed, and which alerts came. */
export const Situation = z.object({
  id: z.union([z.string(), z.number()]).transform(String),
  targets: z.array(
    z.object({
      name: z.string(),
      kind: z.string(),
      environment: z.string().default('production'),
      neighbours: z.array(z.string()).default([]),
      aliases: z.array(z.string()).default([]),
    }),
  ),
  changes: z
    .array(
      z.object({
        id: z.coerce.string(),
        title: z.string(),
        /** Names of targets. */
        where: z.array(z.string()),
        at: time,
        url: z.string().nullish(),
      }),
    )
    .default([]),
  /** In any order. */
  alerts: z.array(
    z.object({
      at: time,
      title: z.string(),
      name: z.string().nullish(),
      severity: z.enum(severities).catch('unknown'),
      status: z.enum(['firing', 'resolved']).default('firing'),
      target: z.string().nullish(),
      labels: texts.default({}),
      source: z.string().default(''),
      /** How its incident stands, where that matters: it waits by itself, or something of it waits for approval or runs. */
      waits: z.boolean().default(false),
      acts: z.boolean().default(false),
    }),
  ),
});
export type Situation = z.infer<typeof Situation>;

/** Which of the alerts are one problem, by their place in the situation, and why. */
export interface Grouped {
  readonly id: string;
  readonly groups: readonly (readonly number[])[];
  readonly because: readonly string[];
}

/** So long before the first of two alerts a change may have been made that both follow. */
const CHANGED_BEFORE_MS = 60 * 60_000;
/** A change of more systems than that says nothing about any two of them. */
const CHANGED_AT_MOST = 5;
/** As often within an hour, an alert that fires again after its end comes and goes. */
const FLIPS = 4;

interface Opened extends Side<number> {
  readonly alerts: number[];
  readonly ends: Date[];
  lead: Opened | null;
}
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** What Sentry would make of the alerts, one after the other, by the decision that it makes itself. */
export function groupSituation(
  { id, targets, changes, alerts }: Situation,
  kinds: readonly { readonly name: string; readonly domains: readonly unknown[] }[],
  windowMs: number,
): Grouped {
  const observing = new Set(kinds.filter(({ domains }) => domains.length === 0).map(({ name }) => name));
  const topology = topologyOf(
    targets.map((target): Neighbour => ({ ...target, observes: observing.has(target.kind) })),
  );
  const opened: Mutable<Opened>[] = [];
  const because: string[] = [];
  const inOrder = alerts
    .map((alert, index) => ({ ...alert, index }))
    .toSorted((a, b) => a.at.getTime() - b.at.getTime());
  for (const alert of inOrder) {
    const known = opened.find(
      (one) =>
        one.alertName === (alert.name ?? null) &&
        one.target === (alert.target ?? null) &&
        (alert.name != null || one.title === alert.title) &&
        sameLabels(one.labels, alert.labels),
    );
    if (alert.status === 'resolved') {
      if (known) end(known, alert);
      continue;
    }
    const one = known ? fireAgain(known, alert) : open(alert);
    if (!known) opened.push(one);
    if (one.lead !== null) continue;
    for (const other of opened.filter((each) => each !== one)) {
      const decided = correlate(one, other, topology, sharedChange(changes, one, other), windowMs);
      if (decided.kind !== 'merge') continue;
      const [child, lead] = decided.child === one.id ? [one, other] : [other, one];
      if (!mayRest(child) || isUnder(lead, child)) continue;
      Object.assign(child, { lead, isMember: true });
      because.push(`${child.title} is a part of ${lead.title}: ${formatMergeReason(decided.because)}`);
      if (child === one) break;
    }
  }
  return { id, groups: groupsOf(opened, alerts.length), because };
}

type Numbered = Situation['alerts'][number] & { readonly index: number };

function open(alert: Numbered): Mutable<Opened> {
  const { index, at, title, name, severity, target, labels, source, waits, acts } = alert;
  return {
    id: index,
    target: target ?? null,
    state: 'open',
    beganAt: at,
    title,
    alertName: name ?? null,
    severity,
    labels,
    annotations: {},
    source,
    fires: true,
    rests: waits,
    acts,
    isMember: false,
    alerts: [index],
    ends: [],
    lead: null,
  };
}

function end(one: Mutable<Opened>, { index, at }: Numbered): void {
  one.alerts.push(index);
  one.ends.push(at);
  one.fires = false;
}

function fireAgain(one: Mutable<Opened>, { index, at, waits, acts }: Numbered): Mutable<Opened> {
  one.alerts.push(index);
  if (!one.fires) one.beganAt = at;
  one.fires = true;
  const flips = one.ends.filter((ended) => at.getTime() - ended.getTime() < 3_600_000).length;
  one.rests = waits || flips >= FLIPS;
  one.acts = acts;
  return one;
}

const sameLabels = (a: Side['labels'], b: Side['labels']): boolean => {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => a[name] === b[name]);
};

function isUnder(one: Opened, other: Opened): boolean {
  for (let up: Opened | null = one; up !== null; up = up.lead) if (up === other) return true;
  return false;
}

/** The newest change of both systems before both alerts; a situation's systems name its source. */
function sharedChange(changes: Situation['changes'], a: Side<number>, b: Side<number>): SharedChange | null {
  const first = Math.min(a.beganAt.getTime(), b.beganAt.getTime());
  const found = changes
    .filter(({ where, at }) => {
      const touched = where.map((name) => name.toLowerCase());
      const isBoth = [a, b].every(({ target }) => target !== null && touched.includes(target.toLowerCase()));
      const before = first - at.getTime();
      return isBoth && touched.length <= CHANGED_AT_MOST && before >= 0 && before <= CHANGED_BEFORE_MS;
    })
    .toSorted((one, other) => other.at.getTime() - one.at.getTime())[0];
  return found ? { isTrusted: true, id: found.id, title: found.title, url: found.url ?? null } : null;
}

/** Every alert is in one; ends that are of nothing known stand alone. */
function groupsOf(opened: readonly Opened[], count: number): readonly (readonly number[])[] {
  const byTop = new Map<Opened, number[]>();
  for (const one of opened) {
    let top = one;
    while (top.lead !== null) top = top.lead;
    byTop.set(top, [...(byTop.get(top) ?? []), ...one.alerts]);
  }
  const grouped = [...byTop.values()].map((group) => group.toSorted((a, b) => a - b));
  const known = new Set(grouped.flat());
  const alone = Array.from({ length: count }, (_, index) => [index]).filter(
    ([index = 0]) => !known.has(index),
  );
  return [...grouped, ...alone].toSorted(([a = 0], [b = 0]) => a - b);
}
