import { createHash, randomInt } from 'node:crypto';

/** Letters and digits that make no words (k8s.io/apimachinery, `rand.SafeEncodeString`). */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

const letters = (numbers: Iterable<number>) =>
  [...numbers].map((each) => alphabet[each % alphabet.length]).join('');

/** What the server puts behind `generateName`. */
export const randomSuffix = (): string =>
  letters(Array.from({ length: 5 }, () => randomInt(alphabet.length)));

/** A short name for a content: a `pod-template-hash`, the name of a revision. */
export const hashSuffix = (content: unknown): string =>
  letters(createHash('sha256').update(JSON.stringify(content)).digest().subarray(0, 10));
