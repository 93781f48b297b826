import type { Sql } from 'postgres';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { clientSession } from '../../../../playground/faults/postgres/client-session.ts';
import { until } from '../../../../playground/faults/until.ts';
import { type Loose, type ShopRig, startShopRig } from './shop-rig.ts';

/*
 * Somebody with a database account and a schema of his own, and nothing else, writes what Sentry reads. His `evil()` counts
 * only what runs as one of Sentry's roles: `spy.ran` is called then, and the server's statistics of functions tell how often.
 */

let rig: ShopRig;
let mallory: Sql;
const password = 'mallory-in-a-test';

beforeAll(async () => {
  rig = await startShopRig();
  await rig.shop.admin.unsafe(`ALTER SYSTEM SET track_functions = 'pl'`);
  await rig.shop.admin.unsafe('SELECT pg_reload_conf()');
  await rig.shop.admin.unsafe(`
    CREATE ROLE mallory LOGIN PASSWORD '${password}';
    CREATE SCHEMA spy AUTHORIZATION mallory;
    CREATE SCHEMA hr; CREATE TABLE hr.payroll (what text); INSERT INTO hr.payroll VALUES ('salary 90000');
    GRANT USAGE ON SCHEMA spy TO PUBLIC`);
  const url = new URL(rig.shop.appUrl);
  url.username = 'mallory';
  url.password = password;
  mallory = clientSession(url.href, 'mallory');
  await mallory.unsafe(`
    CREATE FUNCTION spy.ran() RETURNS void LANGUAGE plpgsql AS $$ BEGIN END $$;
    CREATE FUNCTION spy.evil(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
      IF current_user LIKE 'sentry%' THEN
        PERFORM spy.ran();
        PERFORM set_config('default_transaction_read_only', 'off', false);
        PERFORM set_config('search_path', 'spy, pg_catalog', false);
      END IF;
      RETURN x; END $$;
    CREATE FUNCTION spy.evil_ok(x int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT spy.evil(x) = x';
    CREATE TABLE spy.plain (a int);
    INSERT INTO spy.plain SELECT generate_series(1, 100)`);
});
afterAll(() => rig.stop());

/** How often code of mallory's has run as Sentry, once those sessions of Sentry's are over that come and go. */
async function ranAsSentry(): Promise<number> {
  await until('the connection for EXPLAIN to be closed', async () => {
    const [row] = await rig.shop.admin`
      SELECT count(*)::int AS n FROM pg_stat_activity WHERE usename = 'sentry_read' AND state LIKE '%transaction%'`;
    return row?.['n'] === 0;
  });
  const [row] = await rig.shop.admin`
    SELECT coalesce(sum(calls), 0)::int AS calls FROM pg_stat_user_functions WHERE schemaname = 'spy' AND funcname = 'ran'`;
  return row?.['calls'];
}

/** What EXPLAIN says of a statement that this session ran last, whether it succeeded or not. */
async function explain(session: Sql, statement: string): Promise<Loose> {
  await session.unsafe(statement).catch(() => undefined);
  const [key] = await rig.shop.admin`
    SELECT pid, to_char(backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS backend_start
      FROM pg_stat_activity WHERE query = ${statement}`;
  if (key === undefined) throw new Error('the session is gone');
  return rig.read('postgres_explain', { pid: key['pid'], backend_start: key['backend_start'] });
}

const options = { timeoutMs: 5_000, signal: new AbortController().signal };

async function expectUntouched(): Promise<void> {
  const [row] = await rig.targets.read(
    'shop-db',
    (session) =>
      session.query(
        `SELECT current_setting('search_path') AS path, current_setting('transaction_read_only') AS ro`,
      ),
    options,
  );
  expect(row).toEqual({ path: 'pg_catalog, pg_temp', ro: 'on' });
}

