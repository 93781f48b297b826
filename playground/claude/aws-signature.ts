import { createHmac } from 'node:crypto';
import { sha256 } from '../../src/safety/sha256.ts';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** For temporary credentials. */
  readonly sessionToken?: string | undefined;
}

export interface SignedRequest {
  readonly method: string;
  readonly url: URL;
  /** Every one of these is signed. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * The headers that sign a request by AWS Signature Version 4 (docs.aws.amazon.com, "Create a signed AWS API request"),
 * to be added to it. Written out here, so that what AWS's own packages sign is checked by something else than them.
 */
export function signAws(
  request: SignedRequest,
  scope: { readonly region: string; readonly service: string; readonly at: Date },
  { accessKeyId, secretAccessKey, sessionToken }: AwsCredentials,
): Readonly<Record<string, string>> {
  const time = scope.at.toISOString().replace(/[-:]|\.\d{3}/g, '');
  const day = time.slice(0, 8);
  const added = {
    host: request.url.host,
    'x-amz-date': time,
    ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
  };
  const headers = Object.entries({ ...request.headers, ...added })
    .map(([name, value]) => [name.toLowerCase(), value.trim().replace(/\s+/g, ' ')] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const signed = headers.map(([name]) => name).join(';');
  const canonical = [
    request.method,
    canonicalPath(request.url.pathname),
    canonicalQuery(request.url.searchParams),
    ...headers.map(([name, value]) => `${name}:${value}`),
    '',
    signed,
    sha256(request.body),
  ].join('\n');
  const place = `${day}/${scope.region}/${scope.service}/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', time, place, sha256(canonical)].join('\n');
  const key = [day, scope.region, scope.service, 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => hmac(secret, part),
    `AWS4${secretAccessKey}`,
  );
  const signature = hmac(key, toSign).toString('hex');
  const { host: _, ...sent } = added;
  return {
    ...sent,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${place}, SignedHeaders=${signed}, Signature=${signature}`,
  };
}

/** Encoded once more than it is sent, as every service but S3 wants it. */
function canonicalPath(path: string): string {
  return path === '' ? '/' : path.split('/').map(encoded).join('/');
}

function canonicalQuery(query: URLSearchParams): string {
  return [...query]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .toSorted()
    .join('&');
}

/** RFC 3986: more than `encodeURIComponent` does. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
