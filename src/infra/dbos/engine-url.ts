import { createConnection } from 'node:net';
import { SSL_PARAMETERS, sslOf } from '../../core/postgres-url.ts';

/** SSLRequest: its length and its code (PostgreSQL, "Message Formats"). */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const ANSWER_MS = 10_000;

/** The URL so that the engine's driver (`pg`), which takes every `sslmode` for `verify-full`, understands it as we do. */
export async function engineUrl(url: string): Promise<string> {
  const { mode, rootCert, cert, key } = sslOf(url);
  const own = new URL(url);
  for (const name of SSL_PARAMETERS) own.searchParams.delete(name);
  const isPlain = mode === 'disable' || (mode === 'prefer' && !(await offersSsl(own)));
  if (isPlain) return withParameters(own, { sslmode: 'disable' });
  return withParameters(own, {
    uselibpqcompat: 'true',
    sslmode: mode === 'prefer' ? 'require' : mode,
    // With `prefer` nothing is verified.
    sslrootcert: mode === 'prefer' ? null : rootCert,
    sslcert: cert,
    sslkey: key,
  });
}

function withParameters(url: URL, parameters: Readonly<Record<string, string | null>>): string {
  for (const [name, value] of Object.entries(parameters))
    if (value !== null) url.searchParams.set(name, value);
  return url.href;
}

/** Asks the server, as every driver does. What goes wrong here will be said by whoever then connects. */
function offersSsl({ hostname, port }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const asking = createConnection(Number(port) || 5432, hostname.replace(/^\[|\]$/g, ''));
    const end = (offers: boolean) => {
      asking.destroy();
      resolve(offers);
    };
    asking.setTimeout(ANSWER_MS, () => end(false));
    asking.once('error', () => end(false));
    asking.once('close', () => end(false));
    asking.once('data', ([answer]) => end(answer === 'S'.charCodeAt(0)));
    asking.write(SSL_REQUEST);
  });
}
