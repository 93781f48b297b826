import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createLooks } from '../../../src/changes/looks/looks.ts';
import { CHANGED_BY } from '../../../src/changes/looks/own-actions.ts';
import { changesAround } from '../../../src/changes/read-changes.ts';
import { createRecordChange } from '../../../src/changes/record-change.ts';
import { createWhatChanged } from '../../../src/changes/what-changed.ts';
import type { Change } from '../../../src/core/change.ts';
import type { InventoryItem } from '../../../src/core/inventory.ts';
import type { WhatChanged } from '../../../src/core/what-changed.ts';
import { allTools } from '../../../src/targets/all-tools.ts';
import { type AcceptDatabase, acceptDatabase } from '../../support/accept-database.ts';
import { quiet } from '../../support/quiet.ts';

const CLUSTER = 'shop-cluster';
const UNDO = { namespace: 'shop', name: 'Checkout', to_revision: 1 };

let db: AcceptDatabase;
let items: readonly InventoryItem[];
beforeAll(async () => {
  db = await acceptDatabase(8);
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.sql`TRUNCATE change, change_look, incident CASCADE`;
  await look([image('checkout', '2.5.0'), image('orders', '1.0.0')]);
});

const image = (name: string, value: string, more: Partial<InventoryItem> = {}): InventoryItem => ({
  part: 'deployments',
  key: `deployment ${name} image`,
  name: `image of ${name}`,
  kind: 'deployment',
  value,
  objects: [name, `shop/${name}`],
  mayComeAndGo: false,
  ...more,
});

async function look(seen: readonly InventoryItem[]): Promise<void> {
  items = seen;
  await db.sql`UPDATE change_look SET tried_at = tried_at - interval '1 minute'`;
  const looks = createLooks({
    sql: db.sql,
    targets: new Map([
      [
        CLUSTER,
        { name: CLUSTER, kind: 'kubernetes', domain: 'kubernetes', environment: 'production', aliases: [] },
      ],
    ]),
    read: async () => ({ system: 'one', inventory: { items, unread: [] } }),
    record: createRecordChange(db.sql),
    nameOf: async (id) => ({ U0OLIVIA: 'Olivia', U0NOAH: 'Noah' })[id] ?? null,
    log: quiet,
  });
  await looks.lookNow(CLUSTER, new AbortController().signal);
}

interface Ran {
  readonly incident?: string;
  readonly tool?: string;
  readonly target?: string;
  readonly state?: string;
  readonly input?: Readonly<Record<string, string | number>>;
  readonly by?: readonly string[];
  readonly decidedBy?: string;
}

/** An action that ran at this moment. */
async function ran(given: Ran = {}): Promise<void> {
  const {
    incident = 'INC-3',
    tool = 'kubernetes_rollout_undo',
    target = CLUSTER,
    state = 'succeeded',
  } = given;
  const { input = UNDO, by = ['U0OLIVIA'], decidedBy = 'U0OLIVIA' } = given;
  await db.sql`
    INSERT INTO incident (id, state, title, severity, domain, source, fingerprint, labels, annotations)
    VALUES (${incident}, 'resolved', 't', 'warning', 'host', 'hand', ${incident}, '{}', '{}') ON CONFLICT DO NOTHING`;
  const id = `act_${incident}_${tool}_${state}`;
  await db.sql`
    INSERT INTO action (id, plan_id, incident_id, round, state, tool, target, input, command, plan_hash, guard, why, blast_radius,
                        preflight, undo, risk, verify, audit_only, expires_at, started_at, finished_at, approved_by, decided_by)
    VALUES (${id}, ${id}, ${incident}, 1, ${state}, ${tool}, ${target}, ${db.sql.json(input)}, 'c', 'h', '{}', '', '', '{}', '',
            'low', '{}', false, now() + interval '1 hour', clock_timestamp(), clock_timestamp(),
            ${db.sql.array(by)}::text[], ${decidedBy})`;
}

const told = (): Promise<readonly Change[]> =>
  changesAround(db.sql, { where: null, from: '2000-01-01T00:00:00.000Z', to: '2100-01-01T00:00:00.000Z' });
const byOf = async () =>
  Object.fromEntries((await told()).map(({ where, by, kind }) => [where[1], [by, kind]]));
const rolledBack = [image('checkout', '2.4.0'), image('orders', '1.0.0')];

