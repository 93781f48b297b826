import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { deleteOldLooks } from '../../../src/changes/looks/look-rows.ts';
import { createLooks, type Looks, type ReadInventory } from '../../../src/changes/looks/looks.ts';
import { readLooks } from '../../../src/changes/looks/read-looks.ts';
import { changesAround } from '../../../src/changes/read-changes.ts';
import { createRecordChange, type RecordChange } from '../../../src/changes/record-change.ts';
import type { Change } from '../../../src/core/change.ts';
import type { Inventory, InventoryItem } from '../../../src/core/inventory.ts';
import type { Target } from '../../../src/core/target.ts';
import { type AcceptDatabase, acceptDatabase } from '../../support/accept-database.ts';
import { quiet } from '../../support/quiet.ts';

let db: AcceptDatabase;
beforeAll(async () => {
  db = await acceptDatabase(8);
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.sql`TRUNCATE change, change_look CASCADE`;
  seen = { system: 'one', inventory: inventory([item('work_mem', '4MB')]) };
});

const targetNamed = (name: string): Target => ({
  name,
  kind: 'postgres',
  domain: 'postgres',
  environment: 'production',
  aliases: [],
});
const names = ['orders-db'];
const never = new AbortController().signal;

let seen: Awaited<ReturnType<ReadInventory>> | Error;
const read: ReadInventory = async () => {
  if (seen instanceof Error) throw seen;
  return seen;
};

function item(name: string, value: string, more: Partial<InventoryItem> = {}): InventoryItem {
  return {
    part: 'settings',
    key: `setting ${name}`,
    name,
    kind: 'config',
    value,
    objects: [],
    mayComeAndGo: false,
    ...more,
  };
}
const inventory = (items: readonly InventoryItem[], more: Partial<Inventory> = {}): Inventory => ({
  items,
  unread: [],
  ...more,
});

function looksAt(given: Partial<Parameters<typeof createLooks>[0]> = {}): Looks {
  return createLooks({
    sql: db.sql,
    targets: new Map(names.map((name) => [name, targetNamed(name)])),
    read,
    record: createRecordChange(db.sql),
    nameOf: async () => null,
    log: quiet,
    ...given,
  });
}

/** A look is shared for a while: as if that while were over. */
async function look(looks: Looks = looksAt()): Promise<void> {
  await db.sql`UPDATE change_look SET tried_at = tried_at - interval '1 minute'`;
  await looks.lookNow('orders-db', never);
}
async function lookAgain(items: readonly InventoryItem[], more: Partial<Inventory> = {}): Promise<void> {
  seen = { system: 'one', inventory: inventory(items, more) };
  await look();
}

const far = { from: '2000-01-01T00:00:00.000Z', to: '2100-01-01T00:00:00.000Z' };
const told = (): Promise<readonly Change[]> => changesAround(db.sql, { where: null, ...far });
const titles = async (): Promise<readonly string[]> => (await told()).map(({ title }) => title).toSorted();
const row = async () => {
  const [found] = await db.sql<{
    looked_at: string;
    ended_at: string;
    first_at: string;
  }>`SELECT * FROM change_look`;
  if (!found) throw new Error('no look is on record');
  return found;
};