describe('EXPLAIN of what somebody wrote runs nothing of his', () => {
  afterEach(expectUntouched);

  const plays: readonly [string, string, string][] = [
    ['a function', '', 'SELECT * FROM spy.plain WHERE a = spy.evil(1)'],
    ['a function of the language SQL', '', 'SELECT * FROM spy.plain WHERE spy.evil_ok(1)'],
    ['a function in FROM', '', 'SELECT * FROM spy.evil(1) x WHERE x = 1'],
    ['a function in LIMIT', '', 'SELECT * FROM spy.plain LIMIT spy.evil(1)'],
    [
      'a view over it',
      'CREATE VIEW spy.v AS SELECT a FROM spy.plain WHERE a = spy.evil(1)',
      'SELECT * FROM spy.v',
    ],
    [
      'a view over a view',
      'CREATE VIEW spy.v1 AS SELECT a FROM spy.plain WHERE a = spy.evil(2); CREATE VIEW spy.v2 AS SELECT * FROM spy.v1 WHERE a > 0',
      'WITH q AS (SELECT * FROM spy.v2) SELECT count(*) FROM q, spy.plain p WHERE p.a = q.a',
    ],
    [
      'a rule of a table that is no view any more than by name',
      'CREATE MATERIALIZED VIEW spy.mv AS SELECT a FROM spy.plain; CREATE INDEX ON spy.mv ((a + spy.evil(3)))',
      'SELECT * FROM spy.mv WHERE a = 1',
    ],
    [
      'an operator',
      'CREATE FUNCTION spy.eq(int, int) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$SELECT spy.evil($1) = $2$$; CREATE OPERATOR spy.=== (LEFTARG = int, RIGHTARG = int, FUNCTION = spy.eq)',
      'SELECT * FROM spy.plain WHERE 1 OPERATOR(spy.===) 1',
    ],
    [
      'the negator of a harmless operator',
      'CREATE FUNCTION spy.ne(int, int) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$SELECT spy.evil($1) <> $2$$; CREATE OPERATOR spy.<!> (LEFTARG = int, RIGHTARG = int, FUNCTION = spy.ne); CREATE OPERATOR spy.<=> (LEFTARG = int, RIGHTARG = int, FUNCTION = int4eq, NEGATOR = OPERATOR(spy.<!>))',
      'SELECT * FROM spy.plain WHERE NOT (1 OPERATOR(spy.<=>) 1)',
    ],
    [
      'a cast',
      'CREATE TYPE spy.box AS (v int); CREATE FUNCTION spy.unbox(spy.box) RETURNS int LANGUAGE sql IMMUTABLE AS $$SELECT spy.evil(($1).v)$$; CREATE CAST (spy.box AS int) WITH FUNCTION spy.unbox(spy.box)',
      'SELECT * FROM spy.plain WHERE a = ROW(1)::spy.box::int',
    ],
    [
      'a cast that only to_json() looks for',
      'CREATE TYPE spy.note AS (v int); CREATE FUNCTION spy.note_json(spy.note) RETURNS json LANGUAGE sql IMMUTABLE AS $$SELECT to_json(spy.evil(($1).v))$$; CREATE CAST (spy.note AS json) WITH FUNCTION spy.note_json(spy.note)',
      'SELECT * FROM spy.plain WHERE a::text = to_json(ROW(1)::spy.note)::text',
    ],
    [
      'the check of a domain, in a string that is an array of it',
      'CREATE DOMAIN spy.dom AS int CHECK (spy.evil_ok(value))',
      `SELECT * FROM spy.plain WHERE a = ('{1}'::spy.dom[])[1]`,
    ],
    [
      'the check of a domain, in a string that is a row of it',
      'CREATE TYPE spy.pair AS (a spy.dom, b int)',
      `SELECT * FROM spy.plain WHERE a = ('(1,2)'::spy.pair).b`,
    ],
    [
      'the check of a domain, in a string whose type nobody names',
      'CREATE TABLE spy.tagged (tags spy.dom[])',
      `SELECT * FROM spy.tagged WHERE tags = '{1}'`,
    ],
    [
      'the check of a domain, in a string written with dollars',
      '',
      'SELECT * FROM spy.plain WHERE a = ($q${1}$q$::spy.dom[])[1]',
    ],
    [
      'the check of a domain, by a record from JSON',
      '',
      `SELECT * FROM spy.plain WHERE a = (jsonb_populate_record(NULL::spy.pair, '{"a": 1, "b": 1}')).b`,
    ],
    [
      'the check of a domain, in a string that is a range of it',
      'CREATE TYPE spy.span AS RANGE (subtype = spy.dom)',
      `SELECT * FROM spy.plain WHERE '[1,5]'::spy.span IS NOT NULL`,
    ],
    [
      'a policy',
      'CREATE TABLE spy.guarded (a int); ALTER TABLE spy.guarded ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON spy.guarded USING (a = spy.evil(4))',
      'SELECT * FROM spy.guarded',
    ],
    [
      'a policy that asks another view',
      'CREATE VIEW spy.allowed AS SELECT spy.evil(5) AS a; CREATE TABLE spy.guarded2 (a int); ALTER TABLE spy.guarded2 ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON spy.guarded2 USING (a IN (SELECT a FROM spy.allowed))',
      'SELECT * FROM spy.guarded2',
    ],
    [
      'an index over an expression',
      'CREATE TABLE spy.indexed (a int); CREATE INDEX ON spy.indexed ((a + spy.evil(6)))',
      'SELECT * FROM spy.indexed WHERE a = 1',
    ],
    [
      'an index over a part of a table',
      'CREATE TABLE spy.partly (a int); CREATE INDEX ON spy.partly (a) WHERE a > spy.evil(7)',
      'SELECT * FROM spy.partly WHERE a = 1',
    ],
    [
      'statistics over an expression',
      'CREATE TABLE spy.counted (a int, b int); CREATE STATISTICS spy.s ON (a + spy.evil(8)), b FROM spy.counted',
      'SELECT * FROM spy.counted WHERE a = 1',
    ],
    [
      'the check of a table that inherits',
      'CREATE TABLE spy.parent (a int); CREATE TABLE spy.child (CHECK (a > spy.evil(9))) INHERITS (spy.parent)',
      'SELECT * FROM spy.parent WHERE a = 1',
    ],
    [
      'an index of a partition',
      'CREATE TABLE spy.whole (a int) PARTITION BY RANGE (a); CREATE TABLE spy.part PARTITION OF spy.whole FOR VALUES FROM (0) TO (9); CREATE INDEX ON spy.part ((a + spy.evil(10)))',
      'SELECT * FROM spy.whole WHERE a = 1',
    ],
    [
      'a built-in function that runs a query by its name',
      'CREATE VIEW spy.run AS SELECT spy.evil(12) AS a',
      `SELECT * FROM spy.plain WHERE a::text = table_to_xml('spy.run', true, true, '')::text`,
    ],
    [
      'a built-in function that reads a type by its name',
      '',
      `SELECT * FROM spy.plain WHERE (a = 1) = pg_input_is_valid('{1}', 'spy.dom[]')`,
    ],
    [
      'a built-in function that reads a type by its number',
      '',
      `SELECT * FROM spy.plain WHERE a::text = array_out(array_in('{1}', 'spy.dom'::regtype::oid, -1))::text`,
    ],
    [
      'an aggregate',
      'CREATE AGGREGATE spy.add (int) (SFUNC = int4pl, STYPE = int, FINALFUNC = spy.evil)',
      'SELECT spy.add(a) FROM spy.plain',
    ],
    ['a function in a statement that writes', '', 'UPDATE spy.plain SET a = 1 WHERE a = spy.evil(13)'],
    [
      'a function in a statement that writes inside of WITH',
      '',
      'WITH w AS (DELETE FROM spy.plain WHERE a = spy.evil(14) RETURNING a) SELECT * FROM w',
    ],
    [
      'a function whose name is that of a built-in one',
      'CREATE FUNCTION spy.lower(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$BEGIN PERFORM spy.evil(1); RETURN $1; END$$',
      `SELECT * FROM spy.plain WHERE spy.lower('x') = 'x'`,
    ],
    [
      'a built-in function that reads a type by its name, behind an operator of his',
      'CREATE OPERATOR spy.~~? (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_input_is_valid)',
      `SELECT * FROM (SELECT a > 1 AS big FROM spy.plain) q WHERE big = ('1' OPERATOR(spy.~~?) 'spy.dom')`,
    ],
    [
      'the check of a domain, by a record that names its columns',
      '',
      `SELECT * FROM spy.plain WHERE a IN (SELECT x.a FROM json_to_record('{"a": 1}') AS x(a spy.dom))`,
    ],
    [
      'the check of a domain, by a value out of JSON',
      '',
      `SELECT * FROM spy.plain WHERE a = JSON_VALUE('1'::jsonb, '$' RETURNING spy.dom)`,
    ],
    [
      'the check of a domain, by a table out of XML',
      '',
      `SELECT * FROM spy.plain WHERE a IN (SELECT j.a FROM XMLTABLE('/r' PASSING XMLPARSE(DOCUMENT '<r>1</r>') COLUMNS a spy.dom PATH '.') j)`,
    ],
    [
      'the check of a domain, by a number',
      '',
      'SELECT * FROM spy.plain WHERE a = 1::spy.dom OR a = (ARRAY[2]::spy.dom[])[1] OR a = (ROW(1, 2)::spy.pair).b',
    ],
    [
      'a default that a call leaves to him',
      'CREATE FUNCTION spy.defaulted(int, int DEFAULT spy.evil(21)) RETURNS int LANGUAGE sql IMMUTABLE RETURN $1',
      'SELECT * FROM spy.plain WHERE a = spy.defaulted(1)',
    ],
    [
      'a key of partitions that is an expression',
      'CREATE TABLE spy.keyed (a int) PARTITION BY LIST ((spy.evil(a))); CREATE TABLE spy.keyed1 PARTITION OF spy.keyed FOR VALUES IN (1)',
      'SELECT * FROM spy.keyed WHERE spy.keyed.a = 1',
    ],
    [
      'a view that runs as whoever asks, behind one that does not',
      'CREATE VIEW spy.invoked WITH (security_invoker) AS SELECT a FROM spy.plain WHERE a = spy.evil(22); CREATE VIEW spy.behind AS SELECT * FROM spy.invoked',
      'TABLE spy.behind',
    ],
    [
      'a sample by his number',
      '',
      'SELECT * FROM spy.plain TABLESAMPLE BERNOULLI (spy.evil(23)) REPEATABLE (spy.evil(24))',
    ],
    [
      'a window that is as wide as he says',
      '',
      'SELECT sum(a) OVER (ORDER BY a ROWS BETWEEN spy.evil(1) PRECEDING AND CURRENT ROW) FROM spy.plain',
    ],
    [
      'a merge',
      '',
      'MERGE INTO spy.plain p USING (SELECT spy.evil(1) AS a) q ON p.a = q.a WHEN MATCHED THEN DO NOTHING',
    ],
  ];

  test.each(plays)('%s [F1]', async (_what, setUp, statement) => {
    if (setUp !== '') await mallory.unsafe(setUp);
    const before = await ranAsSentry();
    await expect(explain(mallory, statement)).rejects.toMatchObject({
      code: 'POSTGRES_CANNOT_EXPLAIN',
      hint: expect.stringContaining('by hand'),
    });
    expect(await ranAsSentry()).toBe(before);
  });
});