describe('what an approved action of Sentry changed', () => {
  test('is told as its doing, at its time; what else changed meanwhile stays anonymous', async () => {
    await ran();
    await look([image('checkout', '2.4.0'), image('orders', '1.1.0')]);
    expect(await byOf()).toEqual({
      checkout: ['Sentry for INC-3, approved by Olivia', 'rollback'],
      orders: [null, 'deployment'],
    });
    const [action] = await db.sql<{ at: string; ended: string }>`
      SELECT started_at AS at, finished_at AS ended FROM action`;
    const change = (await told()).find(({ where }) => where.includes('checkout'));
    expect(change).toMatchObject({ startedAt: action?.at, at: action?.ended });
  });

  test('is told with all who approved it, or the rule that did, or nobody whose name is not known', async () => {
    await ran({ state: 'unknown', by: ['U0OLIVIA', 'U0NOAH'] });
    await look(rolledBack);
    expect((await byOf())['checkout']?.[0]).toBe('Sentry for INC-3, approved by Olivia and Noah');
    await ran({ incident: 'INC-4', by: [], decidedBy: 'policy' });
    await db.sql`DELETE FROM action WHERE incident_id = 'INC-3'`;
    await db.sql`TRUNCATE change`;
    await look([image('checkout', '2.5.0'), image('orders', '1.0.0')]);
    expect((await byOf())['checkout']?.[0]).toBe('Sentry for INC-4, approved by a rule of the policy');
    await db.sql`TRUNCATE change, action CASCADE`;
    await ran({ by: ['U0GONE'] });
    await look(rolledBack);
    expect((await byOf())['checkout']?.[0]).toBe('Sentry for INC-3');
  });

  test.each<[string, Ran, Partial<InventoryItem>]>([
    ['failed', { state: 'failed' }, {}],
    ['was at another system', { target: 'other-cluster' }, {}],
    ['names another thing', { input: { namespace: 'shop', name: 'checkout-worker' } }, {}],
    ['is of another namespace', { input: { namespace: 'staging', name: 'checkout' } }, {}],
    ['only restarts what runs', { tool: 'kubernetes_delete_pod' }, {}],
    ['changes other properties', { tool: 'kubernetes_scale' }, {}],
    ['is not whom the system names', {}, { by: 'kubectl-edit' }],
  ])('is not what an action %s', async (_, action, more) => {
    await ran(action);
    await look([image('checkout', '2.4.0', more), image('orders', '1.0.0')]);
    expect(await byOf()).toEqual({ checkout: [more.by ?? null, 'deployment'] });
  });

  test('is not what was changed after the next look, nor what two incidents may have done', async () => {
    await ran();
    await look([image('checkout', '2.5.0'), image('orders', '1.0.0')]);
    await look(rolledBack);
    expect(await byOf()).toEqual({ checkout: [null, 'deployment'] });
    await db.sql`TRUNCATE change`;
    await ran({ incident: 'INC-4' });
    await ran({ incident: 'INC-5' });
    await look([image('checkout', '2.6.0'), image('orders', '1.0.0')]);
    expect(await byOf()).toEqual({ checkout: [null, 'deployment'] });
  });

  test('is no suspect of the incident it was made for, and one of a later incident', async () => {
    const before = new Date().toISOString();
    await ran();
    await look(rolledBack);
    const titles = async (incident: string, beganAt: string) => {
      const system = { name: CLUSTER, names: [CLUSTER], environment: 'production', changesFrom: null };
      const subject = { beganAt, system, environment: null, workloads: ['checkout'], data: [] };
      const asked = createWhatChanged({
        sql: db.sql,
        subjectOf: async () => ({ ...subject, alsoCalled: [], neighbours: [], elsewhere: [] }),
      });
      const found = await asked.whatChanged(
        incident as never,
        { signal: new AbortController().signal } as never,
      );
      return (found as WhatChanged).suspects.map(({ by }) => by);
    };
    const after = new Date(Date.now() + 30_000).toISOString();
    for (const began of [before, after]) expect(await titles('INC-3', began)).toEqual([]);
    expect(await titles('INC-33', after)).toEqual(['Sentry for INC-3, approved by Olivia']);
  });
});

test('every tool that is said to change something is one', () => {
  const names = new Set(allTools.map(({ name }) => name));
  expect([...CHANGED_BY.keys()].filter((name) => !names.has(name))).toEqual([]);
});
