import { isPlaceholder, looksLikePassword, looksRandom, shannon, turns, wordiness } from '../randomness.ts';
import type { Hit, Rule, Span } from '../rule.ts';
import { secretNameOf } from './secret-names.ts';

// `name = value` in the notations of configuration files, code, JSON, YAML, XML, HCL and query strings. The format is that of
// gitleaks generic-api-key and detect-secrets KeywordDetector; what counts as a name is decided by its words (secret-names.ts).
const quote = String.raw`(?:\\{0,3}["'\`]|&(?:quot|apos|#3[49]);|%2[27])`;
const closers = String.raw`(?: (?:key|token|secret|value|id))?(?: \d{1,2})?(?:${quote}|\]){0,3}(?:\*{1,2}(?=[ :]))?`;
const separators = [
  // The value stands in the next field: `name: X, value: Y`, `variable "x" { default = "y" }`, <key>x</key><string>y</string>.
  String.raw`(?:,\s{0,30}|\s{1,30})${quote}?(?:string_?)?value${quote}?\s{0,3}[:=]`,
  String.raw`\s?\{[^{}]{0,200}?\bdefault\s{0,3}=`,
  String.raw`(?:<\/\w{1,20})?>\s{0,20}<\w{1,20}>`,
  // `password: str = "…"`, `password string = "…"`
  String.raw`[ \t]{0,2}:?[ \t]{1,2}[a-z][\w.]{2,20}\??[ \t]{0,2}=(?=[ \t]{0,3}["'\`])`,
  // `::` of LDIF
  String.raw`\s{0,3}(?::=|::(?= )|\?=|\|\|=|=>|->|==?|:|>)`,
  '%3[ad]',
  String.raw`,(?=\s{0,3}${quote})`,
  String.raw`\((?=\s{0,2}["'\`])`,
];
// An empty value does not take the next line: what stands there must be no assignment itself (and be indented: below).
const nextLine = String.raw`(?:[|>][+-]?\d?[ \t]{0,4})?\r?\n[ \t]{0,40}(?!["']?[\w.-]{1,60}["']?[ \t]{0,3}(?::\s|=[^\s=]))`;
const openers = String.raw`[ \t]{0,8}(?:${nextLine})?(?:\*{1,2} ?)?(?:![a-z]{1,12}[ \t]{1,3})?(?:\[\]string\{|<!\[CDATA\[|\[(?=\\{0,3}["'])|\{(?=[^\s{}]{3,128}\}))?(?:[rbufn]?(?:"{3}|'{3}|${quote}(?!\`)))?`;
// Each way a value can stand; a group each, the first that fits counts.
const value = `(?:${[
  // In double quotes, with an escape at its beginning; further on `toQuote` reads it.
  String.raw`(?<=(?<!\\)")(?=[^"\\\r\n]{0,2}\\["\\/])((?:[^"\\\r\n]|\\["\\/]){3,256})(?=")`,
  // In quotes, blanks and commas belong to it.
  String.raw`(?<=["'\`])([^"'\`\\<>\r\n]{3,256})(?=["'\`])`,
  String.raw`(?<=["'\`])([^\s"'\`\\<>]{1,2}[<>][^\s"'\`\\]{2,256})(?=["'\`])`,
  String.raw`(?<=')([^\s'\\<>]{1,2}["\`][^\s'\\]{2,256})(?=')`,
  // An element's text goes to its end, a field of a connection string to the next one.
  String.raw`(?<=>\s{0,40})([^\s<>]{3,256})(?=\s{0,40}<\/)`,
  String.raw`(?<=;[ ]?[\w ]{2,20}=)([^\s;"'\`\\]{3,256})(?=;[\w ]{2,30}=|;?\s{0,3}$)`,
  // Where it ends a line, signs belong to it that end it elsewhere; but a call, a type, an element and a list of fields are none.
  String.raw`(?<=[:=][ \t]{0,8})(?![\w.$:]{2,60}(?:\([^\n]{0,200}\)|<[^\n]{0,200}>)[\s;,\]}]{0,8}(?:\n|$))(?!\S{0,256}(?:[&;,|?][\w.-]{1,40}[=:]|<\/))([^\s"'\`\\<>,;&(){}[][^\s"'\`\\]{1,255}[^\s"'\`\\;,)}\]>])(?=[;,)}\]>]{0,4}[ \t]{0,8}(?:\r?\n|$))`,
  String.raw`([^\s"'\`\\<>,;&(){}]{3,256})`,
].join('|')})`;

const proseWords =
  /^(?:files?|compat|ldap|sss|systemd|required|optional|none|null|nil|true|false|yes|no|on|off|string|str|text|bool|boolean|integer|number|object|secret|password|passwort|kennwort|passwd|token|incorrect|invalid|expired|changed|reset|missing|empty|unset|set|authentication|prompt|default|hidden|masked|encrypted|plaintext|undefined|disabled|enabled|failed|success|ok|rotated|updated|peer|trust|md5|scram-sha-\d+|varchar\S*|bcrypt|argon2\S*)[.:!?]?$|^(?:your|enter|repeat|confirm|new|current|old|forgot|invalid|wrong) /i;
const isFile =
  /^[/~.]{1,2}[\w-]+\/|\.(?:pem|key|crt|cer|json|ya?ml|txt|sh|py|go|js|ts|html?|conf|cfg|jks|p12|pfx)$|^https?:|^[a-z]+:\/\//i;

const inName = /[\w.-]/;
const restOfName = /[\w.-]+(?: (?:key|token|secret|id))?/iy;
const ownerBefore = /(?:^|\W)([a-z]{2,12} )$/i;

/** The whole name that the hint stands in: `--set image.password` is `image.password`, vendor or owner and all. */
function nameOf({ text, at }: Hit): string {
  let from = at;
  while (from > 0 && at - from < 60 && inName.test(text[from - 1] as string)) from--;
  // `private key: …`, `public key: …`
  if (/^key/i.test(text.slice(from, from + 3)))
    from -= ownerBefore.exec(text.slice(Math.max(0, from - 14), from))?.[1]?.length ?? 0;
  restOfName.lastIndex = at;
  return text.slice(from, at) + (restOfName.exec(text)?.[0] ?? '');
}

/** `arn:aws:secretsmanager:eu-west-1:123456789012:secret:name` names a secret. */
const inArn = /\barn:[\w-]{1,20}:[\w:-]{2,80}:$/;
/** CloudFormation: what follows names something. */
const reference = /!(?:Ref|GetAtt|Sub|ImportValue)\s+$/;
/** `checksum/secret: …`, by which a chart restarts pods when a secret changes. */
const inChecksum = /(?:checksum|hash|digest)\/$/i;
/** Calls that take a secret as what it is; others (`getPassword("db")`) take a name. */
const setter =
  /(?:^|[._])(?:set|with|use|add)?_?\w{0,24}passw(?:or)?d$|(?:^|[._])(?:set|with)\w{0,24}pass(?:phrase)?$/i;
const getter =
  /(?:^|[._])(?:get|find|read|load|lookup|fetch|require|need|validate|check|verify|is|has|hash|ask|prompt|reset|forgot|generate|resolve|mask)/i;

/** `act_ek9ypmhhx7pw:<SHA-256>`, as a button names a plan: an id of ours (core/new-id.ts) may end like a name for a secret. */
const ownId = /^(?:act|tc|den)_[0-9a-z]{12}$/;
const ownHash = /^[0-9a-f]{64}$/;

/** Signs that end a value in most places, and may stand in a password. */
const ends = /[<>,;&(){}]/;

function isSecret(hit: Hit): boolean {
  const { text, start, end } = hit;
  if (text[hit.at - 1] === ':' && inArn.test(text.slice(Math.max(0, hit.at - 110), hit.at))) return false;
  const name = nameOf(hit);
  if (ownId.test(name) && ownHash.test(text.slice(start, end))) return false;
  if (text[hit.at - 1] === '/' && inChecksum.test(text.slice(Math.max(0, hit.at - 10), hit.at))) return false;
  const named = secretNameOf(name);
  // Nobody chooses a token: it has none of these signs.
  const secret = named?.head === 'password' ? hit.secret : (hit.secret.split(ends, 1)[0] ?? '');
  if (named === null || isPlaceholder(secret) || text[end] === '(' || /^[!=~]/.test(secret)) return false;
  const between = text.slice(hit.at, start);
  if (!isItsValue(hit, between)) return false;
  if (reference.test(between)) return false;
  const isCall = /\(\s*["'`]$/.test(between);
  if (isCall && getter.test(name)) return false;
  if (named.head === 'password')
    return (!isCall || setter.test(name)) && isPassword(hit, between, named.last);
  if (isFile.test(secret)) return false;
  if (named.head === 'session')
    return looksRandom(secret) && inCookie.test(text.slice(Math.max(0, hit.at - 200), hit.at));
  if (looksRandom(secret)) return named.head !== 'any-key' || isKeyOfAny(hit, name);
  if (/^x-/i.test(name)) return looksLikePassword(secret);
  return named.mayBeWord && /^[A-Z0-9_]+$/.test(name) && /=["'`]?$/.test(between) && !/[-./]/.test(secret);
}