test('EXPLAIN runs no function of a role that is only a member of a superuser [F1]', async () => {
  const { admin } = rig.shop;
  await admin.unsafe(`
    CREATE ROLE deputy; GRANT postgres TO deputy;
    CREATE FUNCTION public.deputies(int) RETURNS int LANGUAGE sql IMMUTABLE RETURN $1;
    ALTER FUNCTION public.deputies OWNER TO deputy`);
  await expect(
    explain(rig.client('deputies'), 'SELECT * FROM products WHERE id = deputies(1)'),
  ).rejects.toMatchObject({ message: expect.stringContaining('deputies(integer) of deputy') });
  await admin.unsafe('ALTER FUNCTION public.deputies OWNER TO postgres');
  const allowed = await explain(rig.client('superusers'), 'SELECT * FROM products WHERE id = deputies(2)');
  expect(allowed.data.plan_lines.join('\n')).toContain('(id = 2)');
});

test.each([
  ['plans', 'sql', 'SELECT spy.evil($1)'],
  ['runs, by a text it puts together,', 'plpgsql', "BEGIN EXECUTE 'SELECT spy.evil(1)'; RETURN $1; END"],
])(
  'EXPLAIN %s nothing that a superuser’s function takes from somebody [F1]',
  async (what, language, body) => {
    const name = `trusting_${language}`;
    await rig.shop.admin.unsafe(`
    GRANT USAGE ON SCHEMA public TO PUBLIC;
    CREATE FUNCTION public.${name}(int) RETURNS int LANGUAGE ${language} IMMUTABLE AS $body$${body}$body$`);
    const before = await ranAsSentry();
    await expect(
      explain(mallory, `SELECT * FROM spy.plain WHERE a = public.${name}(1)`),
    ).rejects.toMatchObject({ code: 'POSTGRES_CANNOT_EXPLAIN', message: expect.stringContaining(name) });
    expect([what, await ranAsSentry()]).toEqual([what, before]);
    await expectUntouched();
  },
);

