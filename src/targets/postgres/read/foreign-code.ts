import { oneLine } from '../../format.ts';
import type { PostgresSession } from '../system.ts';

/** Code that belongs to no superuser, as people name it, and that the server would run as whoever asks. */
export const foreignCode = {
  /** By planning a statement that reads this relation. Empty: none. */
  async reachedBy(session: PostgresSession, relation: string): Promise<readonly string[]> {
    return named(await session.query(reachedSql, [relation]));
  },

  /** By creating or altering something. */
  async eventTriggers(session: PostgresSession): Promise<readonly string[]> {
    return named(
      await session.query(`
        SELECT 'the event trigger function ' || p.oid::regprocedure::text || ' of ' || r.rolname AS name
          ${foreignTriggers} ORDER BY 1 LIMIT 20`),
    );
  },
};

const foreignTriggers = `FROM pg_event_trigger e JOIN pg_proc p ON p.oid = e.evtfoid JOIN pg_roles r ON r.oid = p.proowner
         WHERE e.evtenabled <> 'D' AND NOT r.rolsuper`;

/** SQL, for the statement that comes right before one which alters something: nobody's trigger would run for it. */
export const noForeignTrigger = `NOT EXISTS (SELECT ${foreignTriggers})`;

function named(rows: readonly { readonly [key: string]: unknown }[]): readonly string[] {
  return rows.map((row) => oneLine(row['name'], 150));
}

/** `reached` as a row of the catalogue `name`. */
const is = (name: string): string => `r.class = 'pg_catalog.${name}'::regclass`;
const from = (name: string): string => `'pg_catalog.${name}'::regclass::oid`;

/**
 * From the relation along everything the planner may look into: the dependencies that PostgreSQL keeps, and those it keeps
 * the other way round or not at all (a table's rules, policies, indexes, checks, statistics and children; a type's parts,
 * checks, input and casts; an operator's function and its negator). It reaches too much rather than too little. Built-in
 * functions are in no dependency, nor is the type that JSON_VALUE returns, so they are read from the stored expressions. Of them those are refused that run
 * what their arguments name: a query, a table or a type, called by name or as an operator.
 *
 * What a function names in a body that is a text is in no dependency either, and may be somebody else's. So one that the planner
 * may run or inline is refused whoever owns it, unless it came with an extension.
 */
