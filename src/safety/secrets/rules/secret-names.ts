// What counts as the name of a secret is decided by its words, the last that says anything first.

const password =
  /^(?:passw(?:or)?d|passwort|kennwort|senha|wachtwoord|passe|pwd|pw|psk|passphrase|passcode|pass|authtok)$/;
const passwordEnd =
  /(?:passw(?:or)?d|passphrase|[a-z]pwd|(?:db|sql|pg|my|root|bind|admin|user|login|app|web|http|proxy|ldap|smtp|mail|ftp|ssh|vnc|redis|mongo|key|store)(?:pass|pw))$/;
const strong =
  /^(?:token|secret|apikey|credential|credentials|creds|auth|authentication|authkey|accesskey|secretkey)$/;
const strongEnd = /(?:token|secret|apikey|authkey|secretkey|accesskey|credentials)$/;
const session = /^(?:session|sess|sid|sessid|sessionid|jsessionid|phpsessid)$/;
const keyOwners =
  /^(?:api|app|application|access|secret|auth|private|encryption|encrypt|signing|sign|account|storage|shared|service|master|licen[cs]e|deploy|client|subscription|admin|integration|ingest|ingestion|insert|session|webhook|hmac|consumer|root|rest|write|read|server|project|security|crypto|aes|jwt|rsa|cipher|bot|user|unseal)$/;
const harmlessOwners =
  /^(?:public|pub|publishable|primary|foreign|hot|idx|natural|schema|sequence|bucket|partition|sort|routing|cache|row|object|idempotency|dedup|group|grouping|lookup|hash|range|shard|message|event|ui|react|csrf|xsrf|next|page|continue|continuation|pagination|cursor|sync|stop|start|end|lex|registry|not|no|max|min|num|random|known|entry|host|map|dict|json|label|config|answer|metadata|sourcetoken|anti|forgery|goog|amz)$/;
const harmlessAfter =
  /^(?:id|ids|name|names|type|types|file|files|filename|path|paths|dir|directory|folder|url|urls|uri|ref|refs|version|length|len|size|count|limit|limits|budget|ttl|expiry|expires|expired|expiration|expire|age|alias|aliases|algorithm|alg|hash|class|pair|pairs|store|ring|vault|selector|field|fields|column|columns|header|prefix|suffix|format|policy|method|mode|enabled|enable|required|used|usage|usages|time|timeout|at|date|status|state|error|errors|endpoint|provider|namespace|index|fingerprint|thumbprint|tag|tags|label|labels|arn|code|mesh|board|word|words|press|frame|number|num|per|max|min|group|role|kind|scope|issuer|audience|mount|exists|operator|controller|driver|template|schema|rotation|source|location|bucket|manager|parser|validator|provider|service|server|client|lifetime|duration|interval|renewal|review|request|requests|reviews|auth|command|cmd|env|var|variable|reference|generator|helper|regex|pattern|rule|rules|handler|backend|hint|reset|changed|change|stone|chain|spec|set|up|down|left|right|bits|material|entropy|strength|encryption|lookup|entry|entries|owner|user|username|in|is)$/;
/** `JWT_SECRET=swordfish` holds a password; `SECRET_NAME` and `TLS_SECRET` name an object of a cluster. */
const wordSecretOwners =
  /^(?:|jwt|session|cookie|client|app|auth|oauth|webhook|signing|shared|hmac|api|csrf|encryption)$/;

export interface SecretName {
  readonly head: 'password' | 'strong' | 'key' | 'any-key' | 'session';
  /** The head ends the name; `todo_secret_do_not_commit` does not. */
  readonly last: boolean;
  /** A variable of the environment whose value may be a word. */
  readonly mayBeWord: boolean;
}

/** `_session_id`: what names an id elsewhere is the whole proof in a cookie. */
const sessionId = /(?:^|[._-])sess(?:ion)?[_-]id$/i;

/** Null when the name is no secret's. */
function readName(name: string): SecretName | null {
  if (sessionId.test(name)) return { head: 'session', last: true, mayBeWord: false };
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '');
  for (let i = words.length - 1; i >= 0; i--) {
    const word = words[i] as string;
    const last = i === words.length - 1;
    const head = headOf(word, words[i - 1] ?? '', last);
    if (head === 'none') return null;
    if (head !== undefined)
      return {
        head,
        last,
        mayBeWord: last && word === 'secret' && wordSecretOwners.test(words[i - 1] ?? ''),
      };
    if (harmlessAfter.test(word)) return null;
  }
  return null;
}

/** What a word says of the name; `none`: it is not a secret's; undefined: nothing. */
function headOf(word: string, owner: string, last: boolean): SecretName['head'] | 'none' | undefined {
  if (password.test(word) || passwordEnd.test(word)) return word === 'pass' && !last ? 'none' : 'password';
  if (strong.test(word) || strongEnd.test(word)) return harmlessOwners.test(owner) ? 'none' : 'strong';
  if (word === 'key' || (word.length > 5 && word.endsWith('key') && keyOwners.test(word.slice(0, -3)))) {
    if (harmlessOwners.test(owner)) return 'none';
    return word !== 'key' || keyOwners.test(owner) ? 'key' : 'any-key';
  }
  return last && session.test(word) ? 'session' : undefined;
}

/** Names repeat from line to line; what was read of them is kept, up to a bound. */
const readNames = new Map<string, SecretName | null>();

/** What a name says about its value, by the last of its words that says anything; null when it is no secret. */
export function secretNameOf(name: string): SecretName | null {
  let named = readNames.get(name);
  if (named === undefined) {
    if (readNames.size >= 1_000) readNames.clear();
    named = readName(name);
    readNames.set(name, named);
  }
  return named;
}