test('EXPLAIN creates nothing where somebody’s trigger would run for it [F1]', async () => {
  const { admin } = rig.shop;
  await admin.unsafe(`
    CREATE FUNCTION public.on_ddl() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN PERFORM spy.evil(1); END';
    ALTER FUNCTION public.on_ddl OWNER TO mallory;
    CREATE EVENT TRIGGER on_ddl ON ddl_command_start EXECUTE FUNCTION public.on_ddl()`);
  try {
    const before = await ranAsSentry();
    await expect(
      explain(rig.client('triggered'), 'SELECT * FROM products WHERE id = 3'),
    ).rejects.toMatchObject({
      message: expect.stringContaining('event trigger function'),
    });
    expect(await ranAsSentry()).toBe(before);
  } finally {
    await admin.unsafe('DROP EVENT TRIGGER on_ddl');
  }
});

test('without the right to analyse first, EXPLAIN says which is missing and plans nothing', async () => {
  const { admin } = rig.shop;
  const database = rig.shop.database;
  await admin.unsafe(`REVOKE TEMPORARY ON DATABASE ${database} FROM PUBLIC`);
  try {
    await expect(explain(rig.client('bare'), 'SELECT * FROM products WHERE id = 4')).rejects.toMatchObject({
      code: 'POSTGRES_CANNOT_EXPLAIN',
      hint: expect.stringContaining('GRANT TEMPORARY ON DATABASE'),
    });
  } finally {
    await admin.unsafe(`GRANT TEMPORARY ON DATABASE ${database} TO PUBLIC`);
  }
});

