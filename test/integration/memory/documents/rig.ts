import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createMemoryDocuments } from '../../../../src/app/memory-documents.ts';
import { asIncidentId, type IncidentId } from '../../../../src/core/ids.ts';
import type { Sql } from '../../../../src/core/sql.ts';
import { openDatabase } from '../../../../src/infra/db/client.ts';
import { createEventBus } from '../../../../src/infra/db/event-bus.ts';
import type { NewDocument } from '../../../../src/memory/documents/new-document.ts';
import { seedStores } from '../../../../src/memory/documents/seed-stores.ts';
import type { DryRunReport } from '../../../../src/memory/promotion/ports.ts';
import { createRecords } from '../../../../src/record/record.ts';
import { createAuditLog } from '../../../../src/safety/audit/audit-chain.ts';
import { allTools } from '../../../../src/targets/all-tools.ts';
import { createRegistry } from '../../../../src/tools/registry.ts';
import { scratchDatabase } from '../../../support/postgres.ts';
import { quiet } from '../../../support/quiet.ts';
import { domains } from '../../../support/targets.ts';
import type { Row } from '../../../support/typed.ts';

export const admin = 'UADMIN';

const shippedDir = new URL('../../../../runbooks/postgres/', import.meta.url);
/** A runbook that ships, for drafts that are as good as one. */
export const shipped = readFileSync(new URL('blocked-sessions.md', shippedDir), 'utf8');

/** All others, which it names. */
export function otherRunbooks() {
  return readdirSync(shippedDir)
    .filter((name) => name.endsWith('.md') && name !== 'blocked-sessions.md' && name !== 'README.md')
    .map((name) => ({ file: `postgres/${name}`, source: readFileSync(new URL(name, shippedDir), 'utf8') }));
}

interface PastChange {
  readonly domain?: string;
  readonly target?: string;
  readonly cause?: string;
  readonly type?: string;
}

/** Documents and promotion over a real database with its default stores. */
export async function documentsRig() {
  const scratch = await scratchDatabase({ migrate: true });
  const { sql, close: closePool } = openDatabase(scratch.url, { max: 10, name: 'test' });
  await seedStores(sql);
  const events = createRecords(sql);
  const audit = createAuditLog(sql);
  const told: string[] = [];
  const bus = createEventBus({ url: scratch.url, log: quiet });
  bus.subscribe({ on: { 'proposal.changed': (id) => void told.push(id) }, sweep: async () => undefined });
  bus.start();
  const trials: DryRunReport[] = [];
  const { documents, promotions, workspace } = createMemoryDocuments({
    sql,
    events,
    audit,
    isAdmin: async (user) => user === admin,
    runbooks: { tools: createRegistry(allTools), domains, sources: otherRunbooks() },
    dryRun: async () => trials.shift() ?? (await passing()),
    enabled: true,
  });
  const close = async () => {
    await bus.stop();
    await closePool();
    await scratch.drop();
  };
  return {
    sql,
    url: scratch.url,
    close,
    events,
    audit,
    documents,
    promotions,
    workspace,
    told,
    trials,
    incident,
    past,
  };

  /** An incident that is over, as others remember it. */
  async function past(id: string, title: string, change: PastChange = {}): Promise<void> {
    const { domain = 'postgres', target = null, cause = null, type = null } = change;
    await sql`
      INSERT INTO incident (id, title, incident_type, severity, domain, target, cause, state, source, fingerprint, labels,
                            annotations)
      VALUES (${id}, ${title}, ${type}, 'critical', ${domain}, ${target}, ${cause}, 'resolved', 'test', ${randomUUID()}, '{}', '{}')`;
  }

  async function incident(requesters: readonly string[] = []): Promise<IncidentId> {
    const [row] = await sql<Row>`
      INSERT INTO incident (title, severity, domain, source, fingerprint, labels, annotations, requesters)
      VALUES ('t', 'critical', 'postgres', 'test', ${randomUUID()}, '{}', '{}', ${sql.array(requesters)}::text[])
      RETURNING id`;
    return asIncidentId(String(row?.['id']));
  }
}

export const passing = async (): Promise<DryRunReport> => ({ passed: true, target: 'shop-db', lines: [] });

export type DocumentsRig = Awaited<ReturnType<typeof documentsRig>>;

export const note = (change: Partial<NewDocument> = {}): NewDocument => ({
  path: 'orders/lock',
  title: 'Lock on orders',
  content: 'The report job leaves a transaction open.',
  docType: 'note',
  ...change,
});

/** Every text of every table but the audit log's own, as one. */
export async function wholeDatabase(sql: Sql): Promise<string> {
  const tables = await sql<{ name: string }>`
    SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`;
  const texts = await Promise.all(
    tables.map(async ({ name }) => {
      const [row] =
        await sql<Row>`SELECT query_to_xml(${`SELECT * FROM ${name}`}, true, false, '')::text AS text`;
      return String(row?.['text']);
    }),
  );
  return texts.join('\n');
}
