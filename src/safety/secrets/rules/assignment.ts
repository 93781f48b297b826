import { isPlaceholder, looksRandom, shannon, turns, wordiness } from '../randomness.ts';
import type { Hit, Rule } from '../rule.ts';

// `name = value` in the notations of configuration files, code, JSON, YAML, XML and query strings. The format is that of
// gitleaks generic-api-key and detect-secrets KeywordDetector; what counts as a name is decided by its words (below).
const closers = String.raw`(?: (?:key|token|secret|value|id))?\\?["'\`\]]{0,2}`;
const separator = String.raw`(?:\s{0,3}(?::=|\?=|\|\|=|=>|->|==?|:|>)|,(?=\s{0,3}\\?["'\`])|\s{1,4}value\s{0,2}=)`;
const openers = String.raw`\s{0,8}(?:[rbuf]?\\?(?:"{3}|'{3}|["'\`](?!\`)))?`;
// In quotes, blanks and commas belong to it.
const value = String.raw`((?<=["'\`])[^"'\`\\<>\r\n]{4,256}(?=["'\`])|[^\s"'\`\\<>,;&(){}]{4,256})`;

const password = /^(?:passw(?:or)?d|passwort|pwd|passphrase|pass)$/;
const passwordEnd = /(?:passw(?:or)?d|passphrase|[a-z]pwd)$/;
const strong = /^(?:token|secret|apikey|credential|credentials|creds|auth|authkey|accesskey|secretkey)$/;
const strongEnd = /(?:token|secret|apikey|authkey|secretkey|accesskey|credentials)$/;
const keyOwners =
  /^(?:api|app|application|access|secret|auth|private|encryption|encrypt|signing|sign|account|storage|shared|service|master|licen[cs]e|deploy|client|subscription|admin|integration|ingest|insert|session|webhook|hmac|consumer|root|rest|write|read|server|project|security|crypto|aes|jwt|rsa|cipher|bot|user)$/;
const harmlessOwners =
  /^(?:public|pub|publishable|primary|foreign|hot|idx|natural|schema|sequence|bucket|partition|sort|routing|cache|row|object|idempotency|dedup|group|grouping|lookup|hash|range|shard|message|event|ui|react|csrf|xsrf|next|page|continue|continuation|pagination|cursor|sync|stop|start|end|lex|registry|not|no|max|min|num|random|known|entry|host|map|dict|json|label|config|answer|metadata|sourcetoken|anti|forgery)$/;
const harmlessAfter =
  /^(?:id|ids|name|names|type|types|file|files|filename|path|paths|dir|directory|folder|url|urls|uri|ref|refs|version|length|len|size|count|limit|limits|budget|ttl|expiry|expires|expired|expiration|expire|age|alias|aliases|algorithm|alg|hash|class|pair|pairs|store|ring|vault|selector|field|fields|column|columns|header|prefix|suffix|format|policy|method|mode|enabled|enable|required|used|usage|usages|time|timeout|at|date|status|state|error|errors|endpoint|provider|namespace|index|fingerprint|thumbprint|tag|tags|label|labels|arn|code|mesh|board|word|words|press|frame|number|num|per|max|min|group|role|kind|scope|issuer|audience|mount|exists|operator|controller|driver|template|schema|rotation|source|location|bucket|manager|parser|validator|provider|service|server|client|lifetime|duration|interval|renewal|review|request|requests|reviews|auth|command|cmd|env|var|variable|reference|generator|helper|regex|pattern|rule|rules|handler|backend|hint|reset|changed|change|stone|chain|spec|set|up|down|left|right|bits|material|entropy|strength|encryption|lookup|entry|entries|owner|user|username|in|is)$/;

interface Named {
  readonly head: 'password' | 'strong' | 'key' | 'any-key';
  /** The head ends the name; `todo_secret_do_not_commit` does not. */
  readonly last: boolean;
}

/** What a name says about its value, by the last of its words that says anything; null when it is no secret. */
function readName(name: string): Named | null {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '');
  for (let i = words.length - 1; i >= 0; i--) {
    const word = words[i] as string;
    const last = i === words.length - 1;
    const owner = words[i - 1] ?? '';
    if (password.test(word) || passwordEnd.test(word))
      return word === 'pass' && !last ? null : { head: 'password', last };
    if (strong.test(word) || strongEnd.test(word))
      return harmlessOwners.test(owner) ? null : { head: 'strong', last };
    if (
      word === 'key' ||
      (word.length > 5 && keyOwners.test(word.replace(/key$/, '')) && word.endsWith('key'))
    )
      return harmlessOwners.test(owner)
        ? null
        : { head: word !== 'key' || keyOwners.test(owner) ? 'key' : 'any-key', last };
    if (harmlessAfter.test(word)) return null;
  }
  return null;
}