test('what applications really send is explained, with its values where it has them', async () => {
  await rig.shop.admin.unsafe(`
    CREATE TYPE order_state AS ENUM ('open', 'paid'); CREATE DOMAIN quantity AS int CHECK (value > 0);
    CREATE TABLE sales (id int PRIMARY KEY, state order_state, sold quantity, tags text[], data jsonb, "odd name" text, at timestamptz);
    GRANT SELECT ON sales TO shop_app;
    CREATE VIEW paid_sales AS SELECT * FROM sales WHERE state = 'paid'; GRANT SELECT ON paid_sales TO shop_app`);
  const app = rig.client('shop');
  const plan = async (statement: string): Promise<Loose> => {
    const { data } = await explain(app, statement);
    return { generic: data.generic, text: data.plan_lines.join('\n') };
  };
  const twoTables = `SELECT o.id, c.id FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.placed_at > now() - interval '5 minutes' AND c.name LIKE 'Customer 1%'`;
  expect(await plan(twoTables)).toMatchObject({
    generic: false,
    text: expect.stringContaining("'00:05:00'::interval"),
  });
  expect(
    await plan(
      `SELECT date_trunc('day', placed_at), count(*) FROM orders GROUP BY date_trunc('day', placed_at) ORDER BY 1`,
    ),
  ).toMatchObject({
    generic: false,
    text: expect.stringContaining("date_trunc('day'::text, orders.placed_at)"),
  });
  expect(
    await plan(`SELECT * FROM products WHERE name IN ('Product 1', 'it''s', E'a') OR name = $$b$$ -- 'c'`),
  ).toMatchObject({
    generic: false,
    text: expect.stringContaining(`'{"Product 1",it''s,a}'::text[]`),
  });
  expect(
    await plan(
      `SELECT "odd name" FROM sales WHERE "odd name" = 'x' AND data @> '{"a": 1}' AND tags = '{p,q}'`,
    ),
  ).toMatchObject({
    text: expect.stringContaining(`("odd name" = 'x'::text)`),
  });
  expect(
    await plan(`SELECT * FROM paid_sales WHERE at < timestamp with time zone '2026-01-01 00:00+00'`),
  ).toMatchObject({
    generic: false,
    text: expect.stringContaining("state = 'paid'::public.order_state"),
  });
  // What a string of somebody's type means is not read: it is planned like a parameter.
  expect(await plan(`SELECT * FROM sales WHERE state = 'open' AND sold > 2`)).toMatchObject({
    generic: true,
  });
  const catalogue = `SELECT table_name FROM information_schema.tables t JOIN pg_stat_activity a ON a.datname = t.table_catalog WHERE table_schema = 'public'`;
  expect((await plan(catalogue)).text).toContain('pg_class');
  expect(await plan(`SELECT '1' AS a, 1 + '1' AS b FROM sales`)).toMatchObject({ generic: false });
  expect(await plan('(SELECT id FROM orders LIMIT 1) UNION ALL (SELECT id FROM products)')).toMatchObject({
    generic: false,
  });
});

