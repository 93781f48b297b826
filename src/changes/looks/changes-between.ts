import { boundedChange, type Change } from '../../core/change.ts';
import { clip } from '../../core/clip.ts';
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

/**
 * What was changed of a part between two looks at it. The same two give the same ids. A change took effect after the last look, and
 * before this one, or before the time that the system itself tells of it.
 */
export function changesBetween(
  before: readonly KeptItem[],
  { part, items }: SeenPart,
  looks: BetweenLooks,
): readonly Change[] {
  const known = new Map(before.map((item) => [item.key, item]));
  const now = new Map(items.map((item) => [item.key, item]));
  const differences = [
    ...items.flatMap((item) => cameOrChanged(known.get(item.key), item)),
    ...before.flatMap((item) =>
      now.has(item.key) || !item.mayComeAndGo ? [] : [{ item, was: item, is: null }],
    ),
  ];
  const changes =
    differences.length > MOST_OF_A_PART
      ? [asOne(part, differences, looks)]
      : differences.map((difference) => toChange(part, difference, looks));
  return changes.map((change) => boundedChange(change, new Date(looks.endedAt)));
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

function toChange(part: string, difference: Difference, looks: BetweenLooks): Change {
  const { item, was, is } = difference;
  return {
    ...changeOf(looks, [part, item.key], is?.since),
    kind: item.kind,
    title: titleOf(difference, looks.target.name),
    where: [looks.target.name, ...item.objects],
    by: is?.by ?? null,
    from: was && shown(was.value),
    to: is && shown(is.value),
  };
}

function asOne(part: string, differences: readonly Difference[], looks: BetweenLooks): Change {
  const names = differences.slice(0, NAMED_OF_MANY).map(({ item }) => clip(item.name || item.key, NAME));
  const kinds = new Set(differences.map(({ item }) => item.kind));
  const [kind = 'other'] = kinds;
  return {
    ...changeOf(looks, [part]),
    kind: kinds.size === 1 ? kind : 'other',
    title: `${differences.length} changes at once in ${part} of ${looks.target.name}: ${names.join(', ')} and others`,
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
): Common {
  const told = since === undefined ? Number.NaN : Date.parse(since);
  // A file may have been given an old time, and a clock may be wrong: only a time between the two looks can be that of the change.
  const isPossible = told >= Date.parse(lastAt) && told <= Date.parse(endedAt);
  return {
    source: OWN_LOOK,
    id: `${clip(name, NAME)} ${sha256(JSON.stringify([lastAt, ...of])).slice(0, 24)}`,
    state: 'succeeded',
    environment,
    startedAt: lastAt,
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
  const [from, to] = [shown(was.value), shown(is.value)];
  if (from === null || to === null) return `${subject} was changed`;
  // Of long values the beginnings may be the same.
  return clip(from, VALUE) === clip(to, VALUE)
    ? `${subject} was changed`
    : `${subject}: ${clip(from, VALUE) || 'empty'} → ${clip(to, VALUE) || 'empty'}`;
}

/** Null: a digest, which tells nobody anything. */
const shown = (value: string): string | null => (/^#|^[0-9a-f]{16,}$/.test(value) ? null : value);
