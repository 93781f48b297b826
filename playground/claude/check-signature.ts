import type { IncomingMessage } from 'node:http';
import type { ApiProblem } from './api-error.ts';
import { type AwsCredentials, signAws } from './aws-signature.ts';

/** Who may call a server that plays Bedrock. */
export interface SignedBy {
  readonly region: string;
  /** The name that AWS signs under: `bedrock`, `bedrock-mantle`. */
  readonly service: string;
  readonly credentials: AwsCredentials;
}

/** Recomputes an AWS signature from what arrived; a changed body, path or signed header answers 403, as AWS does. */
export function checkSignature(
  request: IncomingMessage,
  body: string,
  { region, service, credentials }: SignedBy,
): ApiProblem | undefined {
  const given = request.headers.authorization ?? '';
  const names = /SignedHeaders=([^,]+)/.exec(given)?.[1]?.split(';') ?? [];
  const time = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(request.headers['x-amz-date']));
  if (time === null || !names.includes('host')) return denied('Missing Authentication Token');
  const [, year, month, day, hour, minute, second] = time;
  const added = new Set(['host', 'x-amz-date', 'x-amz-security-token']);
  const headers = Object.fromEntries(
    names.filter((name) => !added.has(name)).map((name) => [name, String(request.headers[name])]),
  );
  const expected = signAws(
    {
      method: request.method ?? 'GET',
      url: new URL(request.url ?? '/', `http://${request.headers.host}`),
      headers,
      body,
    },
    {
      region,
      service,
      at: new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`),
    },
    credentials,
  );
  return expected['authorization'] === given
    ? undefined
    : denied('The request signature we calculated does not match the signature you provided.');
}

function denied(message: string): ApiProblem {
  return { status: 403, type: 'permission_error', message };
}