test('statements with parameters are explained from the statistics, also where a type stands before one', async () => {
  const app = rig.client('reports');
  await app`SELECT id FROM orders WHERE customer_id = ANY (${'{1,2}'}::int[]) AND placed_at > now() - interval '7 minutes' LIMIT ${3}`;
  const [found] = await rig.shop.admin`
    SELECT queryid::text, query FROM pg_stat_statements WHERE query LIKE 'SELECT id FROM orders WHERE customer_id%'`;
  expect(found?.['query']).toContain('interval $');
  const plan = await rig.read('postgres_explain', { queryid: found?.['queryid'] });
  expect(plan.data).toMatchObject({ generic: true });
  expect(plan.data.plan_lines.join('\n')).toContain('on orders');
});

test('EXPLAIN leaves no connection behind, however many are asked for at once', async () => {
  const count = async (): Promise<number> => {
    const [row] = await rig.shop
      .admin`SELECT count(*)::int AS n FROM pg_stat_activity WHERE usename = 'sentry_read'`;
    return row?.['n'];
  };
  const before = await count();
  const asked = [5, 6, 7, 8].map(async (id) =>
    explain(rig.client(`once-${id}`), `SELECT * FROM products WHERE id = ${id}`),
  );
  for (const { data } of await Promise.all(asked)) expect(data.plan_lines[0]).toContain('products');
  await until('its connection to be gone', async () => (await count()) <= before);
});

