import { isPlaceholder, looksLikePassword, looksRandom } from '../randomness.ts';
import type { Hit, Rule } from '../rule.ts';

function afterHttpClient({ text, start }: Hit): boolean {
  return /\b(?:curl|wget|https?|xh)\b/.test(text.slice(Math.max(0, start - 700), start));
}

const commonWords =
  /^(?:user(?:name)?|token|pass(?:word|wd)?|pwd|test|secret|required|value|none|null|true|false)$/i;

const isGiven = ({ secret }: Hit): boolean => !isPlaceholder(secret) && !commonWords.test(secret);

/** A value as a shell takes it, in quotes or without; each way a group. */
const argument = String.raw`(?:"([^"\n]{3,256})"|'([^'\n]{3,256})'|([^\s"'\`<>|;&-][^\s"'\`<>|;&]{2,512}))`;

/** Programs, and by which of their arguments they take a password; what stands between is of the same command. */
const clients: readonly (readonly [programs: readonly string[], flag: string])[] = [
  [['mysql', 'mariadb'], String.raw`-p(?!rotocol|ort|ass)`],
  [['sshpass', 'winscp'], String.raw`-p\s{0,3}`],
  [
    ['docker login', 'podman login', 'buildah login', 'skopeo login', 'nerdctl login'],
    String.raw`-p[ =]\s{0,3}`,
  ],
  [
    ['oc login', 'az login', 'az acr login', 'helm registry login', 'cf login', 'psexec'],
    String.raw`-p[ =]\s{0,3}`,
  ],
  [['mongo', 'clickhouse-client', 'influx'], String.raw`-p[ =]\s{0,3}`],
  [['sqlcmd', 'bcp', 'isql', 'osql', 'tsql', 'zip', 'unzip'], String.raw`-P\s{0,3}`],
  [['ldapsearch', 'ldapadd', 'ldapmodify', 'ldapwhoami', 'ldappasswd', 'ldapdelete'], String.raw`-w\s{1,3}`],
  [['7z', '7za', 'unrar'], '-p'],
  [['openssl'], String.raw`(?:-k\s{1,3}|-pass(?:in|out)?\s{1,3}pass:)`],
  [['keytool', 'jarsigner'], String.raw`-(?:store|key|src\w{0,5}|dest\w{0,5})pass\s{1,3}`],
  [['redis-cli', 'valkey-cli', 'keydb-cli'], String.raw`(?:-a|--pass)[ =]\s{0,3}`],
  [['smbclient', 'rpcclient', 'net ads'], String.raw`-U\s{0,3}["']?[^\s%"']{1,64}%`],
  [['pscp', 'plink', 'psftp', 'putty', 'pageant'], String.raw`-pw\s{1,3}`],
  [['net use'], String.raw`/user:\S{1,80}\s{1,3}`],
  [
    ['rabbitmqctl', 'htpasswd'],
    String.raw`(?:(?:add_user|change_password)\s{1,3}|-\w{0,4}b\w{0,4}\s{1,3}(?:(?<=-\w{0,4}n\w{0,4}\s{1,3})|\S{1,200}\s{1,3}))[\w.@-]{1,64}\s{1,3}`,
  ],
  [['vault login'], String.raw`(?<=login\s)(?!-)`],
  [['ipmitool'], String.raw`-P\s{1,3}`],
  [['useradd', 'usermod'], String.raw`-p\s{1,3}`],
  [['xfreerdp', 'rdesktop'], String.raw`(?:\/p:|-p\s{0,3})`],
  [['lftp', 'ncftp'], String.raw`-u\s{1,3}[^\s,]{1,64},`],
  [['net user'], String.raw`(?<=user\s{1,3})[\w.-]{1,64}\s{1,3}(?=[^\s\d]{0,60}\d)`],
  [['gh secret set'], String.raw`(?:--body|-b)[ =]\s{0,3}`],
  [['ssh-keygen'], String.raw`-[NP]\s{1,3}`],
  [['winrs'], String.raw`-(?:p|password):`],
  // The second of two.
  [['snmpget', 'snmpwalk', 'snmpset', 'snmpbulkwalk'], String.raw`-X\s{1,3}`],
  [['mc alias set', 'mc config host add'], String.raw`https?:\S{1,200}\s{1,3}\S{1,64}\s{1,3}`],
  [['snmpwalk', 'snmpget', 'snmpset', 'snmpbulkwalk'], String.raw`-(?:c|A|X)\s{1,3}`],
];

