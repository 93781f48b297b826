import { hash as digest } from 'node:crypto';
import type { Sql, Tx } from '../../core/sql.ts';
import type { Json } from '../../core/tool-call.ts';
import { type Checkpoint, type CheckpointKey, readCheckpoint } from './audit-checkpoint.ts';

/** One entry as it stands in the database. */
export interface ChainEntry {
  readonly seq: number;
  readonly prevHash: string;
  readonly body: string;
  readonly hash: string;
}

export type Verified =
  | {
      readonly ok: true;
      readonly entries: number;
      /** Of the last entry; 64 zeros for an empty log. */
      readonly hash: string;
      /** How many signed checkpoints were found right, in the log and beside it. */
      readonly checkpoints: number;
      /** Signed by keys that are not here (other machines): their place was checked, their signature was not. */
      readonly unchecked: number;
    }
  | {
      readonly ok: false;
      /** The first entry that is not as it was written, or where one is missing. */
      readonly seq: number;
      readonly reason: string;
      readonly entries: number;
    };

export interface VerifyOptions {
  /** The key that signs here; null when this machine has none. */
  readonly key: CheckpointKey | null;
  /** What was written beside the database: finds a log that was cut off or written anew as a whole. */
  readonly witnessed: readonly Checkpoint[];
  /** The entry the chain begins after, when it is known to be right; the first entry when not given. */
  readonly after?: Pick<ChainEntry, 'seq' | 'hash'>;
  /** Breaks it off between two pages. */
  readonly signal?: AbortSignal;
}

const GENESIS = '0'.repeat(64);
/** Hashed at one go: the event loop waits for no more. */
const PAGE = 1_000;

/**
 * Reads the whole log in one snapshot, a page at a time, and checks every link. An edit, a deletion, an insertion and a
 * swap break a link; a cut at the end disagrees with the head row, and, where the head was changed too, with the last
 * checkpoint beside the database.
 */
export function verifyAuditLog(sql: Sql, options: VerifyOptions): Promise<Verified> {
  return sql.begin('isolation level repeatable read read only', async (tx) => {
    const [count] = await tx<{ n: number }>`SELECT count(*) AS n FROM audit_entry`;
    const heads = await tx<{ seq: number; hash: string }>`SELECT seq, hash FROM audit_head`;
    return verifyChain(
      {
        pages: readPages(tx, {}),
        count: count?.n ?? 0,
        heads,
        hashes: (seqs) => hashesOf(tx, seqs),
      },
      options,
    );
  });
}

/** A log as it stands somewhere, to be checked. */
export interface Chain {
  /** All entries in order, in pages of any size. */
  readonly pages: AsyncIterable<readonly ChainEntry[]> | Iterable<readonly ChainEntry[]>;
  /** How many there are, also such as `pages` would not come to. */
  readonly count: number;
  /** Exactly one, which tells of the last entry. */
  readonly heads: readonly Pick<ChainEntry, 'seq' | 'hash'>[];
  hashes(seqs: readonly number[]): Promise<ReadonlyMap<number, string>>;
}

