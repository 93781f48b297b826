import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { evaluate } from '@marcbachmann/cel-js';
import type { Sql } from 'postgres';
import { inject } from 'vitest';
import { clientSession, leaveRunning } from '../../../../playground/faults/postgres/client-session.ts';
import { type Shop, startShop } from '../../../../playground/faults/postgres/shop.ts';
import { until } from '../../../../playground/faults/until.ts';
import type { ActionOutcome } from '../../../../src/core/action.ts';
import type { Json, VerifyPlan } from '../../../../src/core/tool-call.ts';
import { allTools } from '../../../../src/targets/all-tools.ts';
import type { ActiveTool, Preflight, ReadTool, ToolContext } from '../../../../src/tools/define.ts';
import { createRegistry } from '../../../../src/tools/registry.ts';
import { layDatabase } from '../../../support/made-databases.ts';
import { patience } from '../../../support/patience.ts';
import { quiet } from '../../../support/quiet.ts';
import { createPostgresTargets, type PostgresTargets } from '../../../support/targets.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into the documented data of each tool
export type Loose = any;

/** shop-db with Sentry's own two roles, and the tools on it as the gate calls them. */
export interface ShopRig {
  readonly shop: Shop;
  readonly targets: PostgresTargets;
  read(tool: string, input?: Json): Promise<{ readonly text: string; readonly data: Loose }>;
  preflight(tool: string, input: Json): Promise<Preflight>;
  /** Pre-flight and run, as one approved action; `withinMs` counts from the pre-flight. */
  act(tool: string, input: Json, withinMs?: number): Promise<ActionOutcome>;
  run(
    tool: string,
    input: Json,
    guard: Json,
    deadline: { readonly clock: string | null; readonly withinMs: number },
  ): Promise<ActionOutcome>;
  look(tool: string, input: Json, guard: Json): Promise<'done' | 'not_done' | 'cannot_tell'>;
  /** Whether every step of the tool's own verify plan holds now, by the real expression language. */
  verified(tool: string, input: Json, guard: Json): Promise<boolean>;
  /** An application's connection, ended with the rig. */
  client(application: string): Sql;
  stop(): Promise<void>;
}

const registry = createRegistry(allTools);

export async function startShopRig(): Promise<ShopRig> {
  const dataDir = mkdtempSync(join(inject('scratchRoot'), 'shop-'));
  chmodSync(dataDir, 0o755);
  await layDatabase('shop', dataDir);
  const shop = await startShop(dataDir, quiet);
  const targets = createPostgresTargets([
    {
      name: 'shop-db',
      kind: 'postgres',
      environment: 'test',
      aliases: [],
      readUrl: shop.readUrl,
      actUrl: shop.actUrl,
    },
  ]);
  const clients: Sql[] = [];
  const context = (timeoutMs: number): ToolContext => targets.context('shop-db', timeoutMs);
  const reader = (name: string): ReadTool<Loose> => {
    const tool = registry.get(name);
    if (tool === undefined || tool.kind === 'active') throw new Error(`${name} is no read tool`);
    return tool;
  };
  const actor = (name: string): ActiveTool<Loose, Loose> => {
    const tool = registry.get(name);
    if (tool?.kind !== 'active') throw new Error(`${name} is no active tool`);
    return tool;
  };
  const rig: ShopRig = {
    shop,
    targets,
    async read(name, input = {}) {
      const tool = reader(name);
      // On a busy machine several that wait for one connection take longer than one may in production.
      const result = await tool.run(context(tool.timeoutMs * patience), tool.input.parse(input));
      // What is stored and read by expressions is JSON.
      return { text: result.text, data: JSON.parse(JSON.stringify(result.data)) };
    },
    async preflight(name, input) {
      const tool = actor(name);
      return tool.preflight(context(tool.timeoutMs), tool.input.parse(input));
    },
    async act(name, input, withinMs = 10_000) {
      const { guard, clock } = await rig.preflight(name, input);
      return rig.run(name, input, guard, { clock, withinMs });
    },
    async run(name, input, guard, deadline) {
      const tool = actor(name);
      return tool.run(context(tool.timeoutMs), tool.input.parse(input), guard, deadline);
    },
    async look(name, input, guard) {
      const tool = actor(name);
      return tool.look(context(tool.timeoutMs), tool.input.parse(input), guard);
    },
    async verified(name, input, guard) {
      const tool = actor(name);
      const plan: VerifyPlan = tool.effect(tool.input.parse(input), guard);
      for (const step of plan.steps) {
        const { data } = await rig.read(step.tool, step.input);
        if (evaluate(step.holds ?? 'false', { result: data }) !== true) return false;
      }
      return true;
    },
    client(application) {
      const session = clientSession(shop.appUrl, application);
      clients.push(session);
      return session;
    },
    async stop() {
      await Promise.all(clients.map((session) => session.end({ timeout: 0 })));
      await targets.close();
      await shop.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
  return rig;
}

/** A session that holds a row of `products` and one that waits for it. */
export async function blockOneRow(
  rig: ShopRig,
  id: number,
): Promise<{ readonly holder: Sql; readonly waiter: Sql }> {
  const holder = rig.client('holder');
  const waiter = rig.client('waiter');
  await holder.unsafe('BEGIN');
  await holder.unsafe(`UPDATE products SET stock = stock - 1 WHERE id = ${id}`);
  leaveRunning(waiter, `UPDATE products SET stock = 0 WHERE id = ${id}`);
  await until(
    'the waiter to wait',
    async () => (await rig.read('postgres_blocking_tree')).data.blocked_count > 0,
  );
  return { holder, waiter };
}

/** pid and backend_start as the read tools give them. */
export async function keyOf(
  rig: ShopRig,
  application: string,
): Promise<{ readonly pid: number; readonly backend_start: string }> {
  const { data } = await rig.read('postgres_activity', { include_idle: true, limit: 100 });
  const found = data.sessions.find((session: Loose) => session.application_name === application);
  if (found === undefined) throw new Error(`no session of ${application}`);
  return { pid: found.pid, backend_start: found.backend_start };
}
