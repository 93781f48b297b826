import type { PartFound } from './part.ts';
import { quoted } from './quoted.ts';

/** What a person wrote to others, without secrets. */
export interface Said {
  readonly userId: string;
  readonly name: string;
  readonly text: string;
}

const MOST = 3;
const [NAME, WORDS] = [24, 60];
/** Whole quotes only: what is cut off could be whose words they are. */
const MAX_LINE = 260;

/**
 * The last that people said, with who said it: their word, and proof of nothing.
 *
 * @param said oldest first
 * @param where what stands behind a name
 */
export function quoteLast<T extends Said>(
  said: readonly T[],
  where: (one: T) => string = () => '',
): PartFound {
  const lineOf = (some: readonly T[]): string =>
    some.map((one) => `${quoted(one.name, NAME)}${where(one)}: “${quoted(one.text, WORDS)}”`).join('; ');
  let last = said.slice(-MOST);
  while (last.length > 1 && lineOf(last).length > MAX_LINE) last = last.slice(1);
  if (last.length === 0) return null;
  const before = said.length - last.length;
  return {
    line: `${lineOf(last)}${before === 0 ? '' : `; ${before} more before`}`,
    people: [...new Set(last.map(({ userId }) => userId))],
  };
}
