/** As libpq means them: https://www.postgresql.org/docs/current/libpq-ssl.html */
const MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
type SslMode = (typeof MODES)[number];

/** Parameters of a URL that say how it is encrypted. Drivers read them in ways of their own, so no driver gets them. */
export const SSL_PARAMETERS = [
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'ssl',
  'uselibpqcompat',
] as const;

/** What a URL asks of the connection's encryption. */
interface PostgresSsl {
  readonly mode: SslMode;
  /** Paths; null: Node's own authorities and those of NODE_EXTRA_CA_CERTS, or no certificate of ours. */
  readonly rootCert: string | null;
  readonly cert: string | null;
  readonly key: string | null;
}

/** What is wrong with a URL of a PostgreSQL server, never with what it holds; null: nothing. */
export function postgresUrlFault(text: string): string | null {
  if (!/^postgres(ql)?:\/\//.test(text)) return 'expected postgres://user:password@host:5432/database';
  if (!URL.canParse(text))
    return 'is no URL: write what is special in user and password with % (/ as %2F, # as %23, @ as %40)';
  const { searchParams } = new URL(text);
  const mode = searchParams.get('sslmode');
  if (mode !== null && !isMode(mode)) return `sslmode: expected one of ${MODES.join(', ')}`;
  const { rootCert, cert, key } = sslOf(text);
  if (mode === 'verify-ca' && rootCert === null)
    return 'sslmode=verify-ca needs sslrootcert, the file of the authority that signed the server’s certificate';
  if ((cert === null) !== (key === null)) return 'sslcert and sslkey go together: name both or neither';
  return null;
}

/** Without `sslmode` it is `prefer`, as for psql. */
export function sslOf(url: string): PostgresSsl {
  const { searchParams } = new URL(url);
  const mode = searchParams.get('sslmode') ?? 'prefer';
  const rootCert = searchParams.get('sslrootcert');
  return {
    mode: isMode(mode) ? mode : 'verify-full',
    rootCert: rootCert === 'system' ? null : rootCert,
    cert: searchParams.get('sslcert'),
    key: searchParams.get('sslkey'),
  };
}

const isMode = (text: string): text is SslMode => MODES.some((mode) => mode === text);

/** The next step after a connection that failed over its encryption; null: that was not it. */
export function sslHint(code: string, message: string): string | null {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'The server’s certificate is for another name than the one in the URL: write that name into the URL, or use sslmode=verify-ca where the name does not matter.';
  if (code === 'CERT_HAS_EXPIRED') return 'The server’s certificate has expired: renew it.';
  if (/CERT|ISSUER|VERIFY|SELF_SIGNED/.test(code))
    return 'The server’s certificate is not signed by an authority that is trusted here: name that one by sslrootcert=/path/ca.crt in the URL, or by NODE_EXTRA_CA_CERTS.';
  if (/before secure TLS connection|wrong version number|does not support SSL/i.test(message))
    return 'The server offers no encryption (ssl = off), and sslmode in the URL demands it: switch it on there, or use sslmode=prefer or disable.';
  if (code === '28000')
    return 'The server’s pg_hba.conf has no line that lets this user in from here. Where it demands encryption (hostssl), the URL must not say sslmode=disable; where it demands a certificate, name sslcert and sslkey.';
  return /^ERR_(SSL|OSSL|TLS)/.test(code)
    ? 'The connection could not be encrypted: look at the certificates that the URL names and at ssl_* of the server.'
    : null;
}
