/** The object without those of its fields that are undefined: for options that are left out rather than set to nothing. */
export function defined<T extends object>(fields: T): { [Field in keyof T]?: Exclude<T[Field], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
