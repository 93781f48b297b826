import type { Sql } from 'postgres';
import { neighboursOf } from './neighbours.ts';

const DATABASES = 9;
/** They are dropped with it when the next case comes. */
const OWNER = 'neighbours';

/**
 * Gives a database the other tables, statements and databases that the system of this case has, and takes those of the case
 * before away: a database with nothing but the fault in it looks like every other one. `count`: of tables.
 */
export async function furnish(admin: Sql, id: string, count: number): Promise<void> {
  await clear(admin);
  const [tables, databases] = [neighboursOf(id, count), neighboursOf(`${id} databases`, DATABASES)];
  for (const { name, size } of tables) {
    const table = name.replaceAll('-', '_');
    const rows = 90 + size * 17;
    await admin.unsafe(`
      CREATE TABLE ${table} (id int PRIMARY KEY, ${table}_at timestamptz NOT NULL DEFAULT now(), body text NOT NULL);
      ALTER TABLE ${table} OWNER TO ${OWNER};
      INSERT INTO ${table} (id, body) SELECT n, repeat('${name} ', ${1 + (size % 7)}) FROM generate_series(1, ${rows}) n;
      ANALYZE ${table};
      UPDATE ${table} SET body = '${name}' WHERE id <= ${size % 40};
      SELECT count(*) FROM ${table} WHERE id BETWEEN ${size} AND ${size * 2};
      SELECT max(${table}_at) FROM ${table};`);
  }
  for (const { name } of databases)
    await admin.unsafe(`CREATE DATABASE ${name.replaceAll('-', '_')} OWNER ${OWNER}`);
}

async function clear(admin: Sql): Promise<void> {
  const [role] = await admin`SELECT 1 FROM pg_roles WHERE rolname = ${OWNER}`;
  if (role === undefined) await admin.unsafe(`CREATE ROLE ${OWNER} NOLOGIN`);
  await admin.unsafe(`DROP OWNED BY ${OWNER}`);
  for (const { datname } of await admin<{ datname: string }[]>`
    SELECT datname FROM pg_database WHERE pg_get_userbyid(datdba) = ${OWNER}`)
    await admin`DROP DATABASE ${admin(datname)}`;
  const [statements] = await admin`SELECT 1 FROM pg_extension WHERE extname = 'pg_stat_statements'`;
  if (statements !== undefined) await admin`SELECT pg_stat_statements_reset()`;
}
