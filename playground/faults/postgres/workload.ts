import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from 'postgres';
import type { Log } from '../../../src/core/log.ts';
import { clientSession, endSessions } from './client-session.ts';

const everyMs = 500;

/** A shop on a quiet day: a few orders and looks per second over two connections, on rows no fault touches. */
export function startWorkload(appUrl: string, log: Log): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const web = clientSession(appUrl, 'shop-web');
  const catalog = clientSession(appUrl, 'shop-catalog');
  const loops = [loop(web, placeOrder), loop(catalog, browse)];

  async function loop(session: Sql, work: (session: Sql) => Promise<void>): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await work(session);
      } catch (error) {
        // The shop's customers try again, also while the database is troubled on purpose.
        if (!stopping.signal.aborted) log.debug({ error: String(error) }, 'the workload was refused');
      }
      await sleep(everyMs, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
    }
  }

  return {
    async stop() {
      stopping.abort();
      await endSessions([web, catalog]);
      await Promise.all(loops);
    },
  };
}

async function placeOrder(session: Sql): Promise<void> {
  const customer = 2 + Math.floor(Math.random() * 990);
  const product = 10 + Math.floor(Math.random() * 190);
  await session.begin(async (transaction) => {
    const [order] = await transaction<{ id: number }[]>`
      INSERT INTO orders (customer_id, total_cents) VALUES (${customer}, ${500 + product}) RETURNING id`;
    await transaction`INSERT INTO order_items VALUES (${order?.id ?? 0}, ${product}, 1)`;
    await transaction`UPDATE products SET stock = stock - 1 WHERE id = ${product}`;
  });
  // The shop does not grow for ever.
  await session`DELETE FROM orders WHERE id IN (SELECT id FROM orders WHERE id > 10000 AND placed_at < now() - interval '10 minutes' LIMIT 10)`;
}

async function browse(session: Sql): Promise<void> {
  await session`SELECT id, name, price_cents FROM products WHERE id = ${10 + Math.floor(Math.random() * 190)}`;
  await session`SELECT count(*) FROM orders WHERE customer_id = ${2 + Math.floor(Math.random() * 990)}`;
}