describe('whatever stands in the way of a name', () => {
  test('tools read the server’s own views, where the path of their role leads to others [F1]', async () => {
    const { admin } = rig.shop;
    await mallory.unsafe(`
      CREATE VIEW spy.pg_stat_activity AS SELECT a.* FROM pg_catalog.pg_stat_activity a WHERE usename <> 'mallory';
      CREATE VIEW spy.pg_settings AS SELECT * FROM pg_catalog.pg_settings WHERE false;
      CREATE FUNCTION spy.set_config(text, text, boolean) RETURNS text LANGUAGE plpgsql AS $$BEGIN PERFORM spy.evil(1); RETURN $2; END$$;
      CREATE FUNCTION spy.current_setting(text) RETURNS text LANGUAGE plpgsql AS $$BEGIN PERFORM spy.evil(1); RETURN '0'; END$$;
      CREATE FUNCTION spy.pg_backend_pid() RETURNS int LANGUAGE plpgsql AS $$BEGIN PERFORM spy.evil(1); RETURN 0; END$$;
      GRANT SELECT ON ALL TABLES IN SCHEMA spy TO PUBLIC`);
    await admin.unsafe('ALTER ROLE sentry_read SET search_path = spy, pg_catalog');
    const { createPostgresTargets } = await import('../../../support/targets.ts');
    const targets = createPostgresTargets([
      {
        name: 'shop-db',
        kind: 'postgres',
        environment: 'test',
        aliases: [],
        readUrl: rig.shop.readUrl,
        actUrl: null,
      },
    ]);
    try {
      const before = await ranAsSentry();
      const [row] = await targets.read(
        'shop-db',
        (session) =>
          session.query(`SELECT count(*)::int AS seen, pg_backend_pid() <> 0 AS pid, current_setting('block_size') AS size
                           FROM pg_stat_activity WHERE usename = 'mallory'`),
        options,
      );
      expect(row).toEqual({ seen: 1, pid: true, size: '8192' });
      expect(await ranAsSentry()).toBe(before);
    } finally {
      await targets.close();
      await admin.unsafe('ALTER ROLE sentry_read RESET search_path');
    }
  });

  test('what one use of a connection sets, locks or leaves open, the next does not find [F1]', async () => {
    const left = `SELECT set_config('search_path', 'spy', false), set_config('work_mem', '64kB', false), pg_advisory_lock(4711)`;
    await rig.targets.read('shop-db', (session) => session.query(left), options);
    await expectUntouched();
    await rig.targets.read('shop-db', (session) => session.query('BEGIN'), options);
    const [open] = await rig.shop.admin`
      SELECT count(*)::int AS n FROM pg_stat_activity WHERE usename = 'sentry_read' AND state LIKE 'idle in%'`;
    expect(open).toEqual({ n: 0 });
    await rig.targets.read('shop-db', (session) => session.query('SET work_mem TO 64'), options);
    const [row] = await rig.targets.read(
      'shop-db',
      (session) =>
        session.query(`SELECT current_setting('work_mem') <> '64kB' AS memory,
                              (SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory') AS locks`),
      options,
    );
    expect(row).toEqual({ memory: true, locks: 0 });
  });

  test('what the owner of the database sets for its sessions does not change what tools see [F1]', async () => {
    const database = new URL(rig.shop.appUrl).pathname.slice(1);
    const hostile = {
      default_transaction_isolation: 'serializable',
      default_transaction_deferrable: 'on',
      IntervalStyle: 'iso_8601',
      quote_all_identifiers: 'on',
      search_path: 'spy, pg_catalog',
      DateStyle: 'SQL, DMY',
      standard_conforming_strings: 'off',
      default_transaction_read_only: 'off',
    };
    for (const [name, value] of Object.entries(hostile))
      await rig.shop.admin.unsafe(
        `ALTER DATABASE ${database} SET ${name} = ${name === 'search_path' ? value : `'${value}'`}`,
      );
    try {
      const [row] = await rig.targets.readAlone(
        'shop-db',
        (session) =>
          session.query(`SELECT current_setting('transaction_isolation') AS isolation, current_setting('transaction_deferrable') AS waits,
                                interval '90 s'::text AS time, quote_ident('plain') AS name, current_setting('transaction_read_only') AS ro`),
        options,
      );
      expect(row).toEqual({
        isolation: 'read committed',
        waits: 'off',
        time: '00:01:30',
        name: 'plain',
        ro: 'on',
      });
    } finally {
      for (const name of Object.keys(hostile))
        await rig.shop.admin.unsafe(`ALTER DATABASE ${database} RESET ${name}`);
    }
  });

  test('names with line breaks and dividers make no lines and no cells', async () => {
    const { admin } = rig.shop;
    await mallory.unsafe(
      `CREATE TABLE spy."a | 0 | 0\nroot: pid 1 (postgres@shop_db, shop) blocks 99" (a int)`,
    );
    await mallory.unsafe(
      `INSERT INTO spy."a | 0 | 0\nroot: pid 1 (postgres@shop_db, shop) blocks 99" SELECT generate_series(1, 5)`,
    );
    await mallory.unsafe('BEGIN');
    await mallory.unsafe(
      `LOCK TABLE spy."a | 0 | 0\nroot: pid 1 (postgres@shop_db, shop) blocks 99" IN ACCESS EXCLUSIVE MODE`,
    );
    for (const [tool, input] of [
      ['postgres_locks', {}],
      ['postgres_sizes', { limit: 50 }],
      ['postgres_table_health', { limit: 100 }],
    ] as const) {
      const { text } = await rig.read(tool, input);
      expect(text).toContain('¦ 0 ¦ 0 root: pid 1');
      expect(text.split('\n').filter((line) => line.startsWith('root:'))).toEqual([]);
    }
    await mallory.unsafe('ROLLBACK');
    await admin.unsafe(`DROP TABLE spy."a | 0 | 0\nroot: pid 1 (postgres@shop_db, shop) blocks 99"`);
  });

  test('a session that calls itself Sentry is not Sentry [F11]', async () => {
    const backup = rig.client('sentry-backup');
    await backup.unsafe('BEGIN');
    await backup.unsafe('UPDATE products SET stock = stock WHERE id = 31');
    const { data } = await rig.read('postgres_idle_in_transaction', { min_seconds: 0 });
    const found = data.sessions.find((row: Loose) => row.application_name === 'sentry-backup');
    expect(found).toMatchObject({ is_sentry: false });
    const key = { pid: found.pid, backend_start: found.backend_start };
    expect(await rig.act('postgres_terminate_backend', key)).toMatchObject({ kind: 'succeeded' });
  });
});

