import type { ServerResponse } from 'node:http';
import { groupVersionOf, type Resource, resources } from '../resources.ts';

/**
 * `/openapi/v2`, from which kubectl reads before a server-side dry run whether the server can do one for a kind. It asks
 * for protobuf alone; the field numbers are those of gnostic's openapiv2/OpenAPIv2.proto. Without definitions, kubectl
 * leaves the validation to the server.
 */
export function sendOpenApi(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf' });
  response.end(document);
}

/** A field of text, or of fields of its own: nothing else is needed here. */
function field(number: number, value: string | readonly Buffer[]): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value) : Buffer.concat(value);
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128);
  return Buffer.from([...bytes, rest]);
}

/** ParametersItem › Parameter › NonBodyParameter › QueryParameterSubSchema. */
const queryParameter = (name: string) =>
  field(8, [field(1, [field(2, [field(3, [field(2, 'query'), field(4, name), field(6, 'string')])])])]);

function pathOf(each: Resource): Buffer {
  const root = each.group === '' ? '/api' : '/apis';
  const scope = each.namespaced ? 'namespaces/{namespace}/' : '';
  const path = `${root}/${groupVersionOf(each)}/${scope}${each.plural}/{name}`;
  const kind = `group: "${each.group}"\nkind: ${each.kind}\nversion: ${each.version}\n`;
  const patch = [
    queryParameter('dryRun'),
    queryParameter('fieldManager'),
    field(13, [field(1, 'x-kubernetes-group-version-kind'), field(2, [field(2, kind)])]),
  ];
  return field(2, [field(1, path), field(2, [field(8, patch)])]);
}

const document = Buffer.concat([
  field(1, '2.0'),
  field(2, [field(1, 'Kubernetes'), field(2, 'v1.32.4')]),
  field(8, resources.filter(({ verbs }) => verbs.includes('patch')).map(pathOf)),
]);