/** A session is a secret where it is sent; elsewhere it is a number that people look for. */
const inCookie = /cookie["']?\s{0,3}[:=,][^\n]*$|\s(?:-b|--cookie)\s[^\n]*$/i;

/** Not something that only stands near the name. */
function isItsValue({ text, at, end }: Hit, between: string): boolean {
  // In JSON, what a colon follows is the next name.
  if (/[,:]\s*["'`]$/.test(between) && /^["'`]\s{0,3}:/.test(text.slice(end, end + 5))) return false;
  // `a > b` compares; `<token> value </token>` is an element.
  if (/>\s*$/.test(between) && !/[=-]>\s*$/.test(between) && !/^\s{0,40}<\//.test(text.slice(end, end + 50)))
    return /[|>]/.test(between) && between.includes('\n') && isDeeper(text, at, between);
  return (
    !between.includes('\n') || isDeeper(text, at, between) || /^\s{0,40}<\//.test(text.slice(end, end + 50))
  );
}

/** Whether the value's line is indented further than the name's. */
function isDeeper(text: string, at: number, between: string): boolean {
  const line = text.slice(Math.max(text.lastIndexOf('\n', at - 1) + 1, at - 200), at);
  const depth = /^[ \t]*(?:- )?/.exec(line)?.[0].length ?? 0;
  const its = /[ \t]*(?=\S*$)/.exec(between.slice(between.lastIndexOf('\n') + 1))?.[0].length ?? 0;
  return its > depth || /[,{]\s*["'`]?value|default/i.test(between) || /^[ \t]*- /.test(line);
}

const isUuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

function isKeyOfAny({ text, at, secret }: Hit, name: string): boolean {
  if (/^x-/i.test(name) || /[?&]/.test(text[at - 1] ?? ' ')) return true;
  return (
    secret.length >= 20 &&
    !isUuid.test(secret) &&
    shannon(secret) >= 3.5 &&
    turns(secret) > 0.2 &&
    wordiness(secret) < 0.42
  );
}

function isPassword({ text, at, secret, end }: Hit, between: string, last: boolean): boolean {
  if (proseWords.test(secret) || /^[\d.%]{1,5}$/.test(secret) || /^\$|^[/~][\w.-]*(?:\/|$)/.test(secret))
    return false;
  if (!last || secret.split(' ').length > 4) return looksRandom(secret);
  // `PASS: TestOrders` is what a test runner says.
  if (text.startsWith('PASS:', at) && /^PASS:\s/.test(between)) return looksLikePassword(secret);
  if (/(?:["'`=>]|quot;|%2[27]|%3d)\s*$|\{$/i.test(between)) return true;
  // `password: word` ends its line in YAML and goes on in prose.
  return looksLikePassword(secret) || /^[ \t]*(?:\r?\n|$|#|\\n|,|})/.test(text.slice(end, end + 40));
}

/** Quoted values end at their quote, so that a password with a comma or a blank is hidden whole. */
function toItsEnd(text: string, { start, end }: Span): number {
  const opening = text[start - 1];
  if (opening === '"' || opening === "'" || opening === '`')
    return toQuote(text, end, opening, text[start - 2] === '\\');
  if (/%2[27]$|%3d$/i.test(text.slice(Math.max(0, start - 3), start))) {
    const stop = text.slice(start, end).search(/%2[267c]/i);
    return stop > 0 ? start + stop : end;
  }
  return end;
}

/** The next quote that no backslash takes back; one whose opening is escaped ends at a backslash. */
function toQuote(text: string, end: number, opening: string, isEscaped: boolean): number {
  for (let at = end; at < text.length && at - end <= 256; at++) {
    if (text[at] === opening) return at;
    if (text[at] === '\n' || (text[at] === '\\' && isEscaped)) return end;
    if (text[at] === '\\') at++;
  }
  return end;
}

export const assignmentRules: readonly Rule[] = [
  {
    id: 'assigned-secret',
    category: 'password',
    source: 'gitleaks generic-api-key (and its vendor rules of the same shape), detect-secrets keyword',
    hints: [
      'passw',
      'passphrase',
      'passcode',
      'passe',
      '_pass',
      '-pass',
      '.pass',
      'dbpass',
      'pgpass',
      'pass=',
      'pass:',
      'pass"',
      "pass'",
      'pass ',
      'pw',
      'psk',
      'senha',
      'kennwort',
      'wachtwoord',
      'secret',
      'token',
      'credential',
      'creds',
      'sess',
      'sid',
      'key',
      'auth',
    ],
    pattern: new RegExp(
      String.raw`[\w.-]{2,64}${closers}(?:${separators.join('|')})${openers}${value}`,
      'diy',
    ),
    extend: toItsEnd,
    check: isSecret,
    general: true,
  },
];
