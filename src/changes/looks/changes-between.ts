import { boundedChange, type Change, type ChangeKind } from '../../core/change.ts';
import { clip } from '../../core/clip.ts';
import { count } from '../../core/count.ts';
import type { Target } from '../../core/target.ts';
import { OWN_LOOK } from '../../core/what-changed.ts';
import { sha256 } from '../../safety/sha256.ts';
import type { KeptItem, SeenPart } from './screened-item.ts';

/** More of one part at once are one change: an upgrade, a restored copy, a migration. */
const MOST_OF_A_PART = 30;
const NAMED_OF_MANY = 3;
const NAME = 120;
const VALUE = 60;

/** Two looks at a target, by the database's clock, ISO 8601. */
export interface BetweenLooks {
  readonly target: Pick<Target, 'name' | 'environment'>;
  /** When the earlier one began: what it saw was so then. */
  readonly lastAt: string;
  /** When the later one was over. */
  readonly endedAt: string;
}

/** A change, and what tells whose doing it may have been. */
export interface FoundChange {
  readonly change: Change;
  /** What the thing is called: its objects, or its own name where it has none. */
  readonly names: readonly string[];
  /** Of all that differs of it. */
  readonly kinds: readonly ChangeKind[];
}

/** What was changed of a part between two looks at it (`foundBetween`). */
export const changesBetween = (...given: Parameters<typeof foundBetween>): readonly Change[] =>
  foundBetween(...given).map(({ change }) => change);

/**
 * What was changed of a part between two looks at it. The same two give the same ids. A change took effect after the last look, and
 * before this one, or before the time that the system itself tells of it.
 */
export function foundBetween(
  before: readonly KeptItem[],
  { part, items }: SeenPart,
  looks: BetweenLooks,
): readonly FoundChange[] {
  const known = new Map(before.map((item) => [item.key, item]));
  const now = new Map(items.map((item) => [item.key, item]));
  const differences = [
    ...items.flatMap((item) => cameOrChanged(known.get(item.key), item)),
    ...before.flatMap((item) =>
      now.has(item.key) || !item.mayComeAndGo ? [] : [{ item, was: item, is: null }],
    ),
  ];
  const things = perThing(differences);
  const bounded = (change: Change): Change => boundedChange(change, new Date(looks.endedAt));
  return things.length > MOST_OF_A_PART
    ? [{ change: bounded(asOne(part, differences, looks)), names: [], kinds: [] }]
    : things.map((thing) => ({
        change: bounded(toChange(part, thing, looks)),
        names: thing[0].item.objects.length > 0 ? thing[0].item.objects : [thing[0].item.name],
        kinds: thing.map(({ item }) => item.kind),
      }));
}

/** `was` null: it came; `is` null: it is gone. `item`: as it is, else as it was. */
interface Difference {
  readonly item: KeptItem;
  readonly was: KeptItem | null;
  readonly is: KeptItem | null;
}

function cameOrChanged(was: KeptItem | undefined, item: KeptItem): readonly Difference[] {
  if (was === undefined) return item.mayComeAndGo ? [{ item, was: null, is: item }] : [];
  return was.value === item.value ? [] : [{ item, was, is: item }];
}

/** All that differs of one thing, in the order of the keys. */
type Differences = readonly [Difference, ...Difference[]];

/** A container that is made anew has another image and other variables: what differs of one thing is one change. */
function perThing(differences: readonly Difference[]): readonly Differences[] {
  const things = new Map<string, [Difference, ...Difference[]]>();
  for (const difference of differences) {
    const { key, objects } = difference.item;
    const thing = JSON.stringify(objects.length === 0 ? key : objects);
    const others = things.get(thing);
    if (others === undefined) things.set(thing, [difference]);
    else others.push(difference);
  }
  return [...things.values()];
}

/** The first of these that differs tells what kind of change it is. */
const KINDS: readonly ChangeKind[] = ['rollback', 'deployment', 'migration', 'config', 'feature_flag'];

function toChange(part: string, thing: Differences, looks: BetweenLooks): Change {
  const [{ item }] = thing;
  const times = thing.flatMap(({ is }) => is?.since ?? []).toSorted();
  const valued = thing.toSorted((a, b) => weightOf(a) - weightOf(b));
  const [weightiest = thing[0]] = valued;
  const { was, is } = valued.find(isShown) ?? weightiest;
  const [from, to] = [was && shown(was.value), is && shown(is.value)];
  const isExact = !thing.some((each) => each.is?.orBefore);
  return {
    ...changeOf(looks, [part, item.key], times.at(-1), isExact),
    kind: weightiest.item.kind,
    title: [titleOf(thing[0], looks.target.name), ...besides(thing)].join(', '),
    where: [looks.target.name, ...item.objects],
    by: thing.find((each) => each.is?.by !== undefined)?.is?.by ?? null,
    // Of what differs in what is not shown, neither says anything.
    from: from === to ? null : from,
    to: from === to ? null : to,
  };
}

