import type { InventoryItem } from '../../core/inventory.ts';
import { oneLine } from '../format.ts';
import { userSchemas } from './read/relation-size.ts';
import type { PostgresSession, Row } from './system.ts';

/** Beyond that comparing costs the server more than it is worth. */
const MOST_OBJECTS = 2_000;

const text = (row: Row | undefined, column: string): string => String(row?.[column] ?? '');

/** `options` and `privileges` are texts to show, `digest` what all the rest of a definition is summed up by. */
export async function readSchema(session: PostgresSession, part: string): Promise<readonly InventoryItem[]> {
  const [{ count } = {}] = await session.query(
    `SELECT count(*)::int AS count FROM (SELECT FROM (${objectsSql}) AS objects LIMIT ${MOST_OBJECTS + 1}) AS counted`,
  );
  if (Number(count) > MOST_OBJECTS)
    throw new Error(`it has more than ${MOST_OBJECTS} tables, indexes, functions and other objects`);
  const rows = await session.query(definitionsSql);
  return rows.flatMap((row) => itemsOf(part, row));
}

function itemsOf(part: string, row: Row): readonly InventoryItem[] {
  const [type, own, schema, table] = ['type', 'name', 'schema', 'table_name'].map((column) =>
    text(row, column),
  ) as [string, string, string, string];
  const whole = `${schema}.${own}`;
  const isOfTable = table !== '' && table !== own;
  const name = isOfTable ? `${type} ${own} of ${schema}.${table}` : `${type} ${whole}`;
  const objects = [whole, own, ...(isOfTable ? [`${schema}.${table}`, table] : [])];
  const key = JSON.stringify([type, schema, own, table, text(row, 'arguments')]);
  const item = (what: string, value: string): InventoryItem => ({
    part,
    key: `${what} ${key}`,
    name: `${what} of ${whole}`,
    kind: 'config',
    value: oneLine(value, 2_000),
    objects,
    mayComeAndGo: false,
  });
  return [
    {
      part,
      key,
      name,
      kind: 'migration',
      value: `#${text(row, 'digest')}`,
      objects,
      mayComeAndGo: true,
      told: { changed: 'was altered', came: 'created', went: 'dropped' },
    },
    ...(row['options'] === null ? [] : [item('storage options', text(row, 'options') || 'none')]),
    ...(row['privileges'] === null
      ? []
      : [item('privileges', text(row, 'privileges') || 'those of its owner')]),
  ];
}

/** SHA-256 by the server: definitions do not leave it. */
export function digest(expression: string, bytes = 6): string {
  return `encode(substring(sha256(convert_to(coalesce(${expression}, ''), 'UTF8')) FOR ${bytes}), 'hex')`;
}

/** Not what an extension brings, which its version tells, nor partitions, which come and go by the clock. */
const own = (catalogue: string, oid: string): string => `NOT EXISTS (
  SELECT FROM pg_depend e WHERE e.classid = '${catalogue}'::regclass AND e.objid = ${oid} AND e.deptype = 'e')`;
const notInherited = (oid: string): string =>
  `NOT EXISTS (SELECT FROM pg_inherits h WHERE h.inhrelid = ${oid})`;

const objectsSql = `
  SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE c.relkind IN ('r', 'p', 'i', 'I', 'v', 'm', 'f', 'S') AND c.relpersistence <> 't' AND ${userSchemas} AND ${notInherited('c.oid')}
  UNION ALL
  SELECT p.oid FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE ${userSchemas} AND ${own('pg_proc', 'p.oid')}
  UNION ALL
  SELECT t.oid FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE NOT t.tgisinternal AND ${userSchemas}`;

const columnsSql = `
  SELECT string_agg(concat_ws(' ', a.attname, a.atttypid::regtype, a.atttypmod, a.attnotnull, a.attidentity, a.attgenerated,
                              a.attcollation, a.attstorage, array_to_string(a.attoptions, ','), d.adbin::text), E'\\n' ORDER BY a.attnum)
    FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
   WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped`;
