import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres, { type Sql } from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allTools } from '../../../src/targets/all-tools.ts';
import type { ActiveTool, ReadTool, ToolContext } from '../../../src/tools/define.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { createPostgresTargets, type PostgresTargets } from '../../support/targets.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/connect.md'), 'utf8');
const block = /<!-- The tests run this block\. -->\n```sql\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
/** Roles belong to the whole server, which other tests use as well. */
const suffix = randomUUID().slice(0, 8);
const roles = { read: `sentry_read_${suffix}`, act: `sentry_act_${suffix}` };

let database: ScratchDatabase;
let admin: Sql;
let targets: PostgresTargets;

beforeAll(async () => {
  database = await scratchDatabase();
  admin = postgres(database.url, { max: 2, onnotice: () => undefined });
  await admin.unsafe(block.replaceAll('sentry_read', roles.read).replaceAll('sentry_act', roles.act));
  await admin`CREATE TABLE things (id int PRIMARY KEY)`;
  const as = (user: string, password: string): string => {
    const url = new URL(database.url);
    url.username = user;
    url.password = password;
    return url.href;
  };
  targets = createPostgresTargets([
    {
      name: 'orders-db',
      kind: 'postgres',
      environment: 'test',
      aliases: [],
      readUrl: as(roles.read, 'choose-one'),
      actUrl: as(roles.act, 'choose-another'),
    },
  ]);
});
afterAll(async () => {
  await targets.close();
  for (const role of Object.values(roles)) await admin.unsafe(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  await admin.end();
  await database.drop();
});

const context = (timeoutMs: number): ToolContext => targets.context('orders-db', timeoutMs);

describe('the roles that docs/connect.md makes', () => {
  // Those that need an argument from another tool's answer are left to their own tests.
  const readers = allTools.filter(
    (tool): tool is ReadTool =>
      tool.name.startsWith('postgres_') && tool.kind !== 'active' && tool.input.safeParse({}).success,
  );

  test.each(readers.map((tool) => [tool.name, tool] as const))('are enough for %s', async (_, tool) => {
    const answer = await tool.run(context(tool.timeoutMs), tool.input.parse({})).catch((error: unknown) => {
      // The scratch server does not have the extension that it needs.
      if (tool.name === 'postgres_slow_statements' && /pg_stat_statements/.test(String(error))) return null;
      throw error;
    });
    expect(answer?.text ?? '').not.toMatch(/GRANT|hidden from/);
  });

  test('are the reading tools’ bound: nothing can be written', async () => {
    const write = targets.read(
      'orders-db',
      (session) => session.query('INSERT INTO public.things VALUES (1)'),
      {
        timeoutMs: 2_000,
        signal: new AbortController().signal,
      },
    );
    await expect(write).rejects.toThrow(/read-only|permission denied/);
  });

  const session = async (): Promise<Record<string, unknown>> => {
    const [row] = await admin`
      SELECT pid, to_char(backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS backend_start
      FROM pg_stat_activity WHERE usename = ${roles.read} LIMIT 1`;
    return { pid: Number(row?.['pid']), backend_start: String(row?.['backend_start']) };
  };

  test('may propose to vacuum and to change a setting, and no setting beside', async () => {
    const tool = (name: string): ActiveTool => allTools.find((each) => each.name === name) as ActiveTool;
    const preflight = (name: string, input: unknown) =>
      tool(name).preflight(context(5_000), tool(name).input.parse(input));
    expect(await preflight('postgres_vacuum_table', { table: 'things' })).toMatchObject({ risk: 'low' });
    expect(
      await preflight('postgres_set_setting', { name: 'statement_timeout', value: '60s' }),
    ).toHaveProperty('guard');
    await expect(preflight('postgres_set_setting', { name: 'work_mem', value: '8MB' })).rejects.toThrow(
      'may not',
    );
  });

  test('see whose session is whose, and never propose to end one of Sentry’s own', async () => {
    const tool = allTools.find((each) => each.name === 'postgres_terminate_backend') as ActiveTool;
    await targets.identity('orders-db');
    const attempt = tool.preflight(context(5_000), tool.input.parse(await session()));
    await expect(attempt).rejects.toThrow('own connections');
  });
});