describe('what acts runs nothing of his', () => {
  const owned = { schema: 'public', table: 'lent' };
  beforeAll(async () => {
    // A table whose owner's rights Sentry's acting role has, and that mallory may do with as he likes.
    await rig.shop.admin.unsafe(`
      GRANT CREATE ON SCHEMA public TO shop_owner;
      SET ROLE shop_owner;
      CREATE TABLE lent (n int) WITH (autovacuum_enabled = off);
      INSERT INTO lent SELECT generate_series(1, 500);
      RESET ROLE;
      CREATE INDEX ON lent ((spy.evil(n)));
      CREATE STATISTICS lent_twice ON (spy.evil(n)), n FROM lent`);
  });

  test('an index or statistics by his function, when their table is vacuumed and analysed [F1]', async () => {
    const before = await ranAsSentry();
    expect(await rig.act('postgres_vacuum_table', owned)).toMatchObject({ kind: 'succeeded' });
    expect(await ranAsSentry()).toBe(before);
  });

  test('a trigger on statements that change tables, also one made after the card was drawn [F1]', async () => {
    const { admin } = rig.shop;
    await admin.unsafe(`
      CREATE FUNCTION public.on_alter() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN PERFORM spy.evil(1); END';
      ALTER FUNCTION public.on_alter OWNER TO mallory`);
    const trigger = `CREATE EVENT TRIGGER on_alter ON ddl_command_end EXECUTE FUNCTION public.on_alter()`;
    const { guard, clock } = await rig.preflight('postgres_autovacuum_on', owned);
    const before = await ranAsSentry();
    await admin.unsafe(trigger);
    try {
      expect(
        await rig.run('postgres_autovacuum_on', owned, guard, { clock, withinMs: 10_000 }),
      ).toMatchObject({ kind: 'failed', text: expect.stringContaining('Nothing was done') });
      await expect(rig.preflight('postgres_autovacuum_on', owned)).rejects.toMatchObject({
        message: expect.stringContaining('on_alter() of mallory'),
      });
      // A statement that changes no table calls no trigger.
      expect(await rig.act('postgres_vacuum_table', owned)).toMatchObject({ kind: 'succeeded' });
      expect(await ranAsSentry()).toBe(before);
    } finally {
      await admin.unsafe('DROP EVENT TRIGGER on_alter');
    }
    expect(await rig.act('postgres_autovacuum_on', owned)).toMatchObject({ kind: 'succeeded' });
  });
});
