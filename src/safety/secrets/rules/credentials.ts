import { isPlaceholder, looksLikePassword, looksRandom, wordiness } from '../randomness.ts';
import type { Rule } from '../rule.ts';

/** `user:password` in printable characters, as Basic credentials are once decoded (RFC 7617 §2). */
function isBasic(secret: string): boolean {
  const decoded = Buffer.from(secret, 'base64').toString('latin1');
  return /^[^:]{1,80}:/.test(decoded) || looksRandom(secret);
}

/** The whole of it is `user:password` and nothing else, so that a word is none, however short the secret. */
function decodesToUser(secret: string): boolean {
  const decoded = Buffer.from(secret, 'base64');
  return (
    /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(decoded.toString('latin1')) &&
    decoded.toString('base64').replace(/=+$/, '') === secret.replace(/=+$/, '')
  );
}

const aboutCredentials =
  /^(?:required|missing|invalid|expired|failed|denied|header|headers|token|tokens|realm|auth|authentication|authorization|string|null|none|undefined|code|value|error|scheme|type|user|username|password|secret|key)[.,:;]?$/i;

/** What stands behind `Authorization: Bearer`, where prose may say `required`. */
function isCredential(secret: string): boolean {
  return (
    !aboutCredentials.test(secret) && (/[\dA-Z._~+/=-]/.test(secret.slice(1)) || wordiness(secret) < 0.6)
  );
}

