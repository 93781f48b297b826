import type { StoredObject } from '../objects.ts';
import type { Resource } from '../resources.ts';
import { ageSince } from './age.ts';
import type { Column } from './table-column.ts';
import { columnsOf } from './table-columns.ts';

/** kubectl lets the server lay out what `get` prints. */
export const wantsTable = (accept: string): boolean => accept.split(',')[0]?.includes('as=Table') === true;

interface Listed {
  readonly metadata?: object;
  readonly items?: readonly StoredObject[];
}

/** An object, or a list of them, as a table of the kind's columns; a `Status` stays what it is. */
export function asTable(resource: Resource, body: object, includeObject: string | null): object {
  const { kind, items, metadata } = body as Listed & { kind?: string };
  if (kind === 'Status') return body;
  const objects = items ?? [body as StoredObject];
  // Events have names that tell nothing.
  const name: Column = { name: 'Name', cell: ({ metadata }) => metadata.name };
  const columns = resource.kind === 'Event' ? columnsOf(resource) : [name, ...columnsOf(resource)];
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: items === undefined ? { resourceVersion: objects[0]?.metadata.resourceVersion } : metadata,
    columnDefinitions: columns.map(definition),
    rows: objects.map((object) => ({
      cells: columns.map((column) => cellOf(column, object)),
      object:
        includeObject === 'Object'
          ? object
          : { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata },
    })),
  };
}

const definition = ({ name, wide }: Column) => ({
  name,
  type: 'string',
  format: name === 'Name' ? 'name' : '',
  description: '',
  priority: wide === true ? 1 : 0,
});

function cellOf({ cell, name }: Column, object: StoredObject): string {
  const value =
    cell === undefined && name === 'Age' ? ageSince(object.metadata.creationTimestamp) : cell?.(object);
  return value === undefined || value === '' ? '<none>' : String(value);
}
