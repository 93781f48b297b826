import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { HeldFault } from '../../../../playground/faults/fault.ts';
import { blockedSessions } from '../../../../playground/faults/postgres/blocked-sessions.ts';
import { connectionExhaustion } from '../../../../playground/faults/postgres/connection-exhaustion.ts';
import type { DatabaseFault } from '../../../../playground/faults/postgres/database-fault.ts';
import { idleInTransaction } from '../../../../playground/faults/postgres/idle-in-transaction.ts';
import { runawayQuery } from '../../../../playground/faults/postgres/runaway-query.ts';
import { type Shop, startShop } from '../../../../playground/faults/postgres/shop.ts';
import { tableBloat } from '../../../../playground/faults/postgres/table-bloat.ts';
import { startWorkload } from '../../../../playground/faults/postgres/workload.ts';
import { loadRunbooks } from '../../../../src/runbooks/load-runbooks.ts';
import type { Runbook } from '../../../../src/runbooks/runbook.ts';
import { allTools } from '../../../../src/targets/all-tools.ts';
import { createRegistry } from '../../../../src/tools/registry.ts';
import { layDatabase } from '../../../support/made-databases.ts';
import { quiet } from '../../../support/quiet.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { type LiveIncident, liveIncident } from './live-incident.ts';

const tools = createRegistry(allTools);
let shop: Shop;
let workload: { stop(): Promise<void> };
let runbooks: readonly Runbook[];
let live: LiveIncident | undefined;
let held: HeldFault | undefined;

beforeAll(async () => {
  ({ runbooks } = await loadRunbooks(fileURLToPath(new URL('../../../../runbooks', import.meta.url)), {
    tools,
  }));
  const folder = scratchDir();
  await layDatabase('shop', folder);
  shop = await startShop(folder, quiet);
  workload = startWorkload(shop.appUrl, quiet);
}, 120_000);

afterEach(async () => {
  await held?.release();
  await live?.close();
});

afterAll(async () => {
  await workload.stop();
  await shop.stop();
});

/** Opens the target's reserved connections first, as the running product does. */
async function openIncident(fault: DatabaseFault): Promise<LiveIncident> {
  const { rule } = fault;
  live = liveIncident({
    readUrl: shop.readUrl,
    actUrl: shop.actUrl,
    tools,
    runbooks,
    incident: {
      alertName: rule.alertname,
      title: rule.summary,
      annotations: { summary: rule.summary, description: rule.description },
      severity: rule.severity,
    },
  });
  return live;
}

async function firing(fault: DatabaseFault): Promise<void> {
  await waitFor(`${fault.id} to hold`, async () => (await fault.read(shop.admin)).holds, { everyMs: 500 });
}

interface Expected {
  readonly tool: string;
  readonly says: RegExp;
  /** What keeps it from coming back. */
  readonly lasts?: readonly string[];
}

const cases: readonly (readonly [DatabaseFault, Expected])[] = [
  [
    blockedSessions,
    { tool: 'postgres_terminate_backend', says: /shop-backoffice.* its last statement was UPDATE products/ },
  ],
  [
    idleInTransaction,
    { tool: 'postgres_terminate_backend', says: /shop-newsletter.* its last statement was UPDATE/ },
  ],
  [
    connectionExhaustion,
    {
      tool: 'postgres_terminate_backend',
      says: /^(?:All )?\d+ .*usable connections are in use, and \d+ of them wait for a lock\. Session \d+ \(shop-stock-import.* LOCK TABLE/,
    },
  ],
  [
    runawayQuery,
    {
      tool: 'postgres_cancel_query',
      says: /shop-reports.* joins .*orders b.* without a condition: every row with every row/,
    },
  ],
  [
    tableBloat,
    {
      tool: 'postgres_vacuum_table',
      says: /public\.cart_events.* switched off for this table/,
      lasts: ['postgres_autovacuum_on'],
    },
  ],
];

describe('each fault of the playground', () => {
  it.each(cases.map(([fault, expected]) => [fault.id, fault, expected] as const))(
    '%s is found, mended by exactly one action, and seen to be mended',
    async (_id, fault, expected) => {
      const incident = await openIncident(fault);
      held = await fault.cause(shop);
      await firing(fault);
      incident.alertedNow();

      const { triage, diagnosis } = await incident.triageAndDiagnose();
      expect(triage).toMatchObject({ incidentType: fault.id, severity: fault.rule.severity, routine: true });
      expect(diagnosis.unknown).toEqual([]);
      expect(diagnosis.verdict).toBe('cause_found');
      expect(diagnosis.rootCause).toMatch(expected.says);
      expect(diagnosis.confidence).toBeGreaterThanOrEqual(0.9);
      for (const evidence of diagnosis.evidence)
        expect(
          evidence.toolCallIds.some((id) => incident.outputs.get(id)?.includes(evidence.quote ?? '\0')),
        ).toBe(true);

      expect(await incident.plan(diagnosis)).toMatchObject({ kind: 'proposed' });
      expect(incident.proposals.map((proposal) => proposal.tool)).toEqual([expected.tool]);
      expect((await incident.verifyOnce()).some((check) => check.holds === false)).toBe(true);

      expect((await incident.approve()).state).toBe('succeeded');
      expect(await incident.verify()).toBe('fixed');
      expect(diagnosis.prevent?.map(({ tool }) => tool) ?? []).toEqual(expected.lasts ?? []);
      expect((await fault.read(shop.admin)).holds).toBe(false);
    },
  );
});

describe('the shop on a quiet day', () => {
  it.each(cases.map(([fault]) => [fault.rule.alertname, fault] as const))(
    'is given no cause for %s',
    async (_name, fault) => {
      const incident = await openIncident(fault);
      const { diagnosis } = await incident.triageAndDiagnose();
      expect(diagnosis).toMatchObject({ verdict: 'healthy', category: null, unknown: [] });
      expect(await incident.plan(diagnosis)).toMatchObject({ kind: 'none' });
    },
  );
});
