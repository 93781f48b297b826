import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../../src/infra/db/client.ts';
import { createAuditLog } from '../../../../src/safety/audit/audit-chain.ts';
import {
  type ChainEntry,
  hashOf,
  readChain,
  type Verified,
  verifyAuditLog,
  verifyChain,
} from '../../../../src/safety/audit/audit-verify.ts';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';
import { typed } from '../../../support/typed.ts';

const ENTRIES = 10_000;
const TAMPERINGS = 1_000;
const nothing = { key: null, witnessed: [] };

let scratch: ScratchDatabase;
let database: Database;
let chain: readonly ChainEntry[];

beforeAll(async () => {
  scratch = await scratchDatabase({ migrate: true });
  database = openDatabase(scratch.url);
  // The driver learns the array types with its first statement.
  await database.sql`SELECT 1`;
  const audit = createAuditLog(database.sql);
  await Promise.all(
    Array.from({ length: ENTRIES }, (_, n) =>
      audit.append({ kind: 'gate.outcome', actor: 'detective', details: { n, says: `über ${n} ✓\n"x"` } }),
    ),
  );
  const all: ChainEntry[] = [];
  for await (const entry of readChain(database.sql)) all.push(entry);
  chain = all;
});
afterAll(async () => {
  await database.close();
  await scratch.drop();
});

/** The same numbers in every run, so that a failure can be looked at. */
let seed = 20_261_122;
function random(below: number): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((seed / 2 ** 32) * below);
}

const at = (entries: readonly ChainEntry[], index: number): ChainEntry => {
  const entry = entries[index];
  if (!entry) throw new Error(`no entry ${index}`);
  return entry;
};
const replaced = (index: number, change: Partial<ChainEntry>): ChainEntry[] =>
  chain.with(index, { ...at(chain, index), ...change }) as ChainEntry[];
const otherHex = (text: string, place: number): string =>
  text.slice(0, place) + (text[place] === '0' ? '1' : '0') + text.slice(place + 1);

/** What somebody with the database in his hands may do, each at a random place. `first`: the entry that has to be named. */
const tamperings: Readonly<Record<string, () => { readonly entries: ChainEntry[]; readonly first: number }>> =
  {
    'a character of a body': () => {
      const index = random(ENTRIES);
      const { body } = at(chain, index);
      const place = random(body.length);
      const other = body[place] === 'z' ? 'y' : 'z';
      return {
        entries: replaced(index, { body: body.slice(0, place) + other + body.slice(place + 1) }),
        first: index + 1,
      };
    },
    'a body, with its hash made anew': () => {
      // The last entry's new hash is caught by the head: the place named is the end.
      const index = random(ENTRIES - 1);
      const entry = { ...at(chain, index), body: '{"kind":"nothing.happened"}' };
      return {
        entries: chain.with(index, { ...entry, hash: hashOf(entry) }) as ChainEntry[],
        first: index + 2,
      };
    },
    'a hash': () => {
      const index = random(ENTRIES);
      return {
        entries: replaced(index, { hash: otherHex(at(chain, index).hash, random(64)) }),
        first: index + 1,
      };
    },
    'a previous hash': () => {
      const index = random(ENTRIES);
      const prevHash = otherHex(at(chain, index).prevHash, random(64));
      return { entries: replaced(index, { prevHash }), first: index + 1 };
    },
    'a number': () => {
      const index = random(ENTRIES);
      return { entries: replaced(index, { seq: at(chain, index).seq + 1 + random(5) }), first: index + 1 };
    },
    'an entry taken out': () => {
      const index = random(ENTRIES - 1);
      return { entries: chain.toSpliced(index, 1), first: index + 1 };
    },
    'an entry taken out and the rest numbered anew': () => {
      const index = random(ENTRIES - 1);
      const rest = chain.slice(index + 1).map((entry) => ({ ...entry, seq: entry.seq - 1 }));
      return { entries: [...chain.slice(0, index), ...rest], first: index + 1 };
    },
    'an entry put in': () => {
      const index = random(ENTRIES);
      const made = { ...at(chain, index), body: '{}' };
      return { entries: chain.toSpliced(index, 0, { ...made, hash: hashOf(made) }), first: index + 2 };
    },
    'two entries swapped': () => {
      const index = random(ENTRIES - 2);
      const other = index + 1 + random(ENTRIES - index - 1);
      return { entries: chain.with(index, at(chain, other)).with(other, at(chain, index)), first: index + 1 };
    },
    'two bodies swapped': () => {
      const index = random(ENTRIES - 2);
      const other = index + 1 + random(ENTRIES - index - 1);
      const [a, b] = [at(chain, index), at(chain, other)];
      return {
        entries: chain.with(index, { ...a, body: b.body }).with(other, { ...b, body: a.body }),
        first: index + 1,
      };
    },
    'the end cut off': () => {
      const kept = ENTRIES - 1 - random(100);
      return { entries: chain.slice(0, kept), first: kept + 1 };
    },
  };