/** Credentials in the places that protocols and command lines give them. */
export const credentialRules: readonly Rule[] = [
  {
    id: 'url-credentials',
    category: 'database_url',
    source:
      'RFC 3986 §3.2.1 (userinfo); postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS',
    hints: ['://'],
    pattern: /:\/\/[^\s:/@'"<>`\\?#]{0,128}:([^\s/'"<>`\\]{1,256})@(?=[^\s'"<>`@])/dy,
    check: ({ secret, text, start }) =>
      // One character is a password, where it can be nothing else.
      (!isPlaceholder(secret) || /^[a-wyz\d]$/i.test(secret)) &&
      // `user:password@` is how documentation writes it.
      !(
        /^(?:password|passwd|pwd)$/i.test(secret) &&
        /\/(?:user(?:name)?|my_?user|db_?user):$/i.test(text.slice(Math.max(0, start - 12), start))
      ),
  },
  {
    id: 'url-token',
    category: 'database_url',
    source:
      'RFC 3986 §3.2.1 (userinfo): a token in place of the user, alone or with an empty or fixed password',
    hints: ['://'],
    pattern:
      /:\/\/([^\s:/@'"<>`\\?#]{8,512})(?::(?:x|x-oauth-basic|x-token-auth|api[_-]?token)?)?@(?=[^\s'"<>`@])/diy,
    check: ({ secret }) => !isPlaceholder(secret) && looksRandom(secret),
  },
  {
    id: 'jdbc-credentials',
    category: 'database_url',
    source: 'jdbc.postgresql.org/documentation/use; learn.microsoft.com: ADO.NET connection strings',
    hints: ['password=', 'pwd='],
    pattern: /(?:password|pwd)=\{?([^\s;&"'`\\<>{}]{1,128})/diy,
    check: ({ secret, text, start }) =>
      !isPlaceholder(secret) &&
      /jdbc:|server=|host=|data source=|user(?: id|name)?=|uid=/i.test(
        text.slice(Math.max(0, start - 200), start),
      ),
  },
  {
    id: 'oracle-credentials',
    category: 'database_url',
    source: 'docs.oracle.com: JDBC thin-style service names (user/password@), sqlplus, expdp, impdp, sqlldr',
    hints: ['jdbc:oracle:', 'sqlplus ', 'sqlldr ', 'expdp ', 'impdp '],
    pattern:
      /(?:jdbc:oracle:[a-z0-9]{3,5}:|(?:sqlplus|sqlldr|expdp|impdp)\s{1,3}(?:-\w{1,4}\s{1,3}){0,3})["']?[A-Za-z][\w$#]{0,64}\/([^\s@/"'`<>]{3,128})(?=["']?@)/diy,
    check: ({ secret }) => !isPlaceholder(secret),
  },
  {
    id: 'go-dsn',
    category: 'database_url',
    source: 'github.com/go-sql-driver/mysql#dsn-data-source-name',
    hints: ['@tcp(', '@unix('],
    // Read from the end: what it is stands behind it.
    pattern: /(?<=[\w.$%-]{1,64}:([^\s:"'`@]{3,128}))@(?:tcp|unix)\([^)\s]/diy,
    check: ({ secret }) => !isPlaceholder(secret),
  },
  {
    id: 'pgpass',
    category: 'database_url',
    source: 'postgresql.org/docs/current/libpq-pgpass.html: hostname:port:database:username:password',
    hints: [':5432:', ':5433:', ':6432:', ':*:'],
    pattern:
      /(?<=(?:^|[\s"'`])[\w.*-]{1,128}):(?:\d{4}|\*):[\w*.-]{1,64}:[\w*.-]{1,64}:([^\s:"'`]{4,128})(?=["'`\s]|$)/dy,
    check: ({ secret }) => !isPlaceholder(secret),
  },
  {
    id: 'authorization-header',
    category: 'auth_header',
    source:
      'RFC 9110 §11.6.2, RFC 6750 §2.1, RFC 7617; gitleaks curl-auth-header; the IANA registry of schemes and others',
    hints: ['authorization'],
    pattern:
      /authorization\\?["']?\s{0,3}(?:[:=]|=>|,)\s{0,4}\\?["'`]?(?:[a-z][\w-]{1,30}\s{1,3})?([A-Za-z0-9=~@.+/_:|-]{2,4096})/diy,
    check: ({ text, at, start, secret }) =>
      !isPlaceholder(secret) &&
      (/\s(?:basic|bearer|token|apikey|api-key|key|bot)\s+$/i.test(` ${text.slice(at, start)}`)
        ? isCredential(secret)
        : looksRandom(secret)),
  },
  {
    id: 'bearer',
    category: 'auth_header',
    source: 'RFC 6750 §2.1',
    hints: ['bearer '],
    pattern: /bearer\s{1,3}([A-Za-z0-9._~+/-]{6,4096}={0,2})/diy,
    check: ({ secret, text, at }) =>
      !isPlaceholder(secret) &&
      (looksRandom(secret) ||
        (/\d/.test(secret) && wordiness(secret) < 0.6 && !/^[\d.]+$/.test(secret)) ||
        // As in a header; `bearer e.g.` is prose.
        (text.startsWith('Bearer', at) && /^[\w-]{2,}\.[\w-]{2,}/.test(secret))),
  },
  {
    id: 'basic',
    category: 'auth_header',
    source: 'RFC 7617 §2',
    hints: ['basic '],
    pattern: /basic\s{1,3}([A-Za-z0-9+/]{3,2048}={0,2})(?![A-Za-z0-9+/_-])/diy,
    check: ({ secret }) =>
      decodesToUser(secret) ||
      (secret.length >= 10 && wordiness(secret) < 0.6 && isBasic(secret) && /[A-Z\d]/.test(secret)),
  },
  {
    id: 'password-hash',
    category: 'password',
    source: 'crypt(5), httpd.apache.org/docs/current/misc/password_encryptions.html, Cisco types 5, 8 and 9',
    hints: ['$apr1$', '$1$', '$8$', '$9$'],
    pattern: /\$(?:apr1|[189])\$[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{22,86}(?![./A-Za-z0-9])/dy,
  },
  {
    id: 'shared-key',
    category: 'password',
    source: 'ipsec.secrets(5), strongswan.org: PSK; RADIUS: shared_secret',
    hints: [': psk ', 'shared_secret', 'shared-secret'],
    pattern:
      /(?:: psk|shared[_-]secret["']?\s{0,3}[:=])\s{1,8}(?:"([^"\n]{3,256})"|([^\s"'`,;{}]{6,256}))/diy,
    check: ({ secret, text, start }) =>
      !isPlaceholder(secret) && (text[start - 1] === '"' || looksLikePassword(secret)),
  },
  {
    id: 'sql-credentials',
    category: 'password',
    source: 'postgresql.org/docs/current/sql-createrole.html; dev.mysql.com: CREATE USER … IDENTIFIED BY',
    hints: ['password ', 'password\t', 'identified by ', 'identified with '],
    pattern:
      /(?:(?:password|identified (?:with \w{1,40} )?by)\s{1,4}(?:password\s{0,2})?(?:E|U&)?'((?:[^'\n]|''){1,256})'|password for [^\s=]{1,80}\s?=\s?'((?:[^'\n]|''){1,256})'|identified by\s{1,4}(?:"([^"\n]{1,256})"|([^\s"';]{6,128})))/diy,
    check: ({ secret, text, at, start }) =>
      !isPlaceholder(secret) &&
      (/['"]/.test(text[start - 1] ?? '') ||
        looksLikePassword(secret) ||
        /\b(?:user|connect to)\s{1,4}\S{1,80}\s{1,4}$/i.test(text.slice(Math.max(0, at - 100), at))),
  },
];
