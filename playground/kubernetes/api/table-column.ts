import type { StoredObject } from '../objects.ts';

export interface Column {
  readonly name: string;
  /** Only with `-o wide`. */
  readonly wide?: boolean;
  readonly cell?: (object: StoredObject) => string | number | undefined;
}

/** Each kind has columns for its own objects only. */
export const column = <T extends StoredObject>(
  name: string,
  cell: (object: T) => string | number | undefined,
  wide = false,
): Column => ({ name, cell: cell as unknown as NonNullable<Column['cell']>, wide });
