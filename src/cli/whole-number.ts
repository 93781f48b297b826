import { InvalidArgumentError } from 'commander';

/** For an option that takes a whole number from 1, or from 1 to `max`. */
export const wholeNumber =
  (max?: number) =>
  (text: string): number => {
    const value = Number(text);
    if (Number.isSafeInteger(value) && value >= 1 && value <= (max ?? value)) return value;
    throw new InvalidArgumentError(`expected a whole number from 1${max === undefined ? '' : ` to ${max}`}`);
  };
