import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/core/sql.ts';
import type { OnCallPerson } from '../../../src/escalation/ports.ts';
import { handOverShifts, type ShiftChange } from '../../../src/escalation/shift-changes.ts';
import { openDatabase } from '../../../src/infra/db/client.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { quiet } from '../../support/quiet.ts';

const person = (name: string): OnCallPerson => ({ name, email: `${name}@shop.example`, slackUser: null });

describe('whoever comes on call', () => {
  let scratch: ScratchDatabase;
  let sql: Sql;
  let close: () => Promise<void>;
  /** Who is on call by each schedule; null: it does not answer. */
  let on: Map<string, readonly string[] | null>;
  let told: ShiftChange[];
  let answer: 'told' | 'not_now' | 'dies';

  beforeAll(async () => {
    scratch = await scratchDatabase({ migrate: true });
    ({ sql, close } = openDatabase(scratch.url));
  });
  afterAll(async () => {
    await close?.();
    await scratch?.drop();
  });
  beforeEach(async () => {
    await sql`DELETE FROM on_call`;
    await sql`DELETE FROM shift_told`;
    on = new Map([['primary', ['ann']]]);
    told = [];
    answer = 'told';
  });

  const process = (): Promise<void> =>
    handOverShifts({
      sql,
      log: quiet,
      schedules: new Map(
        [...on.keys()].map((name) => [
          name,
          {
            name,
            onCall: async () => {
              const people = on.get(name);
              if (!people) throw new Error('away');
              return people.map(person);
            },
          },
        ]),
      ),
      slack: {
        groupId: async (name) => name,
        userByEmail: async (email) =>
          email.startsWith('stranger') ? null : `U${email.split('@')[0]?.toUpperCase()}`,
        name: async (id) => id,
      },
      handOver: async (change) => {
        if (answer === 'dies') throw new Error('killed');
        if (answer === 'told') told.push(change);
        return answer;
      },
    });
  /** A minute later. */
  const look = async (...people: readonly string[]): Promise<void> => {
    if (people.length > 0) on.set('primary', people);
    await sql`UPDATE on_call SET looked_at = looked_at - interval '61 seconds'`;
    await process();
  };
  /** Two minutes later: whoever has come on is there to stay. */
  const stay = async (...people: readonly string[]): Promise<void> => {
    await look(...people);
    await look();
  };
  const anHourLater = () => sql`UPDATE shift_told SET told_at = told_at - interval '61 minutes'`;
  const users = () => told.map(({ userId }) => userId);

  it('is handed the shift once, over looks and processes; whoever was there when it was first asked is not', async () => {
    await process();
    await look();
    expect(users()).toEqual([]);
    await look('ben');
    await sql`UPDATE on_call SET looked_at = looked_at - interval '61 seconds'`;
    await Promise.all([process(), process(), process()]);
    await look();
    expect(users()).toEqual(['UBEN']);
    await stay('ben', 'cleo');
    expect(users()).toEqual(['UBEN', 'UCLEO']);
    // Back after somebody else.
    await stay('ann');
    await anHourLater();
    await stay('ben');
    expect(users()).toEqual(['UBEN', 'UCLEO', 'UANN', 'UBEN']);
  });

  it('is told of no change that did not last, and of one that did once, of all the time since those before', async () => {
    await process();
    const [row] = await sql<{ readonly at: string }>`SELECT changed_at AS at FROM on_call`;
    for (const who of ['ben', 'ann', 'ben', 'ann', 'ben']) await look(who);
    expect(users()).toEqual([]);
    await look();
    await look();
    expect(told).toEqual([{ userId: 'UBEN', schedules: ['primary'], since: row?.at }]);
  });

  it('is not told twice within an hour, by one schedule or two', async () => {
    on.set('second', ['ann']);
    await process();
    await stay('ben');
    await stay('ann');
    await stay('ben');
    on.set('second', ['ben']);
    await stay();
    expect(users()).toEqual(['UBEN', 'UANN']);
    await anHourLater();
    await stay('ann');
    expect(users()).toEqual(['UBEN', 'UANN', 'UANN']);
  });

  it('is asked for by no process within the same minute', async () => {
    await process();
    await look('ben');
    await process();
    expect(users()).toEqual([]);
  });

  it('is told of the time since those came on whom they follow', async () => {
    await process();
    const [row] = await sql<{ readonly at: string }>`SELECT changed_at AS at FROM on_call`;
    await stay('ben');
    expect(told).toEqual([{ userId: 'UBEN', schedules: ['primary'], since: row?.at }]);
  });

  it('is tried again where nothing was sent, with the same time, and no more once they are told', async () => {
    await process();
    const [row] = await sql<{ readonly at: string }>`SELECT changed_at AS at FROM on_call`;
    answer = 'not_now';
    await stay('ben');
    await look();
    answer = 'told';
    await look();
    await look();
    expect(told).toEqual([{ userId: 'UBEN', schedules: ['primary'], since: row?.at }]);
  });

  it('is told never rather than twice, after a process has died on it', async () => {
    await process();
    answer = 'dies';
    await expect(stay('ben')).rejects.toThrow('killed');
    answer = 'told';
    await look();
    expect(users()).toEqual([]);
  });

  it('is nobody where the schedule is empty or away: whoever comes back after that was there', async () => {
    await process();
    on.set('primary', null);
    await look();
    on.set('primary', []);
    await look();
    await look('ann');
    expect(users()).toEqual([]);
  });

  it('is told once of two schedules that hand over at once, and without an account in Slack not at all', async () => {
    on.set('second', ['ann']);
    await process();
    on.set('second', ['ben']);
    await stay('ben', 'stranger');
    expect(told).toEqual([expect.objectContaining({ userId: 'UBEN', schedules: ['primary', 'second'] })]);
  });
});
