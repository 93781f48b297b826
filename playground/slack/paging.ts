import type { Arguments } from './arguments.ts';
import { SlackError } from './slack-error.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

/**
 * One page of a list, and the cursor of the next: base64 of the next item's key, so that a page stays right when
 * items come and go. Throws `invalid_limit`, `invalid_cursor`.
 */
export function pageOf<T>(
  items: readonly T[],
  args: Arguments,
  keyOf: (item: T) => string,
): { readonly page: T[]; readonly next: string } {
  const limit = args.number('limit') ?? DEFAULT_LIMIT;
  if (limit < 1 || limit > MAX_LIMIT) throw new SlackError('invalid_limit');
  let start = 0;
  if (args.has('cursor')) {
    const key = Buffer.from(args.required('cursor'), 'base64').toString('utf8');
    start = items.findIndex((item) => `next:${keyOf(item)}` === key);
    if (start < 0) throw new SlackError('invalid_cursor');
  }
  const following = items[start + limit];
  return {
    page: items.slice(start, start + limit),
    next: following === undefined ? '' : Buffer.from(`next:${keyOf(following)}`).toString('base64'),
  };
}
