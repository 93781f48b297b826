import { openDatabase } from '../../../../src/infra/db/client.ts';
import { takeRate } from '../../../../src/safety/limits/rate-limit.ts';

/** A process of its own that tries to count actions for one thing, as claims do: prints how many it was let. */
const [url = '', name = '', tries = '0'] = process.argv.slice(2);
const database = openDatabase(url);
const limit = { key: 'restart web on m1', what: 'restart of web', times: 1, withinMs: 600_000 };
const taken = await Promise.all(
  Array.from({ length: Number(tries) }, (_, n) =>
    database.sql.begin((tx) => takeRate(tx, limit, `act_${name}_${n}`)),
  ),
);
process.stdout.write(`${taken.filter((refusal) => refusal === undefined).length}\n`);
await database.close();