describe('two looks at a system', () => {
  test('tell nothing the first time, and nothing while it stays the same', async () => {
    await look();
    await look();
    expect(await told()).toEqual([]);
  });

  test('tell what is another now, that it was so at the last look, and for which system', async () => {
    await look();
    const last = await row();
    await lookAgain([item('work_mem', '64kB', { by: 'olivia' })]);
    const now = await row();
    expect(await told()).toEqual([
      {
        source: 'own-look',
        id: expect.stringMatching(/^orders-db [0-9a-f]{24}$/),
        kind: 'config',
        state: 'succeeded',
        title: 'work_mem of orders-db: 4MB → 64kB',
        where: ['orders-db'],
        environment: 'production',
        startedAt: last.looked_at,
        at: now.ended_at,
        by: 'olivia',
        from: '4MB',
        to: '64kB',
        commits: [],
        url: null,
      },
    ]);
    // The value that came back is a change of its own.
    await lookAgain([item('work_mem', '4MB')]);
    await lookAgain([item('work_mem', '64kB')]);
    expect(await titles()).toEqual([
      'work_mem of orders-db: 4MB → 64kB',
      'work_mem of orders-db: 4MB → 64kB',
      'work_mem of orders-db: 64kB → 4MB',
    ]);
  });

  test('believe the system when it says since when, where that is possible', async () => {
    await look();
    const { looked_at: lastAt } = await row();
    const since = new Date(Date.parse(lastAt) + 1).toISOString();
    await lookAgain([item('work_mem', '64kB', { since })]);
    expect((await told())[0]).toMatchObject({ startedAt: null, at: since });
    // A file that was written twice has the time of the second.
    await db.sql`TRUNCATE change, change_look CASCADE`;
    await lookAgain([item('work_mem', '4MB')]);
    const { looked_at: bound } = await row();
    const touched = new Date(Date.parse(bound) + 1).toISOString();
    await lookAgain([item('work_mem', '64kB', { since: touched, orBefore: true })]);
    expect((await told())[0]).toMatchObject({ startedAt: bound, at: touched });
    await lookAgain([item('work_mem', '1MB', { since: '2020-01-01T00:00:00.000Z' })]);
    expect((await told())[0]).toMatchObject({ at: (await row()).ended_at });
    await lookAgain([item('work_mem', '2MB', { since: '2090-01-01T00:00:00.000Z' })]);
    expect((await told())[0]).toMatchObject({ at: (await row()).ended_at });
  });

  test('tell what came and went only of what may come and go', async () => {
    const index = item('index a of shop.orders', '#1', {
      part: 'schema',
      key: 'index a',
      kind: 'migration',
      objects: ['a', 'Orders'],
      mayComeAndGo: true,
      told: { came: 'created', went: 'dropped' },
    });
    await lookAgain([item('work_mem', '4MB')], { empty: ['schema'] });
    await lookAgain([index, item('work_mem', '4MB'), item('shared_buffers', '1GB')]);
    await lookAgain([index]);
    await lookAgain([], { empty: ['schema'] });
    expect(await titles()).toEqual([
      'index a of shop.orders on orders-db created',
      'index a of shop.orders on orders-db dropped',
    ]);
    expect((await told())[0]?.where).toEqual(['orders-db', 'a', 'orders']);
  });

  test('tell nothing of a part that one of them could not read', async () => {
    const index = item('index a', '#1', { part: 'schema', key: 'index a', mayComeAndGo: true });
    await lookAgain([item('work_mem', '4MB'), index]);
    const { looked_at: lastRead } = await row();
    await lookAgain([item('work_mem', '4MB')], { unread: [{ part: 'schema', why: 'permission denied' }] });
    expect(await told()).toEqual([]);
    expect(await readLooks(db.sql, names, far.from, far.to)).toEqual([
      { source: 'own-look', of: 'orders-db', from: lastRead, to: (await row()).looked_at },
      {
        source: 'own-look',
        of: 'orders-db',
        from: null,
        to: null,
        why: 'schema could not be read: permission denied',
      },
    ]);
    // Once it is read again, what happened meanwhile is told, since the look that read it last.
    await lookAgain([item('work_mem', '4MB')], { empty: ['schema'] });
    expect((await told()).map(({ title, startedAt }) => [title, startedAt])).toEqual([
      ['index a of orders-db is gone', lastRead],
    ]);
  });

  test('of two systems that had one name are compared with nothing', async () => {
    await look();
    const before = await row();
    seen = { system: 'another', inventory: inventory([item('work_mem', '64kB')]) };
    await look();
    expect(await told()).toEqual([]);
    expect((await row()).first_at > before.first_at).toBe(true);
  });

  test('tell more than 30 differences of one part as one change', async () => {
    const many = (value: string, count: number) =>
      Array.from({ length: count }, (_, n) => item(`setting_${100 + n}`, value));
    await lookAgain([...many('a', 31), item('version', '1', { part: 'server', key: 'version' })]);
    await lookAgain([...many('b', 31), item('version', '2', { part: 'server', key: 'version' })]);
    expect(await titles()).toEqual([
      '31 changes at once in settings of orders-db: setting_100, setting_101, setting_102 and others',
      'version of orders-db: 1 → 2',
    ]);
    await db.sql`TRUNCATE change`;
    await lookAgain(many('c', 30));
    expect(await told()).toHaveLength(30);
  });
});

describe('a look that fails', () => {
  test('is on record with why, and leaves the last good one as it was', async () => {
    await look();
    const good = await row();
    seen = new Error('password authentication failed for postgres://sentry:hunter2hunter2@db/orders');
    await look();
    const [before, failed] = await readLooks(db.sql, names, far.from, far.to);
    expect(before).toMatchObject({ from: good.first_at, to: good.looked_at });
    expect(failed?.why).toMatch(/^the last look failed: password authentication failed/);
    expect(failed?.why).not.toContain('hunter2');
    await lookAgain([item('work_mem', '64kB')]);
    expect((await told())[0]).toMatchObject({ startedAt: good.looked_at });
    expect(await readLooks(db.sql, names, far.from, far.to)).toHaveLength(1);
  });

  test('is ended at its time, and called off', async () => {
    const ended = new Promise<void>((resolve) => {
      const hangs: ReadInventory = (_, signal) =>
        new Promise(() => signal.addEventListener('abort', () => resolve()));
      void look(looksAt({ read: hangs, timeoutMs: 20 }));
    });
    await ended;
    await look();
    expect(await titles()).toEqual([]);
  });

  test('of a kind that tells nothing leaves no word', async () => {
    seen = null;
    await look();
    expect(await readLooks(db.sql, names, far.from, far.to)).toEqual([
      {
        source: 'own-look',
        of: 'orders-db',
        from: null,
        to: null,
        why: 'Sentry has not looked at what it is made of yet',
      },
    ]);
  });

  test('before a change was kept finds and tells it again, once', async () => {
    await look();
    seen = { system: 'one', inventory: inventory([item('work_mem', '64kB')]) };
    const record = createRecordChange(db.sql);
    const dies: RecordChange = async (change) => {
      await record(change);
      throw new Error('killed');
    };
    await look(looksAt({ record: dies }));
    await look();
    expect(await titles()).toEqual(['work_mem of orders-db: 4MB → 64kB']);
  });
});