const reachedSql = `
  WITH RECURSIVE reached (class, obj) AS (
    SELECT ${from('pg_class')}, $1::text::regclass::oid
    UNION
    SELECT e.class, e.obj FROM reached r CROSS JOIN LATERAL (
      SELECT d.refclassid AS class, d.refobjid AS obj FROM pg_depend d
       WHERE d.classid = r.class AND d.objid = r.obj
         AND (d.refclassid IN ('pg_proc'::regclass, 'pg_type'::regclass, 'pg_operator'::regclass, 'pg_opclass'::regclass, 'pg_foreign_server'::regclass)
              OR d.refclassid = 'pg_class'::regclass AND (${is('pg_rewrite')} OR ${is('pg_policy')} OR ${is('pg_proc')}))
         AND NOT (${is('pg_opclass')} OR ${is('pg_foreign_server')})
      UNION ALL SELECT ${from('pg_rewrite')}, w.oid FROM pg_rewrite w WHERE ${is('pg_class')} AND w.ev_class = r.obj
      UNION ALL SELECT ${from('pg_policy')}, p.oid FROM pg_policy p WHERE ${is('pg_class')} AND p.polrelid = r.obj
      UNION ALL SELECT ${from('pg_class')}, i.indexrelid FROM pg_index i WHERE ${is('pg_class')} AND i.indrelid = r.obj
      UNION ALL SELECT ${from('pg_class')}, h.inhrelid FROM pg_inherits h WHERE ${is('pg_class')} AND h.inhparent = r.obj
      UNION ALL SELECT ${from('pg_statistic_ext')}, s.oid FROM pg_statistic_ext s WHERE ${is('pg_class')} AND s.stxrelid = r.obj
      UNION ALL SELECT ${from('pg_constraint')}, k.oid FROM pg_constraint k
                 WHERE k.contype = 'c' AND (${is('pg_class')} AND k.conrelid = r.obj OR ${is('pg_type')} AND k.contypid = r.obj)
      UNION ALL SELECT ${from('pg_attrdef')}, f.oid FROM pg_attrdef f JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
                 WHERE ${is('pg_class')} AND f.adrelid = r.obj AND a.attgenerated = 'v'
      UNION ALL SELECT ${from('pg_type')}, a.atttypid FROM pg_attribute a
                 WHERE ${is('pg_class')} AND a.attrelid = r.obj AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid >= 16384::oid
      UNION ALL SELECT ${from('pg_type')}, a.atttypid FROM pg_type t JOIN pg_attribute a ON a.attrelid = t.typrelid
                 WHERE ${is('pg_type')} AND t.oid = r.obj AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid >= 16384::oid
      UNION ALL SELECT v.class, v.obj FROM pg_type t CROSS JOIN LATERAL (VALUES
                   (${from('pg_type')}, t.typelem), (${from('pg_type')}, t.typbasetype), (${from('pg_proc')}, t.typinput::oid),
                   (${from('pg_proc')}, t.typoutput::oid), (${from('pg_proc')}, t.typmodin::oid)) v (class, obj)
                 WHERE ${is('pg_type')} AND t.oid = r.obj AND v.obj <> 0::oid
      UNION ALL SELECT v.class, v.obj FROM pg_range g CROSS JOIN LATERAL (VALUES
                   (${from('pg_type')}, g.rngtypid), (${from('pg_type')}, g.rngsubtype), (${from('pg_proc')}, g.rngcanonical::oid),
                   (${from('pg_proc')}, g.rngsubdiff::oid), (${from('pg_opclass')}, g.rngsubopc)) v (class, obj)
                 WHERE ${is('pg_type')} AND v.obj <> 0::oid
                   AND r.obj IN (g.rngtypid, (to_jsonb(g) ->> 'rngmultitypid')::oid)
      UNION ALL SELECT ${from('pg_proc')}, c.castfunc FROM pg_cast c
                 WHERE ${is('pg_type')} AND r.obj >= 16384::oid AND c.castsource = r.obj AND c.castfunc <> 0::oid
      UNION ALL SELECT ${from('pg_opclass')}, c.oid FROM pg_opclass c WHERE ${is('pg_type')} AND r.obj >= 16384::oid AND c.opcintype = r.obj
      UNION ALL SELECT v.class, v.obj FROM pg_operator o CROSS JOIN LATERAL (VALUES
                   (${from('pg_proc')}, o.oprcode::oid), (${from('pg_proc')}, o.oprrest::oid), (${from('pg_proc')}, o.oprjoin::oid),
                   (${from('pg_operator')}, o.oprcom), (${from('pg_operator')}, o.oprnegate)) v (class, obj)
                 WHERE ${is('pg_operator')} AND o.oid = r.obj AND v.obj <> 0::oid
      UNION ALL SELECT ${from('pg_operator')}, m.amopopr FROM pg_opclass c JOIN pg_amop m ON m.amopfamily = c.opcfamily
                 WHERE ${is('pg_opclass')} AND c.oid = r.obj
      UNION ALL SELECT ${from('pg_proc')}, m.amproc::oid FROM pg_opclass c JOIN pg_amproc m ON m.amprocfamily = c.opcfamily
                 WHERE ${is('pg_opclass')} AND c.oid = r.obj
    ) e),
  expressions (tree) AS (
    SELECT w.ev_action::text || w.ev_qual::text FROM reached r JOIN pg_rewrite w ON ${is('pg_rewrite')} AND w.oid = r.obj
    UNION ALL SELECT concat(p.polqual::text, p.polwithcheck::text) FROM reached r JOIN pg_policy p ON ${is('pg_policy')} AND p.oid = r.obj
    UNION ALL SELECT concat(i.indexprs::text, i.indpred::text) FROM reached r JOIN pg_index i ON ${is('pg_class')} AND i.indexrelid = r.obj
    UNION ALL SELECT t.partexprs::text FROM reached r JOIN pg_partitioned_table t ON ${is('pg_class')} AND t.partrelid = r.obj
    UNION ALL SELECT to_jsonb(s) ->> 'stxexprs' FROM reached r JOIN pg_statistic_ext s ON ${is('pg_statistic_ext')} AND s.oid = r.obj
    UNION ALL SELECT k.conbin::text FROM reached r JOIN pg_constraint k ON ${is('pg_constraint')} AND k.oid = r.obj
    UNION ALL SELECT f.adbin::text FROM reached r JOIN pg_attrdef f ON ${is('pg_attrdef')} AND f.oid = r.obj
    UNION ALL SELECT to_jsonb(p) ->> 'prosqlbody' FROM reached r JOIN pg_proc p ON ${is('pg_proc')} AND p.oid = r.obj),
  called (oid) AS (
    SELECT m[1]::oid FROM expressions x CROSS JOIN LATERAL regexp_matches(x.tree, ':funcid (\\d+)', 'g') m
    UNION SELECT o.oprcode::oid FROM reached r JOIN pg_operator o ON ${is('pg_operator')} AND o.oid = r.obj
    UNION SELECT n.oprcode::oid FROM expressions x CROSS JOIN LATERAL regexp_matches(x.tree, ':opno (\\d+)', 'g') m
            JOIN pg_operator o ON o.oid = m[1]::oid JOIN pg_operator n ON n.oid IN (o.oid, o.oprcom, o.oprnegate)),
  functions (oid) AS (SELECT r.obj FROM reached r WHERE ${is('pg_proc')} UNION SELECT oid FROM called)
  SELECT 'the function ' || p.oid::regprocedure::text || ' of ' || o.rolname AS name
    FROM functions f JOIN pg_proc p ON p.oid = f.oid JOIN pg_roles o ON o.oid = p.proowner WHERE NOT o.rolsuper
  UNION
  SELECT 'what the arguments of ' || p.oid::regprocedure::text || ' name'
    FROM called c JOIN pg_proc p ON p.oid = c.oid
   WHERE p.pronamespace = 'pg_catalog'::regnamespace
     AND (p.proname ~ '_to_xml|^pg_input_|^ts_(stat|rewrite)$|_validator$'
          OR EXISTS (SELECT FROM pg_type t WHERE p.oid IN (t.typinput::oid, t.typreceive::oid)))
  UNION
  SELECT 'what the text of the function ' || p.oid::regprocedure::text || ' names'
    FROM functions f JOIN pg_proc p ON p.oid = f.oid JOIN pg_language l ON l.oid = p.prolang
   WHERE l.lanname NOT IN ('internal', 'c') AND p.oid >= 16384::oid AND to_jsonb(p) ->> 'prosqlbody' IS NULL
     AND (l.lanname = 'sql' OR p.provolatile <> 'v')
     AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
  UNION
  SELECT 'what reads JSON as the type ' || quote_ident(t.typname) || ' of ' || o.rolname
    FROM expressions x CROSS JOIN LATERAL regexp_matches(x.tree, ':typid (\\d+)', 'g') m
    JOIN pg_type t ON t.oid = m[1]::oid JOIN pg_roles o ON o.oid = t.typowner
   WHERE t.oid >= 16384::oid AND NOT o.rolsuper
  UNION
  SELECT 'what the foreign server ' || quote_ident(s.srvname) || ' of ' || o.rolname || ' says'
    FROM reached r JOIN pg_foreign_server s ON ${is('pg_foreign_server')} AND s.oid = r.obj JOIN pg_roles o ON o.oid = s.srvowner
   WHERE NOT o.rolsuper
   ORDER BY 1 LIMIT 20`;
