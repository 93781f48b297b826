/** Eight digits: two of a hundred values share one once in 20,000 incidents, and then the second takes the next number. */
export const NUMBERS = 100_000_000;

/** Which placeholder stands for whom, kept over a conversation so that the model can tell people and hosts apart. */
export interface PersonalNames {
  /** The placeholder of a value: the same for the same value, for as long as this object lives. */
  readonly placeholderOf: (kind: PersonalKind, value: string) => string;
  /** Puts the values back; placeholders that were never given out stay. */
  readonly restore: (text: string) => string;
}

type PersonalKind = 'email' | 'public-ip' | 'private-ip';

/** `numberOf` gives a new value its number; where another has that one, it takes the next. `what`: the kind and the value. */
export function personalNames(numberOf: (kind: PersonalKind, what: string) => number): PersonalNames {
  const names = new Map<string, string>();
  const values = new Map<string, string>();
  return {
    placeholderOf(kind, value) {
      const what = `${kind} ${value.toLowerCase()}`;
      const known = names.get(what);
      if (known !== undefined) return known;
      for (let number = numberOf(kind, what); ; number = (number + 1) % NUMBERS) {
        const name = `[redacted:${kind}#${number}]`;
        if (values.has(name)) continue;
        names.set(what, name);
        values.set(name, value);
        return name;
      }
    },
    restore: (text) =>
      text.replace(
        /\[redacted:(?:email|public-ip|private-ip)#\d{1,9}\]/g,
        (name) => values.get(name) ?? name,
      ),
  };
}

/** Placeholders of one kind are numbered as they come. */
export function createPersonalNames(): PersonalNames {
  const counts = new Map<PersonalKind, number>();
  return personalNames((kind) => {
    const number = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, number);
    return number;
  });
}

// The local part is bounded (RFC 5321 §4.5.3.1.1), so that a long run of letters costs no more than its length times 64.
const email =
  /(?<![A-Za-z0-9._%+-])[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9-])/g;
const ipv4 =
  /(?<![\w.:-]|\d\.)(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\w-]|\.\d)/g;
const ipv6 =
  /(?<![\w:.])(?:[0-9a-f]{1,4}:){2,7}(?::?[0-9a-f]{1,4}){0,6}(?:::)?(?![\w:])|(?<![\w:.])::(?:[0-9a-f]{1,4}:){0,6}[0-9a-f]{1,4}(?![\w:])|(?<![\w:.])(?:[0-9a-f]{1,4}:){1,6}:(?:[0-9a-f]{1,4}:){0,5}[0-9a-f]{1,4}(?![\w:])/gi;

/** systemd's `unit@instance.service` and git's `git@host` are no one's address. */
const noAddress =
  /\.(?:service|socket|timer|target|slice|mount|scope|local|internal|svc|cluster|png|jpe?g|svg)$|^git@/i;

/**
 * Replaces e-mail addresses and public IP addresses (private ones too with `privateIps`) by placeholders that keep them apart.
 * For what goes to a model; not part of `redact`, since operations text is full of addresses that people need.
 */
export function redactPersonal(
  text: string,
  {
    privateIps = false,
    names = createPersonalNames(),
  }: { readonly privateIps?: boolean; readonly names?: PersonalNames } = {},
): string {
  const hide = (address: string): string => {
    const open = isPrivate(address);
    return open && !privateIps ? address : names.placeholderOf(open ? 'private-ip' : 'public-ip', address);
  };
  return text
    .replace(email, (address) => (noAddress.test(address) ? address : names.placeholderOf('email', address)))
    .replace(ipv4, hide)
    .replace(ipv6, (address) => (isIpv6(address) ? hide(address) : address));
}

/** A time (`12:30:45`) has colons too. */
function isIpv6(text: string): boolean {
  const groups = text.split(':').filter((group) => group !== '').length;
  const gaps = text.split('::').length - 1;
  return (gaps === 1 && groups < 8 && groups > 0) || (gaps === 0 && groups === 8);
}

/** Private, loopback, link-local, shared and documentation ranges: RFC 1918, 6598, 5737, 3927, 4193, 4291, 3849. */
function isPrivate(address: string): boolean {
  if (address.includes(':')) return /^(?:::1?$|f[cd]|fe[89ab]|2001:db8)/i.test(address);
  const [a = 0, b = 0, c = 0] = address.split('.').map(Number);
  return (
    a === 10 ||
    a === 127 ||
    a === 0 ||
    a >= 224 ||
    (a === 172 && b >= 16 && b < 32) ||
    (a === 192 && (b === 168 || (b === 0 && c === 2))) ||
    (a === 169 && b === 254) ||
    (a === 100 && b >= 64 && b < 128) ||
    (a === 198 && (b === 18 || b === 19 || (b === 51 && c === 100))) ||
    (a === 203 && b === 0 && c === 113)
  );
}
