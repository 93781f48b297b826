import { z } from 'zod';
import { OpsError } from '../../../core/errors.ts';
import { measureAt } from '../../../core/measure.ts';
import { isUnreachable } from '../../../core/unreachable.ts';
import { postgresTool } from '../tool.ts';

/**
 * Whether the server takes a connection and answers: the one read that says something while nothing else can be read. Data:
 * `{ reachable, code }`; `code` is the failure's, null when it answers. Other failures (a wrong password, no free slot) are
 * failures of this read, too: they do not tell.
 */
export const postgresReachable = postgresTool.read({
  name: 'postgres_reachable',
  description:
    'Whether the server can be reached; answers when no other read can. For a database that is down.',
  kind: 'read',
  tellsReachable: true,
  measures: [
    measureAt('reachable', {
      name: 'reachable',
      label: 'the database can be reached',
      unwell: { is: 'the database cannot be reached', was: 'the database could not be reached' },
      unit: '',
      healthy: 'at_least',
      bound: 1,
    }),
  ],
  input: z.strictObject({}),
  timeoutMs: 15_000,
  async run({ system, target, timeoutMs, signal }) {
    try {
      await system.read((session) => session.query('SELECT 1'), { timeoutMs, signal });
      return { text: `${target.name} can be reached.`, data: { reachable: true, code: null } };
    } catch (error) {
      if (!(error instanceof OpsError) || !isUnreachable(error.code)) throw error;
      const text = `${target.name} cannot be reached: ${error.message}`;
      return { text, data: { reachable: false, code: error.code } };
    }
  },
});