/** See `verifyAuditLog`. */
export async function verifyChain(
  chain: Chain,
  { key, witnessed, after = { seq: 0, hash: GENESIS }, signal }: VerifyOptions,
): Promise<Verified> {
  const expected = new Map<number, Checkpoint>();
  const claimed: { readonly at: number; readonly checkpoint: Checkpoint }[] = [];
  let { seq: entries, hash } = after;
  let right = 0;
  let unchecked = 0;
  const bad = (seq: number, reason: string): Verified => ({ ok: false, seq, reason, entries });

  for (const one of witnessed) {
    if (one.key === key?.id && !key.isSigned(one))
      return bad(one.seq, 'A checkpoint beside the database does not carry our signature.');
    if ((expected.get(one.seq)?.hash ?? one.hash) !== one.hash)
      return bad(one.seq, 'Two checkpoints beside the database tell of different entries.');
    expected.set(one.seq, one);
  }

  for await (const page of chain.pages) {
    signal?.throwIfAborted();
    for (const entry of page) {
      const seq = entries + 1;
      if (entry.seq !== seq) return bad(seq, `Entry ${seq} is missing: entry ${entry.seq} comes instead.`);
      if (entry.prevHash !== hash) return bad(seq, `Entry ${seq} does not follow the one before it.`);
      if (hashOf(entry) !== entry.hash) return bad(seq, `Entry ${seq} is not what was written.`);
      ({ hash } = entry);
      entries = seq;
      const witness = expected.get(seq);
      if (witness) {
        if (witness.hash !== hash)
          return bad(seq, `Entry ${seq} is not the one a checkpoint beside the database tells of.`);
        if (witness.key === key?.id) right += 1;
        else unchecked += 1;
        expected.delete(seq);
      }
      const checkpoint = readCheckpoint(entry.body);
      if (checkpoint) claimed.push({ at: seq, checkpoint });
    }
  }

  const last = entries + 1;
  if (chain.count !== entries) return bad(last, 'There are entries outside the chain.');
  const [head] = chain.heads;
  if (chain.heads.length !== 1 || head?.seq !== entries || head.hash !== hash)
    return bad(last, `The head tells of entry ${head?.seq ?? 'none'}; the last one here is ${entries}.`);
  const missing = Math.min(...expected.keys());
  if (Number.isFinite(missing))
    return bad(
      last,
      `A checkpoint beside the database tells of entry ${missing}; the log ends at ${entries}.`,
    );

  const hashes = await chain.hashes(claimed.map(({ checkpoint }) => checkpoint.seq));
  for (const { at, checkpoint } of claimed) {
    if (checkpoint.seq >= at || hashes.get(checkpoint.seq) !== checkpoint.hash)
      return bad(at, `The checkpoint in entry ${at} tells of another entry ${checkpoint.seq} than is here.`);
    if (checkpoint.key !== key?.id) unchecked += 1;
    else if (key.isSigned(checkpoint)) right += 1;
    else return bad(at, `The checkpoint in entry ${at} does not carry our signature.`);
  }
  return { ok: true, entries, hash, checkpoints: right, unchecked };
}

/** SHA-256 (hex) over number, hash of the one before, and body, a line each; the same as audit_append() makes. */
export function hashOf({ seq, prevHash, body }: Omit<ChainEntry, 'hash'>): string {
  return digest('sha256', `${seq}\n${prevHash}\n${body}`);
}

/** Entries in order; no more than a page of them is in memory. */
export async function* readChain(tx: Tx, range: Range = {}): AsyncGenerator<ChainEntry> {
  for await (const page of readPages(tx, range)) yield* page;
}

interface Range {
  readonly from?: number;
  readonly to?: number;
}

async function* readPages(
  tx: Tx,
  { from = Number.MIN_SAFE_INTEGER, to = Number.MAX_SAFE_INTEGER }: Range,
): AsyncGenerator<readonly ChainEntry[]> {
  let next = from;
  for (;;) {
    const rows = await tx<ChainEntry>`
      SELECT seq, prev_hash AS "prevHash", body, hash FROM audit_entry
       WHERE seq >= ${next} AND seq <= ${to} ORDER BY seq LIMIT ${PAGE}`;
    yield rows;
    if (rows.length < PAGE) return;
    next = (rows.at(-1)?.seq ?? next) + 1;
  }
}

async function hashesOf(tx: Tx, seqs: readonly number[]): Promise<ReadonlyMap<number, string>> {
  if (seqs.length === 0) return new Map();
  const rows = await tx<{ seq: number; hash: string }>`
    SELECT seq, hash FROM audit_entry WHERE seq = ANY (${tx.array(seqs)}::bigint[])`;
  return new Map(rows.map(({ seq, hash }) => [seq, hash]));
}

/** An entry for people and programs: its body is JSON that we wrote, or what somebody made of it. */
export function parsedBody(body: string): Json {
  try {
    return JSON.parse(body) as Json;
  } catch {
    // Shown as it is; whether it is what was written is what `verify` says.
    return body;
  }
}