const weightOf = ({ item: { kind } }: Difference): number => {
  const at = KINDS.indexOf(kind);
  return at === -1 ? KINDS.length : at;
};

function isShown({ was, is }: Difference): boolean {
  const [from, to] = [was, is].map((item) => item && shown(item.value));
  return from !== null && to !== null && from !== to;
}

/** What else differs of a thing, the weightiest first: “image shop:1.2 → shop:1.3”. */
function besides([, ...others]: Differences): readonly string[] {
  const told = others.toSorted((a, b) => weightOf(a) - weightOf(b)).slice(0, NAMED_OF_MANY);
  const left = others.length - told.length;
  return [
    ...told.map(({ item, was, is }) => {
      const name = clip(item.name.replace(/ of .*$/, ''), NAME);
      const { changed, came = 'is new', went = 'is gone' } = item.told ?? {};
      if (was === null) return `${name} ${came}`;
      if (is === null) return `${name} ${went}`;
      return `${name} ${changed ?? fromTo(was, is)}`;
    }),
    ...(left > 0 ? [`and ${left} more`] : []),
  ];
}

function asOne(part: string, differences: readonly Difference[], looks: BetweenLooks): Change {
  const names = differences.slice(0, NAMED_OF_MANY).map(({ item }) => clip(item.name || item.key, NAME));
  const kinds = new Set(differences.map(({ item }) => item.kind));
  const [kind = 'other'] = kinds;
  return {
    ...changeOf(looks, [part]),
    kind: kinds.size === 1 ? kind : 'other',
    title: `${count(differences.length, 'change')} at once in ${part} of ${looks.target.name}: ${names.join(', ')} and others`,
    where: [looks.target.name],
    by: null,
    from: null,
    to: null,
  };
}

type Common = Omit<Change, 'kind' | 'title' | 'where' | 'by' | 'from' | 'to'>;

function changeOf(
  { target: { name, environment }, lastAt, endedAt }: BetweenLooks,
  of: readonly string[],
  since?: string,
  isExact = false,
): Common {
  const told = since === undefined ? Number.NaN : Date.parse(since);
  // A file may have been given an old time, and a clock may be wrong: only a time between the two looks can be that of the change.
  const isPossible = told >= Date.parse(lastAt) && told <= Date.parse(endedAt);
  return {
    source: OWN_LOOK,
    id: `${clip(name, NAME)} ${sha256(JSON.stringify([lastAt, ...of])).slice(0, 24)}`,
    state: 'succeeded',
    environment,
    // Of what was only touched at its time, or tells none, the two looks are the bounds.
    startedAt: isPossible && isExact ? null : lastAt,
    at: isPossible ? new Date(told).toISOString() : endedAt,
    commits: [],
    url: null,
  };
}

/** “work_mem of orders-db: 4MB → 64kB”, “index orders_status_idx of shop.orders on orders-db dropped”, “orders-db was restarted”. */
function titleOf({ item, was, is }: Difference, target: string): string {
  const name = clip(item.name, NAME);
  const subject = name === '' ? target : `${name} ${name.includes(' of ') ? 'on' : 'of'} ${target}`;
  const { changed, came = 'is new', went = 'is gone' } = item.told ?? {};
  if (was === null) return `${subject} ${came}`;
  if (is === null) return `${subject} ${went}`;
  if (changed !== undefined) return `${subject} ${changed}`;
  const values = fromTo(was, is);
  return values === CHANGED ? `${subject} ${values}` : `${subject}: ${values}`;
}

const CHANGED = 'was changed';

function fromTo(was: KeptItem, is: KeptItem): string {
  const [from, to] = [shown(was.value), shown(is.value)];
  if (from === null || to === null) return CHANGED;
  // Of long values the beginnings may be the same.
  return clip(from, VALUE) === clip(to, VALUE)
    ? CHANGED
    : `${clip(from, VALUE) || 'empty'} → ${clip(to, VALUE) || 'empty'}`;
}

/** Without digests, by which somebody could guess. Null: it is one, or the time at which it was made, which tells nobody anything. */
function shown(value: string): string | null {
  const text = value.replaceAll(/ ?\(#[0-9a-f]+\)/g, '');
  return /^#|^[0-9a-f]{16,}$|^\d{4}-\d\d-\d\dT[\d:.]+\S*$/.test(text) ? null : text;
}
