import { chmodSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Shop, startShop } from '../../../playground/faults/postgres/shop.ts';
import { tableBloat } from '../../../playground/faults/postgres/table-bloat.ts';
import { createPlaybook } from '../../../src/agents/playbook/create-playbook.ts';
import type { Action } from '../../../src/core/action.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { IncidentRecord } from '../../../src/core/incident-record.ts';
import { formatLastingFix } from '../../../src/incidents/questions/format-lasting-fix.ts';
import { loadRunbooks } from '../../../src/runbooks/load-runbooks.ts';
import { allTools } from '../../../src/targets/all-tools.ts';
import { createRegistry } from '../../../src/tools/registry.ts';
import { boxAlert, boxTarget, type Core, createCore } from '../../support/core.ts';
import { layDatabase } from '../../support/made-databases.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { quiet } from '../../support/quiet.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import { createPostgresTargets, type PostgresTargets } from '../../support/targets.ts';
import { waitFor } from '../../support/wait-for.ts';

/** The playground's bloated table, from its alert to what keeps it from coming back: the shop’s server, engine, gate and ledger. */
let shop: Shop;
let targets: PostgresTargets;
let database: ScratchDatabase;
let core: Core;
beforeAll(async () => {
  const dir = scratchDir();
  chmodSync(dir, 0o755);
  await layDatabase('shop', dir);
  shop = await startShop(dir, quiet);
  const { name, environment } = boxTarget;
  const { readUrl, actUrl } = shop;
  targets = createPostgresTargets([{ name, kind: 'postgres', environment, aliases: [], readUrl, actUrl }]);
  database = await scratchDatabase({ migrate: true });
  const folder = fileURLToPath(new URL('../../../runbooks', import.meta.url));
  const { runbooks } = await loadRunbooks(folder, { tools: createRegistry(allTools) });
  core = await createCore({
    url: database.url,
    tools: allTools as never,
    investigator: createPlaybook({ runbooks: () => runbooks }),
    gate: { ports: targets.ports },
  });
  await core.start();
}, 120_000);
afterAll(async () => {
  await core.stop();
  await targets.close();
  await shop.stop();
  await database.drop();
});

test('a bloated table is vacuumed, and then autovacuum is switched on for it again', async () => {
  const held = await tableBloat.cause(shop);
  const { rule } = tableBloat;
  const { incidentId: id } = await core.accept(
    boxAlert({
      name: rule.alertname,
      title: rule.summary,
      labels: { alertname: rule.alertname, source_type: 'database', instance: boxTarget.name },
    }),
  );
  if (!id) throw new Error('not accepted');
  expect((await approved(id, 0)).tool).toBe('postgres_vacuum_table');
  expect((await approved(id, 1)).tool).toBe('postgres_autovacuum_on');
  const record = await until(id, 'it to be looked at', ({ events }) =>
    events.some(({ type }) => type === 'action.checked'),
  );
  expect(formatLastingFix(record)).toBe(
    'To keep it from coming back: switch autovacuum on for table public.cart_events. Done as asked: ✓ autovacuum is on for public.cart_events',
  );
  expect(record.incident).toMatchObject({ state: 'resolved', verdict: 'fixed', resolvedBy: 'confirmed' });
  const [row] = await shop.admin`SELECT reloptions FROM pg_class WHERE relname = 'cart_events'`;
  expect(row?.['reloptions']).toBeNull();
  await held.release();
}, 120_000);

/** The plan that waits after so many others, approved. */
async function approved(id: IncidentId, others: number): Promise<Action> {
  const record = await until(id, `card ${others + 1}`, ({ actions, incident }) => {
    const waits = actions[others]?.state === 'proposed';
    return waits && (others > 0 || incident.state === 'awaiting_approval');
  });
  const action = record.actions[others];
  if (!action) throw new Error('no card');
  const { id: actionId, planHash } = action;
  const order = { actionId, planHash, by: 'UONCALL', reason: '', anotherWay: false } as const;
  expect(await core.approvals.decide({ ...order, decision: 'approve' })).toMatchObject({ ok: true });
  return action;
}

async function until(
  id: IncidentId,
  what: string,
  holds: (record: IncidentRecord) => boolean,
): Promise<IncidentRecord> {
  let record: IncidentRecord | null = null;
  await waitFor(what, async () => {
    record = await core.records.load(id);
    return record !== null && holds(record);
  });
  if (!record) throw new Error('no record');
  return record;
}