const proseWords =
  /^(?:files?|compat|ldap|sss|systemd|required|optional|none|null|true|false|yes|no|string|str|text|bool|boolean|integer|number|object|secret|password|passwd|token|incorrect|invalid|expired|changed|reset|missing|empty|unset|set|authentication|prompt|default|hidden|masked|encrypted|plaintext|undefined|disabled|enabled|failed|success|ok|rotated|updated|peer|trust|md5|scram-sha-\d+|varchar\S*|bcrypt|argon2\S*)[.:!?]?$/i;

const inName = /[\w.-]/;
const restOfName = /[\w.-]+(?: (?:key|token|secret|id))?/iy;

/** The whole name that the hint stands in: `--set image.password` is `image.password`, vendor or owner and all. */
function nameOf({ text, at }: Hit): string {
  let from = at;
  while (from > 0 && at - from < 60 && inName.test(text[from - 1] as string)) from--;
  restOfName.lastIndex = at;
  return text.slice(from, at) + (restOfName.exec(text)?.[0] ?? '');
}

/** Names repeat from line to line; what was read of them is kept, up to a bound. */
const readNames = new Map<string, Named | null>();

function readOnce(name: string): Named | null {
  let named = readNames.get(name);
  if (named === undefined) {
    if (readNames.size >= 1_000) readNames.clear();
    named = readName(name);
    readNames.set(name, named);
  }
  return named;
}

/** `arn:aws:secretsmanager:eu-west-1:123456789012:secret:name` names a secret. */
const inArn = /\barn:[\w-]{1,20}:[\w:-]{2,80}:$/;

function isSecret(hit: Hit): boolean {
  const { text, secret, start, end } = hit;
  if (text[hit.at - 1] === ':' && inArn.test(text.slice(Math.max(0, hit.at - 110), hit.at))) return false;
  const named = readOnce(nameOf(hit));
  if (named === null || isPlaceholder(secret) || text[end] === '(' || /^[!=~]/.test(secret)) return false;
  const between = text.slice(hit.at, start);
  // `a > b` compares; `<token> value </token>` is an element.
  if (/>\s*$/.test(between) && !/[=-]>\s*$/.test(between) && !/^\s{0,8}<\//.test(text.slice(end, end + 12)))
    return false;
  if (named.head === 'password') return isPassword(secret, between, text, end, named.last);
  if (
    /^[/~.]{1,2}[\w-]+\/|\.(?:pem|key|crt|cer|json|ya?ml|txt|sh|py|go|js|ts|html?|conf|cfg|jks|p12|pfx)$|^https?:|^[a-z]+:\/\//i.test(
      secret,
    )
  )
    return false;
  if (named.head === 'any-key')
    return (
      secret.length >= 20 &&
      looksRandom(secret) &&
      shannon(secret) >= 3.5 &&
      turns(secret) > 0.2 &&
      wordiness(secret) < 0.42
    );
  return looksRandom(secret);
}

function isPassword(secret: string, between: string, text: string, end: number, last: boolean): boolean {
  if (proseWords.test(secret) || /^[\d.%]{1,5}$/.test(secret) || /^\$|^(?:\/|~\/)[\w.-]+\//.test(secret))
    return false;
  if (!last || secret.split(' ').length > 4) return looksRandom(secret);
  if (/["'`]$|=\s*$|>\s*$/.test(between)) return true;
  // `password: word` ends its line in YAML and goes on in prose.
  return looksRandom(secret) || /^[ \t]*(?:\r?\n|$|#|\\n|,|})/.test(text.slice(end, end + 40));
}

/** Quoted values end at their quote, so that a password with a comma or a blank is hidden whole. */
function toQuote(text: string, { start, end }: { readonly start: number; readonly end: number }): number {
  const quote = text[start - 1];
  if (quote !== '"' && quote !== "'" && quote !== '`') return end;
  const closing = text.indexOf(quote, end);
  if (closing === -1 || closing - end > 256) return end;
  const rest = text.slice(end, closing);
  return /[\n\\]/.test(rest) ? end : closing;
}

export const assignmentRules: readonly Rule[] = [
  {
    id: 'assigned-secret',
    category: 'password',
    source: 'gitleaks generic-api-key (and its vendor rules of the same shape), detect-secrets keyword',
    hints: [
      'passw',
      'pwd',
      'passphrase',
      '_pass',
      '.pass',
      'pass=',
      'secret',
      'token',
      'credential',
      'creds',
      'key',
      'auth',
    ],
    pattern: new RegExp(String.raw`[\w.-]{2,64}${closers}${separator}${openers}${value}`, 'diy'),
    extend: toQuote,
    check: isSecret,
    general: true,
  },
];
