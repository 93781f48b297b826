import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, OpsError } from '../../core/errors.ts';
import { jsonOf } from '../../core/json-of.ts';
import type { Log } from '../../core/log.ts';
import type { Sql } from '../../core/sql.ts';
import type { AuditLog } from './audit-chain.ts';
import {
  asCheckpoint,
  CHECKPOINT_KIND,
  type Checkpoint,
  type CheckpointKey,
  readCheckpoint,
} from './audit-checkpoint.ts';

export const WITNESS_FILE = 'audit-checkpoints.jsonl';
/**
 * A checkpoint when this many entries came since the last, after this long when any came, and at the next look after an
 * approval or the outcome of an action.
 */
const EVERY_ENTRIES = 1_000;
const EVERY_MS = 5 * 60_000;
const LOOK_MS = 1_000;
/** A channel is for people: no more than four an hour. */
const POST_MS = 15 * 60_000;
/** What was last posted and when, on record. */
const POSTED = 'audit checkpoint posted';

/**
 * Signs where the audit log stands, now and then: into the log itself, and into a file beside the database. Of several
 * processes each keeps its own file, with its own key, so that each machine can tell whether the log is whole; into the log and
 * the channel goes one for all.
 */
export interface AuditWitness {
  start(): void;
  /** A last checkpoint, unless nothing came since. */
  stop(): Promise<void>;
  /** Returns it, or null when nothing came since the last. */
  take(): Promise<Checkpoint | null>;
}

