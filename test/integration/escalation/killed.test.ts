import { expect, it } from 'vitest';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { Sql, Tx } from '../../../src/core/sql.ts';
import type { Escalation } from '../../../src/escalation/escalation.ts';
import { createRecords } from '../../../src/record/record.ts';
import { type EscalationScene, escalationScene } from '../../support/escalation-scene.ts';

/** A process that is dead after so many statements: what it began in a transaction is undone, and it does nothing any more. */
function mortal(sql: Sql, statements: number): { readonly sql: Sql; readonly isDead: () => boolean } {
  let left = statements;
  const wrap = (tx: Tx): Tx =>
    Object.assign(
      (strings: TemplateStringsArray, ...values: readonly unknown[]) => {
        left -= 1;
        return left < 0 ? Promise.reject(new Error('killed')) : tx(strings, ...values);
      },
      { json: tx.json, array: tx.array },
    ) as Tx;
  const begin = (...given: readonly unknown[]) => {
    const use = given.at(-1) as (tx: Tx) => Promise<unknown>;
    const from = (tx: Tx): Promise<unknown> => use(wrap(tx));
    return given.length === 1 ? sql.begin(from) : sql.begin(String(given[0]), from);
  };
  return { sql: Object.assign(wrap(sql), { begin }) as Sql, isDead: () => left < 0 };
}

type Process = Escalation & { deliver(): Promise<number> };

/** From the first call to the second level, then taken, and over. */
async function course(scene: EscalationScene, one: Process, id: IncidentId): Promise<void> {
  const act = async (): Promise<void> => {
    await one.look(id);
    await one.deliver();
  };
  await act();
  await scene.later(id, 11);
  await act();
}

it('killed after any statement, or with a page on its way: another process makes each call and page once', async () => {
  const scene = await escalationScene();
  try {
    let ended = false;
    for (let statements = 0; !ended; statements += 1) {
      const id = await scene.incident();
      const { sql, isDead } = mortal(scene.sql, statements);
      const killed = scene.process({ sql, records: createRecords(sql) });
      await course(scene, killed, id).catch(() => undefined);
      ended = !isDead();
      const heir = scene.process();
      // The lease of the dead ends.
      await scene.later(id, 2);
      await heir.look(id);
      await heir.deliver();
      await scene.later(id, 11);
      await course(scene, heir, id);
      expect(await scene.told(id), `after ${statements} statements`).toEqual([
        'called 1 unacknowledged SONCALL',
        'called 2 unacknowledged UBEN',
      ]);
      const own = [...scene.pager.open].filter((key) => key === id || key.startsWith(`${id}-`));
      expect(own.toSorted(), `after ${statements} statements`).toEqual([id, `${id}-level-2`]);
      expect((await scene.pages(id)).every(({ want, told }) => want === told)).toBe(true);
    }
  } finally {
    await scene.close();
  }
});

it('killed after any statement while it is taken and ends: nothing is open there, and it is known who has it', async () => {
  const scene = await escalationScene();
  try {
    let ended = false;
    for (let statements = 0; !ended; statements += 1) {
      const id = await scene.incident();
      const healthy = scene.process();
      await healthy.look(id);
      await healthy.deliver();
      const { sql, isDead } = mortal(scene.sql, statements);
      const killed = scene.process({ sql, records: createRecords(sql) });
      const end = async (one: Process): Promise<void> => {
        await one.take(id, 'UANN');
        await one.deliver();
        await one.look(id);
        await one.deliver();
      };
      await end(killed).catch(() => undefined);
      ended = !isDead();
      await scene.later(id, 2);
      await healthy.take(id, 'UANN');
      await scene.move(id, 'diagnosing', 'resolved');
      await end(healthy);
      const told = await scene.told(id);
      expect(
        told.filter((line) => line.startsWith('ack')),
        `after ${statements} statements`,
      ).toEqual(['ack UANN taken']);
      expect(scene.pager.open.has(id), `after ${statements} statements`).toBe(false);
    }
  } finally {
    await scene.close();
  }
});
