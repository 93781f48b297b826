import { connect, createServer, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { type Listener, openListener } from '../../../../src/infra/db/listen.ts';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';
import { quiet } from '../../../support/quiet.ts';
import { waitFor } from '../../../support/wait-for.ts';

let database: ScratchDatabase;
let listener: Listener | undefined;
let proxy: Awaited<ReturnType<typeof swallowing>> | undefined;
afterEach(async () => {
  await listener?.close();
  await proxy?.close();
  await database.drop();
});

it('a server that says nothing more to LISTEN keeps nobody from closing', async () => {
  database = await scratchDatabase();
  proxy = await swallowing(database.url, 'LISTEN');
  listener = openListener(proxy.url, {
    channel: 'any',
    onNotice: () => undefined,
    onState: () => undefined,
    log: quiet,
  });
  await waitFor('LISTEN to be lost on its way', async () => proxy?.swallowed() === true);
  const closed = listener.close();
  listener = undefined;
  await expect(Promise.race([closed, silence(3_000)])).resolves.toBeUndefined();
});

const silence = (ms: number) =>
  new Promise((resolve) => {
    setTimeout(() => resolve('still closing'), ms).unref();
  });

/** Passes everything on to PostgreSQL until `word` is said: from then on it says nothing, and hangs up on nobody. */
async function swallowing(url: string, word: string) {
  const to = new URL(url);
  const open = new Set<Socket>();
  let swallowed = false;
  const server = createServer((client) => {
    const behind = connect(Number(to.port || 5432), to.hostname);
    for (const each of [client, behind]) open.add(each.on('error', () => undefined));
    client.on('data', (data) => {
      swallowed ||= data.includes(word);
      if (!swallowed) behind.write(data);
    });
    behind.on('data', (data) => client.write(data));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const at = new URL(url);
  at.hostname = '127.0.0.1';
  at.port = String((server.address() as { readonly port: number }).port);
  return {
    url: at.href,
    swallowed: () => swallowed,
    close: async () => {
      for (const each of open) each.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