describe('what is kept', () => {
  test('has no secret, and still tells that one was changed', async () => {
    const secret = (password: string) => [
      item('primary_conninfo', `host=db user=repl password=${password}`),
      item('app.password', password),
      item('index\nof\u202E everything', '1', { key: `token ghp_${password}`, mayComeAndGo: true }),
    ];
    await lookAgain(secret('aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5'));
    await lookAgain(secret('zY9xW7vU5tS3rQ1pN9mL7kJ5hG3fE1dC9bA7'));
    const [stored] = await db.sql<{ all: string }>`
      SELECT (SELECT string_agg(items::text, '') FROM change_part) || (SELECT string_agg(c::text, '') FROM change c) AS all`;
    expect(stored?.all).not.toMatch(/aB3dE5|zY9xW7|\u202E/);
    expect(await titles()).toEqual([
      'app.password of orders-db was changed',
      'index of everything on orders-db is gone',
      'index of everything on orders-db is new',
      'primary_conninfo of orders-db was changed',
    ]);
  });

  test('is forgotten with the target that nobody looks at any more', async () => {
    await look();
    await deleteOldLooks(db.sql, 7);
    expect(await db.sql`SELECT FROM change_part`).toHaveLength(1);
    await db.sql`UPDATE change_look SET tried_at = tried_at - interval '8 days'`;
    await deleteOldLooks(db.sql, 7);
    expect(await db.sql`SELECT FROM change_part`).toHaveLength(0);
  });
});

describe('looks of several', () => {
  test('at once are one, and so are those within half a minute', async () => {
    let reads = 0;
    const counted: ReadInventory = async (...asked) => {
      reads += 1;
      return read(...asked);
    };
    const looks = looksAt({ read: counted });
    await Promise.all([looks.lookNow('orders-db', never), looks.lookNow('orders-db', never)]);
    await looksAt({ read: counted }).lookNow('orders-db', never);
    expect(reads).toBe(1);
    await look(looksAt({ read: counted }));
    expect(reads).toBe(2);
  });

  test('that were overtaken by a newer one are dropped', async () => {
    await look();
    let go = (): void => undefined;
    const waits = new Promise<void>((resolve) => {
      go = resolve;
    });
    let begun = (): void => undefined;
    const reading = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const old: ReadInventory = async () => {
      begun();
      await waits;
      return { system: 'one', inventory: inventory([item('work_mem', '4MB')]) };
    };
    const late = look(looksAt({ read: old }));
    await reading;
    await lookAgain([item('work_mem', '64kB')]);
    go();
    await late;
    expect(await titles()).toEqual(['work_mem of orders-db: 4MB → 64kB']);
  });

  test('go on when one caller no longer waits', async () => {
    const gone = new AbortController();
    const waiting = look(
      looksAt({
        read: async (...asked) => {
          gone.abort(new Error('too late'));
          return read(...asked);
        },
      }),
    );
    await waiting;
    await expect(looksAt().lookNow('orders-db', gone.signal)).rejects.toThrow('too late');
    expect((await row()).looked_at).not.toBeNull();
  });

  test('reach every target, whatever becomes of one', async () => {
    const all = Array.from({ length: 9 }, (_, n) => `db-${n}`);
    const looks = looksAt({
      targets: new Map(all.map((name) => [name, targetNamed(name)])),
      read: async (name, signal) => {
        if (name === 'db-3') throw new Error('away');
        return read(name, signal);
      },
    });
    await looks.lookAtAll(never);
    const seenNow = await readLooks(db.sql, all, far.from, far.to);
    expect(seenNow.filter(({ from }) => from !== null).map(({ of }) => of)).toEqual(
      all.filter((name) => name !== 'db-3'),
    );
    expect(seenNow.find(({ of }) => of === 'db-3')?.why).toBe('the last look failed: away');
  });
});

test('a window is told as far as the looks reach', async () => {
  await look();
  const { first_at: firstAt, looked_at: lookedAt } = await row();
  const before = '2001-01-01T00:00:00.000Z';
  const whys = async (from: string, to: string) =>
    (await readLooks(db.sql, names, from, to)).map(({ from: since, why }) => why ?? since);
  expect(await whys(far.from, before)).toEqual(['Sentry first looked at it after that']);
  expect(await whys('2090-01-01T00:00:00.000Z', far.to)).toEqual(['Sentry has not looked at it since']);
  expect(await whys(firstAt, lookedAt)).toEqual([firstAt]);
});
