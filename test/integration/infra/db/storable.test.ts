import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asIncidentId } from '../../../../src/core/ids.ts';
import type { Tx } from '../../../../src/core/sql.ts';
import { storable, storableJson } from '../../../../src/core/storable.ts';
import type { Json } from '../../../../src/core/tool-call.ts';
import { type Database, openDatabase } from '../../../../src/infra/db/client.ts';
import { migrateEngine } from '../../../../src/infra/dbos/enqueue-function.ts';
import { createAccept } from '../../../../src/ingest/accept.ts';
import { createRecords } from '../../../../src/record/record.ts';
import { createAuditLog } from '../../../../src/safety/audit/audit-chain.ts';
import { verifyAuditLog } from '../../../../src/safety/audit/audit-verify.ts';
import { boxAlert, boxTarget } from '../../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';
import { domainOf } from '../../../support/targets.ts';

/** Any UTF-16 code units there are: NUL, control characters and halves of surrogate pairs far oftener than in life. */
const anyText = fc
  .array(
    fc.oneof(
      fc.constantFrom(0, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xfffe, 0xffff, 0x5c, 0x22),
      fc.integer({ min: 0, max: 0xffff }),
    ),
    { maxLength: 30 },
  )
  .map((units) => String.fromCharCode(...units));
const anyJson = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    anyText,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(anyText, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value as fc.Arbitrary<Json>;

let scratch: ScratchDatabase;
let database: Database;
beforeAll(async () => {
  scratch = await scratchDatabase({ migrate: true });
  database = openDatabase(scratch.url, { max: 2 });
  await migrateEngine(scratch.url, database.sql);
});
afterAll(async () => {
  await database.close();
  await scratch.drop();
});

test('whatever anybody says, a statement that carries it is taken, and it comes back as it was made storable', async () => {
  const { sql } = database;
  await fc.assert(
    fc.asyncProperty(anyText, anyJson, fc.array(anyText, { maxLength: 3 }), async (text, value, many) => {
      const ask = async (on: Tx) =>
        (
          await on`SELECT ${text}::text AS text, ${on.json(value)}::jsonb AS jsonb, ${on.json(value)}::json AS json,
                        ${on.array(many)}::text[] AS many, to_json(${text}::text) AS quoted`
        )[0];
      const wanted = {
        text: storable(text),
        jsonb: storableJson(value),
        json: storableJson(value),
        many: many.map(storable),
        quoted: storable(text),
      };
      expect(await ask(sql)).toEqual(wanted);
      expect(await sql.begin(ask)).toEqual(wanted);
      expect(await sql.begin('isolation level repeatable read', ask)).toEqual(wanted);
    }),
    { numRuns: 150 },
  );
});

test('events, words and audit entries take any text, and the audit chain holds over them', async () => {
  const { sql } = database;
  const records = createRecords(sql);
  const audit = createAuditLog(sql);
  const { incidentId } = await createAccept(sql, [boxTarget], domainOf)(boxAlert());
  const id = asIncidentId(String(incidentId));
  await fc.assert(
    fc.asyncProperty(anyText, anyJson, async (text, value) => {
      await sql.begin((tx) => records.append(tx, id, { type: 'incident.escalated', reason: text }, text));
      await records.setWords(id, text);
      await audit.append({ kind: 'test.said', actor: text, incidentId: id, details: value });
    }),
    { numRuns: 100 },
  );
  expect(await verifyAuditLog(sql, { key: null, witnessed: [] })).toMatchObject({ ok: true });
});
