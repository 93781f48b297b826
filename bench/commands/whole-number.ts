import { InvalidArgumentError } from 'commander';

export function wholeNumber(text: string): number {
  const n = Number(text);
  if (!Number.isInteger(n) || n < 1) throw new InvalidArgumentError('expected a whole number above 0');
  return n;
}
