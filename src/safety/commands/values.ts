import type { ValueType } from './grammar.ts';

/** A whole decimal number within bounds (both allowed), without sign, leading zeros or suffix. */
export function integer(min: number, max: number): ValueType {
  return (text) =>
    /^(?:0|[1-9]\d{0,9})$/u.test(text) && Number(text) >= min && Number(text) <= max ? text : undefined;
}

/** A decimal number within bounds, e.g. `0.5`. */
export function decimal(min: number, max: number): ValueType {
  return (text) =>
    /^\d{1,3}(?:\.\d{1,3})?$/u.test(text) && Number(text) >= min && Number(text) <= max ? text : undefined;
}

export function oneOf(...allowed: readonly string[]): ValueType {
  return (text) => (allowed.includes(text) ? text : undefined);
}

export function matching(pattern: RegExp): ValueType {
  return (text) => (pattern.test(text) ? text : undefined);
}

/** Values separated by commas, at most 30. */
export function list(item: ValueType): ValueType {
  return (text, policy) => {
    const items = text.split(',');
    return items.length <= 30 && items.every((each) => item(each, policy) !== undefined) ? text : undefined;
  };
}

export const none: ValueType = () => undefined;