/** From the first entry on, or, since what stands before is the same in every run, from shortly before the place. */
function verify(entries: readonly ChainEntry[], from = 0): Promise<Verified> {
  const head = at(chain, ENTRIES - 1);
  return verifyChain(
    {
      pages: [entries.slice(from)],
      count: entries.length,
      heads: [head],
      hashes: async () => new Map(),
    },
    from === 0 ? nothing : { ...nothing, after: at(chain, from - 1) },
  );
}

test(`${TAMPERINGS} random tamperings of ${ENTRIES} entries are all found, at the place`, {
  timeout: 180_000,
}, async () => {
  expect(await verify(chain)).toMatchObject({ ok: true, entries: ENTRIES });
  const kinds = Object.entries(tamperings);
  const missed: string[] = [];
  for (let n = 0; n < TAMPERINGS; n += 1) {
    const [name, tamper] = kinds[n % kinds.length] ?? kinds[0]!;
    const { entries, first } = tamper();
    const found = await verify(entries, n % 10 === 0 ? 0 : Math.max(0, first - 50));
    if (found.ok || found.seq !== first) missed.push(`${name}: ${JSON.stringify({ first, found })}`);
  }
  expect(missed).toEqual([]);
});

describe('in the database, with the triggers off', () => {
  const steps: readonly (readonly [string, string, number])[] = [
    [
      'a body edited',
      `UPDATE audit_entry SET body = replace(body, 'detective', 'surgeon') WHERE seq = 5000`,
      5_000,
    ],
    ['an entry deleted', `DELETE FROM audit_entry WHERE seq = 7`, 7],
    ['the last entry deleted', `DELETE FROM audit_entry WHERE seq = 10000`, 10_000],
    [
      'an entry appended past the head',
      `INSERT INTO audit_entry VALUES (10001, repeat('0', 64), '{}', repeat('0', 64))`,
      10_001,
    ],
    [
      'an entry before the first',
      `INSERT INTO audit_entry VALUES (0, repeat('0', 64), '{}', repeat('0', 64))`,
      1,
    ],
    [
      'an entry out of every order',
      `INSERT INTO audit_entry VALUES (-9223372036854775808, '', '', '')`,
      10_001,
    ],
    ['the head turned back', `UPDATE audit_head SET seq = seq - 1`, 10_001],
    ['no head', `DELETE FROM audit_head`, 10_001],
    [
      'two numbers exchanged',
      `UPDATE audit_entry SET seq = CASE seq WHEN 20 THEN -30 ELSE -20 END WHERE seq IN (20, 30); UPDATE audit_entry SET seq = -seq WHERE seq < 0`,
      20,
    ],
  ];
  test.each(steps)('%s', async (_, statements, first) => {
    const copy = await scratchDatabase({ migrate: true });
    const other = openDatabase(copy.url, { max: 2 });
    try {
      const { sql } = other;
      await sql`ALTER TABLE audit_entry DISABLE TRIGGER ALL`;
      const columns = [
        chain.map((e) => e.seq),
        chain.map((e) => e.prevHash),
        chain.map((e) => e.body),
        chain.map((e) => e.hash),
      ];
      await sql`
        INSERT INTO audit_entry SELECT * FROM unnest(${sql.array(columns[0] ?? [])}::bigint[], ${sql.array(columns[1] ?? [])}::text[],
          ${sql.array(columns[2] ?? [])}::text[], ${sql.array(columns[3] ?? [])}::text[])`;
      await sql`UPDATE audit_head SET seq = ${ENTRIES}, hash = ${at(chain, ENTRIES - 1).hash}`;
      expect(await verifyAuditLog(sql, nothing)).toMatchObject({ ok: true, entries: ENTRIES });
      for (const statement of statements.split('; ')) await typed(sql, statement);
      expect(await verifyAuditLog(sql, nothing)).toMatchObject({ ok: false, seq: first });
    } finally {
      await other.close();
      await copy.drop();
    }
  });
});
