import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Sql } from '../../src/core/sql.ts';
import type { Json } from '../../src/core/tool-call.ts';
import { defineActiveTool, defineReadTool, type Tool } from '../../src/tools/define.ts';
import { boxIsBroken } from './core.ts';
import type { Row } from './typed.ts';

/**
 * Boxes in a database of their own, the system under care: what took effect is counted there, by the target itself, and
 * the deadline of a run is held against the target's clock inside the statement that has the effect.
 */
export async function createBoxes(target: Sql, names: readonly string[]): Promise<void> {
  await target`CREATE TABLE box (name text PRIMARY KEY, broken boolean NOT NULL DEFAULT true)`;
  await target`CREATE TABLE entered (key text NOT NULL, box text NOT NULL, pid integer NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp())`;
  await target`CREATE TABLE effect (key text NOT NULL, box text NOT NULL, pid integer NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp())`;
  await target`CREATE TABLE late (key text NOT NULL, pid integer NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp())`;
  for (const name of names) await target`INSERT INTO box (name) VALUES (${name})`;
}

export interface BoxTimes {
  /** Between entering the run and the effect, ms; a function for another time each run. */
  readonly beforeMs: () => number;
  /** Between the effect and the return. */
  readonly afterMs: () => number;
  readonly timeoutMs: number;
}

/** The tools of a bot for such boxes. One action's `how` is its key in the target's log. */
export function boxesTools(target: Sql, times: BoxTimes): readonly Tool[] {
  const key = (box: string, how: string): string => `${box}/${how}`;
  return [
    defineReadTool({
      name: 'box_state',
      description: 'Says whether the box is broken.',
      kind: 'read',
      domain: 'postgres',
      measures: [boxIsBroken],
      input: z.strictObject({}),
      timeoutMs: 5_000,
      run: async (context) => {
        const [row] = await target<Row>`SELECT broken FROM box WHERE name = ${context.target.name}`;
        const broken = row?.['broken'] === true;
        return { text: `broken: ${broken}`, data: { broken } };
      },
    }),
    defineActiveTool<{ how: string }, Json>({
      name: 'box_mend',
      description: 'Mends the box.',
      kind: 'active',
      verbs: { does: 'Mend', did: 'Mended', button: 'Mend the box' },
      domain: 'postgres',
      input: z.strictObject({ how: z.string() }),
      timeoutMs: times.timeoutMs,
      command: ({ how }) => `mend --how ${how}`,
      preflight: async () => {
        const [row] = await target<Row>`SELECT clock_timestamp()::text AS clock`;
        return {
          guard: {},
          clock: String(row?.['clock']),
          lines: [],
          blastRadius: 'the box',
          undo: 'break it again',
          risk: 'low',
        };
      },
      objects: ({ how }) => [{ kind: 'box', key: how, label: how }],
      run: async (context, { how }, _guard, deadline) => {
        const box = context.target.name;
        await target`INSERT INTO entered (key, box, pid) VALUES (${key(box, how)}, ${box}, ${process.pid})`;
        await sleep(times.beforeMs());
        // Guard and deadline in the effecting statement, as the real tools have them (signal-session.ts).
        // One statement: whoever is killed right after it has not only written down that the box was mended.
        const rows = await target`
          WITH done AS (
            INSERT INTO effect (key, box, pid) SELECT ${key(box, how)}, ${box}, ${process.pid}
            WHERE clock_timestamp() < ${deadline.clock}::timestamptz + ${deadline.withinMs}::float8 * interval '1 millisecond'
            RETURNING 1)
          UPDATE box SET broken = false WHERE name = ${box} AND EXISTS (SELECT FROM done) RETURNING 1`;
        if (rows.length === 0) {
          await target`INSERT INTO late (key, pid) VALUES (${key(box, how)}, ${process.pid})`;
          return { kind: 'failed', text: 'The deadline had passed.' };
        }
        await sleep(times.afterMs());
        return { kind: 'succeeded', text: 'mended' };
      },
      look: async (context, { how }) => {
        const rows = await target<Row>`SELECT 1 FROM effect WHERE key = ${key(context.target.name, how)}`;
        return rows.length > 0 ? 'done' : 'not_done';
      },
      effect: () => ({
        steps: [{ tool: 'box_state', input: {}, holds: '!result.broken', says: 'the box is whole' }],
        holdMs: 100,
        timeoutMs: 1_500,
      }),
    }),
  ];
}
