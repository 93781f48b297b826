import { canonicalJson } from '../../core/canonical-json.ts';
import type { Sql, Tx } from '../../core/sql.ts';
import { storableJson } from '../../core/storable.ts';
import type { Json } from '../../core/tool-call.ts';
import { outwardJson } from '../screen/boundary.ts';

/** One thing worth auditing. Inputs are redacted before they come here, and once more where they are written. */
export interface AuditEntry {
  /** Dotted: `gate.intent`, `gate.refused`, `gate.outcome`, `approval.decided`, `switch.set`, `process.started`. */
  readonly kind: string;
  /** A role, a Slack user id or `system`. */
  readonly actor: string;
  /** Absent or null: it is of no incident. */
  readonly incidentId?: string | null | undefined;
  readonly details: Json;
}

export interface AuditLog {
  /** Returns once the entry is committed; throws when it cannot be: what is not audited is not done. */
  append(entry: AuditEntry): Promise<void>;
  /**
   * The same inside the caller's transaction: the entry and what it tells of land together or not at all. Keep the rest
   * short, it holds the head. Returns the entry's number.
   */
  appendIn(tx: Tx, entry: AuditEntry): Promise<number>;
}

/** Ids, hashes and signatures, by which entries are checked: made by us, and looking like secrets. */
const OURS = new Set([
  'action',
  'credential',
  'executorId',
  'hash',
  'identity',
  'key',
  'planHash',
  'signature',
  'toolCall',
]);

/** More would hold the head row for too long at once. */
const BATCH = 500;

/**
 * The hash-chained, append-only audit log. Entries that arrive while a batch is being written go together in the next one:
 * the head row is locked once a batch, not once an entry.
 */
export function createAuditLog(sql: Sql, now: () => Date = () => new Date()): AuditLog {
  let waiting: {
    readonly body: string;
    readonly done: () => void;
    readonly failed: (error: unknown) => void;
  }[] = [];
  let writing = false;

  const bodyOf = (entry: AuditEntry): string =>
    canonicalJson(
      // Before it is hashed: what the database changed would not be the entry that was signed.
      storableJson({
        at: now().toISOString(),
        kind: entry.kind,
        actor: entry.actor,
        incident: entry.incidentId ?? null,
        details: outwardJson(entry.details, OURS),
      }),
    );

  async function write(): Promise<void> {
    writing = true;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH);
      waiting = waiting.slice(BATCH);
      try {
        await sql`SELECT audit_append(${sql.array(batch.map((entry) => entry.body))}::text[])`;
        for (const entry of batch) entry.done();
      } catch (error) {
        for (const entry of batch) entry.failed(error);
      }
    }
    writing = false;
  }

  return {
    async appendIn(tx, entry) {
      const [row] = await tx<{ seq: number }>`
        SELECT audit_append(${tx.array([bodyOf(entry)])}::text[]) AS seq`;
      return Number(row?.seq);
    },
    async append(entry) {
      const body = bodyOf(entry);
      return new Promise<void>((done, failed) => {
        waiting.push({ body, done, failed });
        if (!writing) void write();
      });
    },
  };
}