function clientRule([programs, flag]: (typeof clients)[number], index: number): Rule {
  const names = programs.map((name) => name.replace(' ', String.raw`\s{1,3}`)).join('|');
  return {
    id: index === 0 ? 'client-flag' : `client-flag-${(programs[0] as string).replaceAll(' ', '-')}`,
    category: 'password',
    source: `the manual of ${programs.join(', ')}`,
    hints: programs,
    pattern: new RegExp(
      String.raw`(?:${names})[a-z_-]{0,12}\s[^\n|;&]{0,160}?(?<=\s)${flag}${argument}`,
      'dy',
    ),
    check: (hit) => isGiven(hit) && !/^\d{1,5}$|^\d+:\d+$/.test(hit.secret) && !hit.secret.startsWith('/'),
  };
}

/** What command lines and configuration files say without a sign between a name and its value. */
export const commandRules: readonly Rule[] = [
  ...clients.map(clientRule),
  {
    id: 'http-user',
    category: 'auth_header',
    source:
      'curl.se/docs/manpage.html#-u, -U, -E; httpie.io/docs/cli/authentication; gitleaks curl-auth-user',
    hints: [' -', '\t-', '\n-'],
    pattern:
      /\s(?:-[a-zA-Z]{0,8}u|-[Ua]|--(?:proxy-)?user|--auth)(?:=|\s{0,5})(?:["']?([\w.-]{16,512}):(?:x|api[_-]?token)(?=["'\s]|$)|"[^":\n]{0,200}:([^"\n]{1,200})"|'[^':\n]{0,200}:([^'\n]{1,200})'|"([^":\n]{8,200}):"|'([^':\n]{8,200}):'|["']?[^\s"':]{0,200}["']?:(?:"([^"\n]{1,200})"|'([^'\n]{1,200})'|([^\s"'/][^\s"']{0,200}))|([^\s"':]{8,200}):(?=\s))/dy,
    check: (hit) =>
      afterHttpClient(hit) &&
      isGiven(hit) &&
      // `x:` is a key in the user's place, or a user without a password.
      (hit.text[hit.start - 1] === ':' ||
        /:["']$/.test(hit.text.slice(hit.start - 2, hit.start)) ||
        looksLikePassword(hit.secret)),
  },
  {
    id: 'http-password',
    category: 'auth_header',
    source: 'curl.se/docs/manpage.html#--pass',
    hints: ['--pass ', '--key-passwd ', '--oauth2-bearer ', ' -e', '--cert'],
    pattern: new RegExp(
      String.raw`(?:--(?:pass|key-passwd|oauth2-bearer)\s{1,3}|(?: -E|--cert)[ =]{0,3}["']?[^\s:"']{1,200}\.(?:pem|p12|pfx|crt|cer):)${argument}`,
      'dy',
    ),
    check: (hit) => afterHttpClient(hit) && isGiven(hit),
  },
  {
    id: 'secret-flag',
    category: 'password',
    source: 'the long options of psql, docker login, helm, oc, vault and the like; in a list, an item each',
    hints: [
      'password',
      'passwd',
      'passphrase',
      '-pass',
      'token',
      'secret',
      'api-key',
      'apikey',
      'access-key',
      'private-key',
      'account-key',
      '--key',
      '--pat',
    ],
    pattern: new RegExp(
      String.raw`(?<=(?:^|[\s"'\`])(?:--?(?:[a-z0-9]{1,20}-){0,3})?)(?:--(?:pat|key)|-pass|(?<=-)(?:password|passwd|passphrase|token|(?:api|secret|access|private|account)-?key|secret|pat))(?:[ \t]{1,3}|["']?\s{0,3},?\s{1,20}- (?=\S))(?!-)${argument}`,
      'diy',
    ),
    check: (hit) =>
      isGiven(hit) &&
      !/^(?:stdin|from-|file)/.test(hit.secret) &&
      (!/(?:key|pat|pass)["']?\s/i.test(hit.text.slice(hit.at, hit.start)) || looksLikePassword(hit.secret)),
  },
  {
    id: 'piped-password',
    category: 'password',
    source:
      'programs that read a password from standard input: docker login --password-stdin, sudo -S, passwd --stdin, chpasswd, gpg, cryptsetup',
    hints: ['--password-stdin', 'sudo -', '--stdin', 'chpasswd', '--passphrase-fd', 'cryptsetup '],
    pattern:
      /(?<=(?:echo|printf)\s{1,3}(?:-\w{1,2}\s{1,3})?["']?(?:[\w.-]{1,64}:(?=[^|\n]{1,300}chpasswd))?([^\s"'|]{3,256})["']?\s{0,3}\|\s{0,3}[^|\n]{0,120})(?:--password-stdin|sudo\s(?:-\w{1,12}\s){0,3}-\w{0,6}S\b|--stdin\b|chpasswd\b|--passphrase-fd[ =]0|cryptsetup\s)/dy,
    check: isGiven,
  },
  {
    id: 'redis-credentials',
    category: 'password',
    source: 'redis.io/docs: requirepass, masterauth, ACL; keepalived, HAProxy, ldap.conf, kickstart',
    hints: [
      'requirepass ',
      'requirepass"',
      'masterauth ',
      'auth-pass ',
      'auth_pass ',
      'rootpw ',
      'bindpw ',
      'stats auth ',
      ' on >',
    ],
    pattern:
      /(?:(?:requirepass(?:",\s{0,3}(?="))?|masterauth|sentinel auth-pass\s{1,3}\S{1,64}|auth[-_]pass|rootpw|bindpw)(?:(?<=,\s{0,3})|\s{1,4})(?:--\w{1,12}\s{1,3}|\{\w{1,12}\})?|stats auth\s{1,3}[^\s:]{1,64}:| on >)["']?([^\s"'`]{3,256})/diy,
    check: (hit) =>
      isGiven(hit) &&
      !hit.secret.startsWith('/') &&
      (hit.text[hit.at] !== ' ' ||
        /user\s+\S{1,64}$/i.test(hit.text.slice(Math.max(0, hit.at - 80), hit.at))),
  },
  {
    id: 'netrc',
    category: 'password',
    source: 'gnu.org/software/inetutils/manual: the .netrc file',
    hints: ['machine ', 'default login', 'default\n'],
    pattern:
      /(?:machine\s{1,4}\S{1,200}|default)\s{1,20}(?:login\s{1,4}\S{1,200}\s{1,20})?password\s{1,4}([^\s"'`]{1,256})/diy,
    check: isGiven,
  },
  {
    id: 'credentials-call',
    category: 'password',
    source: 'requests, .NET, JDBC, Java and MongoDB: calls that take a user and a password',
    hints: ['auth', 'credential', 'getconnection', 'usernamepassword', 'securestring'],
    pattern:
      /(?:(?:auth(?:entication)?\s{0,2}=?|credentials?|getconnection|usernamepassword\w{0,20})\s{0,2}\(\s{0,2}(?:(?:"[^"\n]{0,200}"|'[^'\n]{0,200}'|[\w.]{1,40})\s{0,2},\s{0,2}){1,2}|securestring\s{1,3}(?:-string\s{1,3})?)(?:"([^"\n]{1,128})"|'([^'\n]{1,128})')/diy,
    check: (hit) =>
      isGiven(hit) &&
      (!/^auth/i.test(hit.text.slice(hit.at, hit.at + 4)) ||
        /(?:basic|digest)_?$/i.test(hit.text.slice(Math.max(0, hit.at - 7), hit.at)) ||
        looksLikePassword(hit.secret)),
  },
  {
    id: 'spoken-secret',
    category: 'password',
    source: 'what people write to each other, and what programs print once: "the password is …"',
    hints: ['passw', 'pwd', 'pw ', 'passphrase', 'pass ', 'token', 'secret', 'key', 'community'],
    pattern:
      /(?:password|passwd|passwort|pwd|pw|passphrase|pass|token|secret|(?<=(?:api|access|secret|private|auth|licen[cs]e|unseal|signing|encryption)[ _-]?)key|community)(?:[ \t](?:is |was |has been )?(?:generated|created|reset|set|changed|issued|for|of)[\w .@'-]{0,60}:[ \t]{1,3}|[ \t](?:for|of|on)[ \t][\w.@'/-]{1,40}(?:[ \t][\w.@'/-]{1,40})?[ \t](?:is|was)[ \t:]{1,3}|[*_]{0,2}["'`]?(?:[ \t]{1,4}(?:is|was|lautet|to|=|:|0|5|7)?[ \t:]{0,3}|[ \t]{0,20}\|[ \t]{0,20}))["'`*]{0,2}([^\s"'`<>|,;(){}\\.:][^\s"'`<>|,;(){}\\]{3,512})/diy,
    check: isSpoken,
    general: true,
  },
  {
    id: 'spoken-login',
    category: 'password',
    source: 'what people write to each other: log in with user / password',
    hints: ['login', 'log in', 'creds', 'credentials'],
    pattern:
      /(?:log ?in|creds|credentials)(?: (?:with|as|are|is|for [\w.-]{1,40}))?:?[ \t]{1,3}[`"']?[\w.@-]{1,64}[`"']? \/ [`"']?([^\s"'`<>|,;(){}]{6,128})/diy,
    check: ({ secret }) => !isPlaceholder(secret) && looksLikePassword(secret),
  },
  {
    id: 'expect-send',
    category: 'password',
    source: 'expect(1): what a script types, which is a command or an answer to a password prompt',
    hints: ['send "', 'send -- "'],
    pattern: /send (?:-- )?\\?"([^\s"\\]{6,128})\\{1,2}[rn]/diy,
    check: ({ secret }) => !isPlaceholder(secret) && looksLikePassword(secret),
  },
  {
    id: 'network-device-key',
    category: 'password',
    source:
      'Cisco IOS: snmp-server user … auth … priv …, tacacs-server and radius-server … key, username … secret; Junos; wpa_supplicant',
    hints: [
      'auth sha',
      'auth md5',
      'priv aes',
      'priv des',
      'priv 3des',
      'tacacs',
      'radius',
      'username ',
      'key-string ',
      'pre-shared-key ',
      'wpa-psk ',
      'password-value ',
    ],
    pattern:
      /(?:(?:auth (?:sha(?:-\d{3})?|md5)|priv (?:aes|3?des))(?: \d{3})?|(?:tacacs|radius)(?:-server)?[^\n]{0,60}? key(?: \d)?|username \S{1,64}(?: privilege \d{1,2})? (?:secret|password) \d|key-string|pre-shared-key|wpa-psk|password-value)[ \t]{1,3}["']?([^\s"']{6,256})/diy,
    check: ({ secret, text, at }) =>
      !isPlaceholder(secret) &&
      (looksLikePassword(secret) ||
        (/^(?:username|key-|pre-|wpa|passw)/i.test(text.slice(at, at + 8)) && /\d/.test(secret))),
  },
  {
    id: 'otp-secret',
    category: 'password',
    source: 'github.com/google/google-authenticator: key URIs; RFC 6238: a shared secret, in base32',
    hints: ['otpauth://', 'otp_secret', 'otp-secret', 'otpsecret', 'mfa_secret'],
    pattern:
      /(?:otpauth:\/\/[^\s"']{0,200}?[?&]secret=|(?:otp|mfa)[_-]?secret["']?\s{0,3}[:=]\s{0,3}["']?)([A-Za-z2-7]{16,128})(?![a-z0-9])/diy,
    check: ({ secret }) => !isPlaceholder(secret),
  },
  {
    id: 'redis-monitor',
    category: 'password',
    source: 'redis.io/docs/latest/commands/monitor: AUTH as older servers show it',
    hints: ['"auth" "'],
    pattern: /"AUTH" (?:"[^"\n]{1,64}" )?"([^"\n]{3,256})"/diy,
    // `"AUTH" "failed"` is what a client says.
    check: (hit) => isGiven(hit) && (hit.text[hit.at - 2] === ']' || looksLikePassword(hit.secret)),
  },
  {
    id: 'redis-auth',
    category: 'password',
    source: 'redis.io/docs/latest/commands/auth; RFC 959 §5.3.1 (PASS)',
    hints: ['auth ', 'pass '],
    pattern:
      /(?<=(?:^|[>\n])[ \t]{0,3})(?:AUTH|PASS)[ \t](?:[\w.-]{1,40}[ \t])?([^\s"'`<>|,;(){}]{6,256})[ \t\r]*(?=\n|$)/dy,
    check: ({ secret }) => !isPlaceholder(secret) && looksLikePassword(secret),
  },
];

/** Only the words around say that it is one, so it must look like one; a password in quotes behind `is` may be a word. */
function isSpoken({ text, at, start, secret }: Hit): boolean {
  const value = secret.replace(/[.:!?*]+$/, '');
  if (isPlaceholder(value)) return false;
  const between = text.slice(at, start);
  if (/^(?:pass|pwd?|community)/i.test(between))
    return (
      looksLikePassword(value) ||
      (/ (?:is|was|lautet) ["'`]$/.test(between) && /^password/i.test(between)) ||
      // In quotes behind the word itself, or behind what a program says that has made it.
      (/^pass(?:word|phrase)(?: ["'`]| (?:is )?(?:generated|created)[^:]{0,60}: )$/i.test(between) &&
        /\d/.test(value) &&
        value.length >= 8)
    );
  return looksRandom(value) && /[a-z]/i.test(value) && value.length >= 16 && !value.includes(':');
}