export function createAuditWitness(deps: {
  readonly sql: Sql;
  readonly audit: AuditLog;
  readonly key: CheckpointKey;
  readonly dataDir: string;
  readonly log: Log;
  /** Says it where neither the database nor this machine can take it back; at most every `POST_MS`, over all processes. May reject. */
  readonly post?: (checkpoint: Checkpoint) => Promise<void>;
}): AuditWitness {
  const { sql, audit, key, dataDir, log, post } = deps;
  let timer: NodeJS.Timeout | undefined;
  /** The head right after our last checkpoint, its own entry included. */
  let seen = 0;
  /** Whether an approval or an outcome is among them was asked of the entries up to this one. */
  let looked: number | null = null;
  let at = performance.now();
  let stopped = false;
  let isFailing = false;
  let taking: Promise<unknown> = Promise.resolve();

  async function head(): Promise<{ readonly seq: number; readonly hash: string }> {
    const [head] = await sql<{ seq: number; hash: string }>`SELECT seq, hash FROM audit_head`;
    return head ?? { seq: 0, hash: '' };
  }

  /**
   * The last entry since ours that is no checkpoint; null: there is none. Checkpoints of other processes are nothing new: two
   * idle ones would answer each other for ever.
   */
  async function newest(upTo: number): Promise<number | null> {
    if (upTo <= seen) return null;
    const [found] = await sql<{ seq: number }>`
      SELECT seq FROM audit_entry WHERE seq > ${seen} AND seq <= ${upTo}
         AND body NOT LIKE ${`%"kind":"${CHECKPOINT_KIND}"%`} ORDER BY seq DESC LIMIT 1`;
    return found?.seq ?? null;
  }

  async function take(): Promise<Checkpoint | null> {
    const now = await head();
    const last = await newest(now.seq);
    if (last === null) return null;
    const checkpoint = key.sign(now);
    appendFileSync(join(dataDir, WITNESS_FILE), `${JSON.stringify(checkpoint)}\n`, {
      mode: 0o600,
      flush: true,
    });
    const isOurs = await enter(checkpoint, last);
    // What others appended in between waits for the next one.
    seen = isOurs ? now.seq + 1 : now.seq;
    at = performance.now();
    if (isOurs) await say(checkpoint);
    return checkpoint;
  }

  /** Into the log, unless another process's there vouches for `last` already. */
  function enter(checkpoint: Checkpoint, last: number): Promise<boolean> {
    return sql.begin(async (tx) => {
      await tx`SELECT pg_advisory_xact_lock(hashtextextended('sentry audit checkpoint', 0))`;
      const later = await tx<{ body: string }>`
        SELECT body FROM audit_entry WHERE seq > ${last} AND body LIKE ${`%"kind":"${CHECKPOINT_KIND}"%`}`;
      if (later.some(({ body }) => (readCheckpoint(body)?.seq ?? 0) >= last)) return false;
      await audit.appendIn(tx, { kind: CHECKPOINT_KIND, actor: 'system', details: { ...checkpoint } });
      return true;
    });
  }

  /** One that does not arrive is made up for by the next: each vouches for all entries before it. */
  async function say(checkpoint: Checkpoint): Promise<void> {
    if (!post || !(await takeTurn(checkpoint))) return;
    try {
      await post(checkpoint);
    } catch (error) {
      await sql`DELETE FROM seen_setting WHERE name = ${POSTED}`;
      log.warn(
        { seq: checkpoint.seq, error: messageOf(error) },
        'a checkpoint of the audit log could not be posted',
      );
    }
  }

  /** Whether none was posted lately, by any process. A clock that was set back does not silence them. */
  async function takeTurn({ hash }: Checkpoint): Promise<boolean> {
    const rows = await sql`
      INSERT INTO seen_setting AS s (name, sha256) VALUES (${POSTED}, ${hash})
      ON CONFLICT (name) DO UPDATE SET sha256 = excluded.sha256, at = clock_timestamp()
        WHERE s.at < clock_timestamp() - ${POST_MS} * interval '1 millisecond' OR s.at > clock_timestamp()
      RETURNING name`;
    return rows.length > 0;
  }

  async function takeIfDue(): Promise<void> {
    const { seq } = await head();
    // The first look vouches for what the process before this one may have left open.
    const isDue =
      looked === null ||
      seq - seen >= EVERY_ENTRIES ||
      performance.now() - at >= EVERY_MS ||
      (await isAnyDecisive(looked, seq));
    if (isDue) await take();
    looked = seq;
  }

  /** Entries are committed in their order, so nothing comes later that stands before `upTo`. */
  async function isAnyDecisive(after: number, upTo: number): Promise<boolean> {
    if (upTo <= after) return false;
    const found = await sql`
      SELECT 1 AS x FROM audit_entry
       WHERE seq > ${after} AND seq <= ${upTo}
         AND (body LIKE '%"kind":"approval.decided"%'
              OR body LIKE '%"kind":"gate.outcome"%' AND body LIKE '%"action":%') LIMIT 1`;
    return found.length > 0;
  }

  const look = (): void => {
    taking = takeIfDue()
      .then(
        () => {
          isFailing = false;
        },
        (error: unknown) => {
          if (!isFailing)
            log.error({ error: messageOf(error) }, 'no checkpoint of the audit log can be made');
          isFailing = true;
        },
      )
      .finally(() => {
        if (!stopped) timer = setTimeout(look, LOOK_MS).unref();
      });
  };

  return {
    start: look,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await taking;
      await take();
    },
    take,
  };
}

/** The checkpoints beside the database, oldest first. Throws OpsError AUDIT_WITNESS when a line is none. */
export function readWitnessed(dataDir: string): readonly Checkpoint[] {
  const path = join(dataDir, WITNESS_FILE);
  const lines = readLines(path);
  return lines.map((line, index) => {
    const checkpoint = asCheckpoint(jsonOf(line));
    if (checkpoint) return checkpoint;
    throw new OpsError('AUDIT_WITNESS', `${path}, line ${index + 1}, is no checkpoint.`, {
      hint: 'Somebody changed the file. A last line that a power cut left half-written may be removed.',
    });
  });
}

function readLines(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** For the audit channel: what is in the braces is what `sentry audit verify --checkpoint` takes. */
export function checkpointLine(checkpoint: Checkpoint): string {
  return `Audit log checkpoint. Keep it: sentry audit verify --checkpoint '${JSON.stringify(checkpoint)}'`;
}
