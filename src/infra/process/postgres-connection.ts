import { readFileSync, statSync } from 'node:fs';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { OpsError } from '../../core/errors.ts';
import { SSL_PARAMETERS, sslOf } from '../../core/postgres-url.ts';
import { whyNot } from '../../core/system-fault.ts';

/** The URL without what it says of encryption, and that for postgres.js. */
export function postgresConnection(url: string) {
  const parsed = new URL(url);
  for (const name of SSL_PARAMETERS) parsed.searchParams.delete(name);
  return { url: parsed.href, ssl: optionsFor(sslOf(url), parsed.hostname) };
}

function optionsFor(ssl: ReturnType<typeof sslOf>, host: string) {
  const { mode, rootCert, cert, key } = ssl;
  if (mode === 'disable') return false;
  if (mode === 'prefer' && cert === null) return 'prefer' as const;
  const own = cert === null || key === null ? {} : { cert: readCertificate(cert), key: readCertificate(key) };
  // As libpq: whoever names an authority with `require` wants it to be that one.
  const isVerified =
    mode === 'verify-ca' || mode === 'verify-full' || (mode === 'require' && rootCert !== null);
  if (!isVerified) return { ...own, rejectUnauthorized: false };
  return {
    ...own,
    ...(rootCert === null ? {} : { ca: readCertificate(rootCert) }),
    rejectUnauthorized: true,
    checkServerIdentity: (_: string, certificate: PeerCertificate) =>
      mode === 'verify-full' ? checkServerIdentity(host.replace(/^\[|\]$/g, ''), certificate) : undefined,
  };
}

/** The text of a certificate's or key's file that a PostgreSQL URL names. @throws OpsError POSTGRES_CERTIFICATE */
function readCertificate(path: string): string {
  try {
    // A pipe would hold the thread until somebody writes into it.
    if (statSync(path).isFile()) return readFileSync(path, 'utf8');
  } catch (error) {
    throw unreadable(path, whyNot(error), error);
  }
  throw unreadable(path, 'it is no regular file');
}

function unreadable(path: string, why: string, cause?: unknown): OpsError {
  return new OpsError('POSTGRES_CERTIFICATE', `${path} cannot be read: ${why}`, {
    hint: 'It is the file of a certificate that the URL names (sslrootcert, sslcert, sslkey), and cannot be read: correct the path or its rights.',
    cause,
  });
}