const constraintsSql = `
  SELECT string_agg(concat_ws(' ', k.conname, k.contype, k.convalidated, k.condeferrable, k.conkey::text, k.confrelid, k.confkey::text,
                              k.conbin::text), E'\\n' ORDER BY k.conname)
    FROM pg_constraint k WHERE k.conrelid = c.oid`;
const policiesSql = `
  SELECT string_agg(concat_ws(' ', p.polname, p.polcmd, p.polpermissive, p.polroles::text, p.polqual::text, p.polwithcheck::text), E'\\n'
                    ORDER BY p.polname) FROM pg_policy p WHERE p.polrelid = c.oid`;

const definitionsSql = `
  SELECT CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'f' THEN 'foreign table' ELSE 'table' END AS type,
         n.nspname AS schema, c.relname AS name, '' AS table_name, '' AS arguments,
         CASE WHEN c.relkind IN ('r', 'p', 'm') THEN coalesce(array_to_string(c.reloptions, ', '), '') END AS options,
         coalesce(array_to_string(c.relacl, ', '), '') AS privileges,
         ${digest(`concat_ws('|', c.relkind, c.relpersistence, c.relowner::regrole, c.relrowsecurity, c.relforcerowsecurity, c.relreplident,
           (${columnsSql}), (${constraintsSql}), (${policiesSql}),
           (SELECT string_agg(w.ev_action::text, ',' ORDER BY w.rulename) FROM pg_rewrite w WHERE w.ev_class = c.oid))`)} AS digest
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relpersistence <> 't' AND ${userSchemas} AND ${notInherited('c.oid')}
     AND ${own('pg_class', 'c.oid')}
  UNION ALL
  SELECT 'index', n.nspname, c.relname, r.relname, '', NULL, NULL,
         ${digest(`concat_ws('|', x.indisunique, x.indisvalid, x.indkey::text, x.indclass::text, x.indcollation::text, x.indoption::text,
           x.indexprs::text, x.indpred::text, array_to_string(c.reloptions, ','), c.relam)`)}
    FROM pg_index x JOIN pg_class c ON c.oid = x.indexrelid JOIN pg_class r ON r.oid = x.indrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE r.relpersistence <> 't' AND ${userSchemas} AND ${notInherited('c.oid')} AND ${notInherited('r.oid')} AND ${own('pg_class', 'r.oid')}
  UNION ALL
  SELECT 'sequence', n.nspname, c.relname, '', '', NULL, NULL,
         ${digest(`concat_ws('|', s.seqtypid, s.seqstart, s.seqincrement, s.seqmax, s.seqmin, s.seqcache, s.seqcycle)`)}
    FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE c.relpersistence <> 't' AND ${userSchemas} AND ${own('pg_class', 'c.oid')}
  UNION ALL
  SELECT CASE p.prokind WHEN 'p' THEN 'procedure' WHEN 'a' THEN 'aggregate' ELSE 'function' END, n.nspname, p.proname, '',
         p.proargtypes::text, NULL, coalesce(array_to_string(p.proacl, ', '), ''),
         ${digest(`concat_ws('|', p.prosrc, p.probin, p.prolang, p.prorettype, p.provolatile, p.proisstrict, p.prosecdef, p.proparallel,
           p.proowner::regrole, p.proargdefaults::text, array_to_string(p.proconfig, ','))`)}
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
   WHERE ${userSchemas} AND ${own('pg_proc', 'p.oid')}
  UNION ALL
  SELECT 'trigger', n.nspname, t.tgname, c.relname, '', NULL, NULL,
         ${digest(`concat_ws('|', t.tgenabled, t.tgtype, t.tgfoid, t.tgattr::text, t.tgqual::text, t.tgargs::text)`)}
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE NOT t.tgisinternal AND ${userSchemas} AND ${notInherited('c.oid')}
   ORDER BY 1, 2, 3, 4, 5`;
