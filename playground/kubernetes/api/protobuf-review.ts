/**
 * `kubectl auth can-i` of newer versions asks in protobuf, whatever the server says it understands. This reads that one
 * message; the field numbers are those of k8s.io/api/authorization/v1/generated.proto.
 */
export function readProtobufReview(body: Buffer): object {
  // `k8s\0`, then an envelope with the object in its second field.
  const review = fields(fields(body.subarray(4)).get(2) ?? Buffer.alloc(0));
  const spec = fields(review.get(2) ?? Buffer.alloc(0));
  const resource = spec.get(1);
  const path = spec.get(2);
  return {
    kind: 'SelfSubjectAccessReview',
    apiVersion: 'authorization.k8s.io/v1',
    spec: {
      ...(resource === undefined
        ? {}
        : {
            resourceAttributes: texts(resource, [
              'namespace',
              'verb',
              'group',
              'version',
              'resource',
              'subresource',
              'name',
            ]),
          }),
      ...(path === undefined ? {} : { nonResourceAttributes: texts(path, ['path', 'verb']) }),
    },
  };
}

const texts = (message: Buffer, names: readonly string[]) => {
  const found = fields(message);
  return Object.fromEntries(names.map((name, at) => [name, found.get(at + 1)?.toString('utf8') ?? '']));
};

/** The fields of a message that have a length: texts and messages. */
function fields(message: Buffer): Map<number, Buffer> {
  const found = new Map<number, Buffer>();
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 0; at < message.length; shift += 7) {
      const byte = message[at] ?? 0;
      at += 1;
      value |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    return value;
  };
  while (at < message.length) {
    const tag = varint();
    const length = varint();
    if ((tag & 7) !== 2) continue;
    found.set(tag >> 3, message.subarray(at, at + length));
    at += length;
  }
  return found;
}
