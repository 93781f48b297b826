import { isPlaceholder, looksRandom, wordiness } from '../randomness.ts';
import type { Hit, Rule } from '../rule.ts';

/** `user:password` in printable characters, as Basic credentials are once decoded (RFC 7617 §2). */
function isBasic(secret: string): boolean {
  const decoded = Buffer.from(secret, 'base64').toString('latin1');
  return /^[^:]{1,80}:/.test(decoded) || looksRandom(secret);
}

function afterHttpClient({ text, start }: Hit): boolean {
  return /\b(?:curl|wget|https?|xh)\b/.test(text.slice(Math.max(0, start - 700), start));
}

const commonWords =
  /^(?:user(?:name)?|token|pass(?:word|wd)?|pwd|test|secret|required|value|none|null|true|false)$/i;

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
      !isPlaceholder(secret) &&
      // `user:password@` is how documentation writes it.
      !(
        /^(?:password|passwd|pwd)$/i.test(secret) &&
        /\/(?:user(?:name)?|my_?user|db_?user):$/i.test(text.slice(Math.max(0, start - 12), start))
      ),
  },
  {
    id: 'jdbc-credentials',
    category: 'database_url',
    source: 'jdbc.postgresql.org/documentation/use; learn.microsoft.com: ADO.NET connection strings',
    hints: ['password=', 'pwd='],
    pattern: /(?:password|pwd)=([^\s;&"'`\\<>]{3,128})/diy,
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
    source: 'RFC 9110 §11.6.2, RFC 6750 §2.1, RFC 7617; gitleaks curl-auth-header',
    hints: ['authorization'],
    pattern:
      /authorization\\?["']?\s{0,3}(?:[:=]|=>|,)\s{0,4}\\?["'`]?(?:(?:basic|bearer|token|apikey|api-key|key|digest|negotiate|hmac|aws4-hmac-sha256|splunk|genie-?key|bot|oauth|ssws|sso-key)\s{1,3})?([A-Za-z0-9=~@.+/_:|-]{8,4096})/diy,
    check: ({ text, at, start, secret }) =>
      !isPlaceholder(secret) &&
      (/\s(?:basic|bearer)\s+$/i.test(text.slice(at, start))
        ? wordiness(secret) < 0.75 || /\d/.test(secret)
        : looksRandom(secret)),
  },
  {
    id: 'bearer',
    category: 'auth_header',
    source: 'RFC 6750 §2.1',
    hints: ['bearer '],
    pattern: /bearer\s{1,3}([A-Za-z0-9._~+/-]{12,4096}={0,2})/diy,
    check: ({ secret }) =>
      !isPlaceholder(secret) && (looksRandom(secret) || (/\d/.test(secret) && wordiness(secret) < 0.6)),
  },
  {
    id: 'basic',
    category: 'auth_header',
    source: 'RFC 7617 §2',
    hints: ['basic '],
    pattern: /basic\s{1,3}([A-Za-z0-9+/]{10,2048}={0,2})(?![A-Za-z0-9+/_-])/diy,
    check: ({ secret }) => wordiness(secret) < 0.6 && isBasic(secret) && /[A-Z\d]/.test(secret),
  },
  {
    id: 'http-user',
    category: 'auth_header',
    source: 'curl.se/docs/manpage.html#-u; gitleaks curl-auth-user',
    hints: [' -u', ' --user', ' --proxy-user', '\t-u', '\n-u', '\n--user'],
    pattern:
      /\s(?:-u|--(?:proxy-)?user)(?:=|\s{0,5})(?:"[^":\s]{0,80}:([^"\n]{2,200})"|'[^':\s]{0,80}:([^'\n]{2,200})'|[^\s"':]{0,80}:(?:"([^"\n]{2,200})"|'([^'\n]{2,200})'|([^\s"']{2,200})))/dy,
    check: (hit) => afterHttpClient(hit) && !isPlaceholder(hit.secret) && !commonWords.test(hit.secret),
  },
  {
    id: 'sql-credentials',
    category: 'password',
    source: 'postgresql.org/docs/current/sql-createrole.html; dev.mysql.com: CREATE USER … IDENTIFIED BY',
    hints: ['password ', 'password\t', 'identified by '],
    pattern: /(?:password|identified by)\s{1,4}(?:password\s{0,2})?(?:E|U&)?'((?:[^'\n]|''){1,256})'/diy,
    check: ({ secret }) => !isPlaceholder(secret),
  },
  {
    id: 'redis-credentials',
    category: 'password',
    source: 'redis.io/docs: requirepass, masterauth, redis-cli -a',
    hints: ['requirepass ', 'masterauth ', 'redis-cli '],
    pattern:
      /(?:(?:requirepass|masterauth)\s{1,4}|redis-cli\s[^\n|;&]{0,120}?-a\s{1,3})["']?([^\s"'`]{3,256})/diy,
    check: ({ secret }) => !isPlaceholder(secret) && !commonWords.test(secret) && !secret.startsWith('/'),
  },
  {
    id: 'client-flag',
    category: 'password',
    source: 'dev.mysql.com/doc/refman: -p; sshpass(1)',
    hints: ['mysql', 'mariadb', 'sshpass'],
    pattern:
      /(?:(?:mysql|mariadb)[a-z_-]{0,12}\s[^\n|;&]{0,160}?(?<=\s)-p(?!rotocol|ort|ass)|sshpass\s{1,3}-p\s{0,3})["']?([^\s"'`-][^\s"'`]{2,128})/diy,
    check: ({ secret }) => !isPlaceholder(secret) && !commonWords.test(secret) && !/^\d{1,5}$/.test(secret),
  },
  {
    id: 'secret-flag',
    category: 'password',
    source: 'the long options of psql, docker login, helm, oc, vault and the like',
    hints: ['password', 'passwd', 'token', 'secret', 'api-key', 'apikey', 'passphrase'],
    pattern:
      /(?<=(?:^|[\s"'`])--?(?:[a-z0-9]{1,20}-){0,3})(?:password|passwd|token|secret|api-?key|passphrase)[ \t]{1,3}(?!-)(?:"([^"\n]{4,256})"|'([^'\n]{4,256})'|([^\s"'`<>|;&-][^\s"'`<>|;&]{3,512}))/diy,
    check: ({ secret }) =>
      !isPlaceholder(secret) && !commonWords.test(secret) && !/^(?:stdin|from-|file)/.test(secret),
  },
];
