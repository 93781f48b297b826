import { POSTING_BYTES } from '../index/postings.ts';
import { titleHash } from '../index/term-hash.ts';
import { PARTS } from './score-entry.ts';
import type { QueryTerm } from './weigh-query.ts';

/**
 * What a search may read, however common its words: 5 bytes each, about 2 ms. Above it the commonest words no longer
 * find entries; they still order what the rarer ones have found.
 */
const TEXT_POSTINGS = 30_000;
const TITLE_POSTINGS = 15_000;
/** Scored exactly. */
const CANDIDATES = 100;
/** Before an entry is read nobody knows how much of its title the query covers. */
const USUAL_COVER = 0.5;

export interface Wanted {
  readonly spaceId: number;
  readonly hash: number;
  /** What a posting of full weight gives. */
  readonly gives: number;
}

/** Which lists to read: rarest first, until the budget is spent; at least one. */
export function chooseLists(
  terms: readonly (QueryTerm & { readonly mass: number })[],
  counts: readonly { readonly spaceId: number; readonly hash: number; readonly entries: number }[],
): readonly Wanted[] {
  const massOf = new Map(terms.map(({ hash, mass }) => [hash, mass]));
  const titled = new Map(terms.map(({ hash, mass }) => [titleHash(hash), mass]));
  const inText = counts.filter(({ hash }) => massOf.has(hash));
  const inTitle = counts.filter(({ hash }) => titled.has(hash));
  return [
    ...within(TEXT_POSTINGS, inText).map(({ spaceId, hash }) => ({
      spaceId,
      hash,
      gives: PARTS.body * (massOf.get(hash) ?? 0),
    })),
    ...within(TITLE_POSTINGS, inTitle).map(({ spaceId, hash }) => ({
      spaceId,
      hash,
      gives: PARTS.title * USUAL_COVER * (titled.get(hash) ?? 0),
    })),
  ];
}

function within<T extends { readonly entries: number }>(budget: number, lists: readonly T[]): readonly T[] {
  let spent = 0;
  return lists
    .toSorted((a, b) => a.entries - b.entries)
    .filter(({ entries }, i) => {
      spent += entries;
      return i === 0 || spent <= budget;
    });
}

/** The most promising entries by what the read lists say of them. */
export function bestOf(
  lists: readonly { readonly spaceId: number; readonly hash: number; readonly list: Buffer }[],
  wanted: readonly Wanted[],
  spaces: readonly { readonly id: number; readonly nextNo: number }[],
): readonly { readonly spaceId: number; readonly no: number }[] {
  const gives = new Map(wanted.map((one) => [`${one.spaceId} ${one.hash}`, one.gives]));
  const sums = new Map(spaces.map(({ id, nextNo }) => [id, new Float32Array(nextNo)]));
  const found: { readonly spaceId: number; readonly no: number }[] = [];
  for (const { spaceId, hash, list } of lists) {
    const sum = sums.get(spaceId);
    const each = (gives.get(`${spaceId} ${hash}`) ?? 0) / 255;
    if (!sum || each === 0) continue;
    for (let at = 0; at + POSTING_BYTES <= list.length; at += POSTING_BYTES) {
      const no = list.readUInt32BE(at);
      const before = sum[no];
      if (before === undefined) continue;
      if (before === 0) found.push({ spaceId, no });
      sum[no] = before + each * (list[at + 4] ?? 0);
    }
  }
  if (found.length <= CANDIDATES) return found;
  const valueOf = ({ spaceId, no }: { readonly spaceId: number; readonly no: number }) =>
    sums.get(spaceId)?.[no] ?? 0;
  // Typed arrays sort by number in a fraction of the time objects take.
  const least = Float32Array.from(found, valueOf).sort()[found.length - CANDIDATES] ?? 0;
  return found.filter((one) => valueOf(one) >= least).slice(0, 2 * CANDIDATES);
}
