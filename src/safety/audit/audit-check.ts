import { Gauge, type Registry } from 'prom-client';
import { messageOf, OpsError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Sql } from '../../core/sql.ts';
import { openCheckpointKey } from './audit-checkpoint.ts';
import { type Verified, verifyAuditLog } from './audit-verify.ts';
import { readWitnessed } from './audit-witness.ts';

const EVERY_MS = 60 * 60_000;
/** A database that did not answer is asked again after this long. */
const RETRY_MS = 60_000;

/** Verifies the audit log without being asked: at the start, and every hour. */
export interface AuditCheck {
  start(): void;
  /** Breaks off the one that runs. */
  stop(): Promise<void>;
  /** What the last one found; null: there has been none yet. */
  last(): Verified | null;
}

export function createAuditCheck(deps: {
  readonly verify: (signal: AbortSignal) => Promise<Verified>;
  readonly metrics: Registry;
  readonly log: Log;
  /** Tells people that the log is not whole, once, and again after it was whole in between. May reject. */
  readonly tell: (text: string) => Promise<void>;
  readonly everyMs?: number;
}): AuditCheck {
  const { verify, log, tell, everyMs = EVERY_MS } = deps;
  const ending = new AbortController();
  let found: Verified | null = null;
  let whole: Gauge | undefined;
  let isTold = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  async function check(): Promise<void> {
    found = await verify(ending.signal);
    // Not before the first answer: a gauge begins with 0, which would say that the log is not whole.
    whole ??= new Gauge({
      name: 'sentry_audit_log_whole',
      help: 'Whether the audit log was as written when it was last verified (1) or not (0).',
      registers: [deps.metrics],
    });
    whole.set(found.ok ? 1 : 0);
    if (found.ok) isTold = false;
    else {
      log.error({ seq: found.seq, reason: found.reason }, 'the audit log is not as it was written');
      if (!isTold) await tell(notWhole(found));
      isTold = true;
    }
  }

  const loop = (): void => {
    running = check()
      .then(
        () => everyMs,
        (error: unknown) => {
          if (!ending.signal.aborted)
            log.warn({ error: messageOf(error) }, 'the audit log could not be verified; trying again');
          return Math.min(RETRY_MS, everyMs);
        },
      )
      .then((ms) => {
        if (!ending.signal.aborted) timer = setTimeout(loop, ms).unref();
      });
  };

  return {
    start: loop,
    async stop() {
      ending.abort();
      clearTimeout(timer);
      await running;
    },
    last: () => found,
  };
}

/** The whole log against the checkpoints of this data folder. A file of checkpoints that is none is a log that is not whole. */
export async function verifyHere(sql: Sql, dataDir: string, signal?: AbortSignal): Promise<Verified> {
  try {
    // Before the log: each of these tells of an entry that is committed.
    const witnessed = readWitnessed(dataDir);
    const key = openCheckpointKey(dataDir, { make: false });
    return await verifyAuditLog(sql, { key, witnessed, ...(signal ? { signal } : {}) });
  } catch (error) {
    if (!(error instanceof OpsError) || !['AUDIT_WITNESS', 'AUDIT_KEY'].includes(error.code)) throw error;
    return { ok: false, seq: 0, reason: `${error.message} ${error.hint}`, entries: 0 };
  }
}

/** For people; the command that says more is in it. */
export function notWhole({ seq, reason }: Extract<Verified, { ok: false }>): string {
  const where = seq === 0 || reason.includes(`ntry ${seq} `) ? '' : `Entry ${seq}: `;
  return `The audit log is not as it was written. ${where}${reason} Keep the database and the data folder as they are, find out who could write to them, and see: sentry audit verify`;
}
