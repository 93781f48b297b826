import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, OpsError } from '../../core/errors.ts';
import { jsonOf } from '../../core/json-of.ts';
import type { Log } from '../../core/log.ts';
import type { Sql } from '../../core/sql.ts';
import type { AuditLog } from './audit-chain.ts';
import { asCheckpoint, CHECKPOINT_KIND, type Checkpoint, type CheckpointKey } from './audit-checkpoint.ts';

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

/** Signs where the audit log stands, now and then: into the log itself, and into a file beside the database. */
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
  /** Says it where neither the database nor this machine can take it back; at most every `POST_MS`. May reject. */
  readonly post?: (checkpoint: Checkpoint) => Promise<void>;
}): AuditWitness {
  const { sql, audit, key, dataDir, log, post } = deps;
  let timer: NodeJS.Timeout | undefined;
  /** The head right after our last checkpoint, its own entry included. */
  let seen = 0;
  /** Whether an approval or an outcome is among them was asked of the entries up to this one. */
  let looked: number | null = null;
  let at = performance.now();
  let postedAt = Number.NEGATIVE_INFINITY;
  let stopped = false;
  let isFailing = false;
  let taking: Promise<unknown> = Promise.resolve();

  async function head(): Promise<{ readonly seq: number; readonly hash: string }> {
    const [head] = await sql<{ seq: number; hash: string }>`SELECT seq, hash FROM audit_head`;
    return head ?? { seq: 0, hash: '' };
  }

  /** Checkpoints of other processes are nothing new: two idle ones would answer each other for ever. */
  async function anythingNew(upTo: number): Promise<boolean> {
    if (upTo <= seen) return false;
    const found = await sql`
      SELECT 1 AS x FROM audit_entry WHERE seq > ${seen} AND seq <= ${upTo}
         AND body NOT LIKE ${`%"kind":"${CHECKPOINT_KIND}"%`} LIMIT 1`;
    return found.length > 0;
  }

  async function take(): Promise<Checkpoint | null> {
    const now = await head();
    if (!(await anythingNew(now.seq))) return null;
    const checkpoint = key.sign(now);
    appendFileSync(join(dataDir, WITNESS_FILE), `${JSON.stringify(checkpoint)}\n`, {
      mode: 0o600,
      flush: true,
    });
    await audit.append({ kind: CHECKPOINT_KIND, actor: 'system', details: { ...checkpoint } });
    // What others appended in between waits for the next one.
    seen = now.seq + 1;
    at = performance.now();
    await say(checkpoint);
    return checkpoint;
  }

  /** One that does not arrive is made up for by the next: each vouches for all entries before it. */
  async function say(checkpoint: Checkpoint): Promise<void> {
    if (!post || performance.now() - postedAt < POST_MS) return;
    try {
      await post(checkpoint);
      postedAt = performance.now();
    } catch (error) {
      log.warn(
        { seq: checkpoint.seq, error: messageOf(error) },
        'a checkpoint of the audit log could not be posted',
      );
    }
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
