import { createInterface } from 'node:readline/promises';
import { OpsError } from '../core/errors.ts';

/** Has a person type a word before something is done; throws OpsError NOT_CONFIRMED, or USAGE where there is nobody to ask. */
export async function confirm(yes: boolean, what: string, word: string, otherwise: string): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY)
    throw new OpsError('USAGE', 'There is nobody to ask.', { hint: 'Run it in a terminal, or with --yes.' });
  const ask = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await ask.question(`${what}\nType "${word}" to go on: `);
  ask.close();
  if (answer.trim() !== word)
    throw new OpsError('NOT_CONFIRMED', otherwise, { hint: `Type "${word}" when asked.` });
}
