import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../../src/infra/db/client.ts';
import { openListener } from '../../../../src/infra/db/listen.ts';
import { recordFault } from '../../../../src/infra/db/record-fault.ts';
import { withConnection } from '../../../../src/infra/db/with-connection.ts';
import { migrateEngine } from '../../../../src/infra/dbos/enqueue-function.ts';
import { connectPostgres } from '../../../../src/targets/postgres/connect/connect-postgres.ts';
import { quiet } from '../../../support/quiet.ts';
import { startTlsPostgres } from '../../../support/tls-postgres.ts';

type Parameters = Readonly<Record<string, string>>;

const ENCRYPTED = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()';

describe('a PostgreSQL that lets nobody in without TLS, of a private authority', () => {
  let server: Awaited<ReturnType<typeof startTlsPostgres>>;
  beforeAll(async () => {
    server = await startTlsPostgres();
    await withConnection(
      server.url({ sslmode: 'require' }),
      (sql) => sql`CREATE ROLE certified LOGIN SUPERUSER`,
    );
  });
  afterAll(() => server?.stop());

  /** The record's driver, by a connection of each kind. */
  const record = (url: string) => withConnection(url, (sql) => sql.unsafe(ENCRYPTED), { connectSeconds: 5 });

  /** The driver of targets. */
  async function target(url: string): Promise<unknown> {
    const connection = connectPostgres({
      name: 'guarded',
      kind: 'postgres',
      domain: 'postgres',
      environment: 'test',
      aliases: [],
      readUrl: url,
      actUrl: null,
    });
    try {
      return await connection.system.read((session) => session.query(ENCRYPTED), {
        signal: new AbortController().signal,
        timeoutMs: 10_000,
      });
    } finally {
      await connection.close();
    }
  }

  /** The engine's own driver, `pg`. */
  async function engine(url: string): Promise<void> {
    const database = openDatabase(url, { max: 1 });
    await migrateEngine(url, database.sql).finally(() => database.close());
  }

  const good: readonly (readonly [string, () => Parameters])[] = [
    ['nothing at all, which is prefer', () => ({})],
    ['prefer', () => ({ sslmode: 'prefer' })],
    ['require, which verifies nothing', () => ({ sslmode: 'require' })],
    ['require with its authority', () => ({ sslmode: 'require', sslrootcert: server.ca })],
    ['verify-ca', () => ({ sslmode: 'verify-ca', sslrootcert: server.ca })],
    ['verify-full', () => ({ sslmode: 'verify-full', sslrootcert: server.ca })],
  ];

  it.each(good)('is reached with %s by the record, the targets and the engine alike [M2]', async (_, ask) => {
    const url = server.url(ask());
    expect(await record(url)).toEqual([{ ssl: true }]);
    expect(await target(url)).toEqual([{ ssl: true }]);
    await engine(url);
  });

  it('is listened to, and pooled, under TLS [M2]', async () => {
    const url = server.url({ sslmode: 'verify-full', sslrootcert: server.ca });
    const heard: string[] = [];
    let hears = false;
    const listener = openListener(url, {
      channel: 'tls_test',
      onNotice: (payload) => void heard.push(payload),
      onState: (state) => {
        hears = state;
      },
      log: quiet,
    });
    const database = openDatabase(url);
    while (!hears) await sleep(10);
    await database.sql`SELECT pg_notify('tls_test', 'over TLS')`;
    await expect.poll(() => heard).toEqual(['over TLS']);
    await Promise.all([listener.close(), database.close()]);
  });

  const certified = (extra: Parameters): string => {
    const url = new URL(server.url(extra));
    url.username = 'certified';
    url.password = '';
    return url.href;
  };

  it('takes a certificate of ours, where it asks for one [M3]', async () => {
    const { crt, key } = server.client;
    const url = certified({ sslmode: 'verify-full', sslrootcert: server.ca, sslcert: crt, sslkey: key });
    expect(await record(url)).toEqual([{ ssl: true }]);
    expect(await target(url)).toEqual([{ ssl: true }]);
    await engine(url);
  });

  const bad: readonly (readonly [string, () => string, RegExp])[] = [
    ['no encryption', () => server.url({ sslmode: 'disable' }), /pg_hba\.conf .*sslmode=disable/],
    [
      'an authority that nobody knows',
      () => server.url({ sslmode: 'verify-full' }),
      /not signed by an authority .*sslrootcert=/,
    ],
    [
      'another authority',
      () => server.url({ sslmode: 'verify-ca', sslrootcert: server.otherCa }),
      /not signed by an authority/,
    ],
    [
      'another authority and require',
      () => server.url({ sslmode: 'require', sslrootcert: server.otherCa }),
      /not signed by an authority/,
    ],
    [
      'another name',
      () => server.url({ sslmode: 'verify-full', sslrootcert: server.ca }, '127.0.0.1'),
      /another name/,
    ],
    ['no certificate, where one is demanded', () => certified({ sslmode: 'require' }), /sslcert and sslkey/],
    [
      'a file that is not there',
      () => server.url({ sslmode: 'verify-ca', sslrootcert: '/nonexistent.crt' }),
      /cannot be read/,
    ],
  ];

  it.each(bad)('refuses %s, and the hint names the cause [M3]', async (_, urlOf, hint) => {
    const url = urlOf();
    const { password } = new URL(server.url({}));
    const asked = [() => record(url).catch((error) => Promise.reject(recordFault(error))), () => target(url)];
    // One after the other: a refusal that comes before it is waited for counts as an error of the run.
    for (const ask of asked) {
      const fault = await ask().then(
        () => null,
        (error: unknown) => error as { readonly hint: string; readonly message: string },
      );
      expect(fault?.hint).toMatch(hint);
      expect(`${fault?.message} ${fault?.hint}`).not.toContain(password);
    }
  });
});
