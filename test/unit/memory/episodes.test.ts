import { expect, test } from 'vitest';
import type { Episode } from '../../../src/core/memory.ts';
import { similarEpisodes } from '../../../src/memory/episodes/episodes.ts';
import { distinctiveWords } from '../../../src/search/text/distinctive-words.ts';

let minute = 60;
/** Each older than the one before, as the database gives them. */
function episode(error: string, command: string, success: boolean | null): Episode {
  minute -= 1;
  return {
    incidentId: null,
    timestamp: `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`,
    error,
    diagnosis: '',
    command,
    result: '',
    success,
  };
}
const commands = (episodes: readonly Episode[]) => episodes.map(({ command }) => command);

test('words are taken out of identifiers, without noise', () => {
  expect([...distinctiveWords('PostgresBlockedSessions on shop-db: idle_in_transaction for 300 s')]).toEqual([
    'blocked',
    'sessions',
    'shop',
    'idle',
    'transaction',
  ]);
});

test('two words in common are similar, one is not', () => {
  const { similar } = similarEpisodes(
    [episode('blocked sessions on orders', 'a', null), episode('sessions idle', 'b', null)],
    'Blocked sessions on carts',
  );
  expect(commands(similar)).toEqual(['a']);
});

test('a success comes first, then the rarer words, then the newer', () => {
  const { similar } = similarEpisodes(
    [
      episode('blocked sessions', 'newer', null),
      episode('blocked sessions', 'older', null),
      episode('blocked sessions wraparound', 'rarer', null),
      episode('blocked sessions', 'worked', true),
    ],
    'blocked sessions and wraparound',
  );
  expect(commands(similar)).toEqual(['worked', 'rarer', 'newer', 'older']);
});

test('one word in common warns of a command that failed; unknown is neither', () => {
  const { failedCommands } = similarEpisodes(
    [
      episode('blocked writers', 'failed', false),
      episode('blocked readers', 'failed', false),
      episode('blocked writers', 'unknown', null),
      episode('bloat of carts', 'other', false),
    ],
    'blocked sessions',
  );
  expect(failedCommands).toEqual(['failed']);
});

test('what failed and helped since is no warning, nor one failure of what mostly helps; each on its own target', () => {
  const end = (pid: number) => `SELECT pg_terminate_backend(${pid})`;
  const on = (target: string, given: Episode) => ({ ...given, target });
  const { failedCommands } = similarEpisodes(
    [
      on('shop-db', episode('blocked sessions', end(9), true)),
      on('shop-db', episode('blocked sessions', end(8), false)),
      on('carts-db', episode('blocked sessions', end(7), false)),
      on('carts-db', episode('blocked sessions', end(6), true)),
      on('carts-db', episode('blocked sessions', end(5), false)),
      on('shop-db', episode('blocked sessions', 'VACUUM carts', false)),
      on('shop-db', episode('blocked sessions', 'VACUUM carts', true)),
      on('shop-db', episode('blocked sessions', 'VACUUM carts', true)),
    ],
    'blocked sessions',
  );
  expect(failedCommands).toEqual([end(7)]);
});
