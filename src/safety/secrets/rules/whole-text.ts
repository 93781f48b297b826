import { hasDigitsAndMore, isPlaceholder, isWordless, looksRandom, shannon, turns } from '../randomness.ts';
import type { Span, TextRule } from '../rule.ts';
import { kubernetesRules } from './kubernetes.ts';
import { listedRules } from './listed.ts';

/** The seed's numbers: Shannon entropy ≥ 4.5 over 40 and more characters. */
const MIN_LENGTH = 40;
const MIN_ENTROPY = 4.5;
/** A sample of a long run decides: entropy does not grow beyond its alphabet. */
const SAMPLE = 2_000;

const inRun = new Uint8Array(128);
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-')
  inRun[char.charCodeAt(0)] = 1;

/** Digests, pictures, anchors and public keys say what they are. */
const harmlessBefore =
  /(?:\bh1:|sha-?\d{1,3}(?:[-:=/]:?|["']?:? ["']?|=["'])|;base64,|(?:integrity|(?:content[-_ ]?|nar)?hash|digest|checksum|etag|if-(?:none-)?match|fingerprint|kid|cf-id|build[-_ ]?id)["']?(?:[=:]\s?| )(?:W\/)?["']?|(?:pub|public|publishable|verify|verification|peer)[_ -]?keys?[\w-]{0,12}["']?\s{0,3}[:=]\s{0,3}["']?|\bpeer:? |\.pub:? |(?:ssh-(?:rsa|ed25519)|ecdsa-sha2-nistp\d{3}) )$/i;

/** How the encoded public half of a key begins: SubjectPublicKeyInfo (RFC 5280) of RSA, EC and Ed25519, and RFC 4253. A private half begins otherwise. */
const publicHalf =
  /^(?:p=)?(?:MIGfMA0GC|MII[BC]IjANBg|M[FHI][kYG]b?wE[wA]YHKoZI|M[FC]owBQYDK2V|AAAA[BCEG][23n][NV][jzr])/;
/** The key and the signatures of signed mail (RFC 6376): `p=`, `bh=` and `b=`, which a line may break. */
const inSignedMail =
  /\b(?:dkim-signature|arc-(?:message-signature|seal)):(?:(?!\n\S)[\s\S]){0,1500}$|\bv=DKIM1;[^\n]{0,200}$|\bk=(?:rsa|ed25519);\s{0,3}$/i;
const inPublicBlock = /-----BEGIN [A-Z0-9 ]{0,30}PUBLIC KEY(?: BLOCK)?-----(?:(?!-----)[\s\S]){0,4000}$/;

/** The cheap questions first. Hexadecimal has 22 characters, so its entropy is below 4.46. */
function isRandomRun(run: string): boolean {
  return (
    hasDigitsAndMore(run) &&
    turns(run) >= 0.25 &&
    shannon(run) >= MIN_ENTROPY &&
    isWordless(run, 0.42) &&
    !isPlaceholder(run)
  );
}

function entropySpans(text: string, found: readonly Span[]): Span[] {
  const spans: Span[] = [];
  let at = 0;
  let next = 0;
  while (at + MIN_LENGTH <= text.length) {
    while (next < found.length && (found[next] as Span).end <= at) next++;
    const past = pastFound(text, at, found[next]);
    if (past > at) {
      at = past;
      continue;
    }
    // No run of 40 can cross a character that is not in one: look at the end of the window first, and jump.
    let back = at + MIN_LENGTH - 1;
    while (back >= at && inside(text, back)) back--;
    if (back >= at) {
      at = back + 1;
      continue;
    }
    let end = at + MIN_LENGTH;
    while (end < text.length && inside(text, end)) end++;
    spans.push(...randomParts(text, at, end));
    at = end + 1;
  }
  return spans;
}

/** From inside what is found already to the run that goes on behind it, or to its end: what lies between is found. */
function pastFound(text: string, at: number, found: Span | undefined): number {
  if (found === undefined || found.start > at) return at;
  let past = found.end;
  if (past < text.length && inside(text, past)) while (past > at && inside(text, past - 1)) past--;
  return past;
}

function inside(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code < 128 && inRun[code] === 1;
}

const assignedName = /^-{0,2}[A-Za-z][A-Za-z_-]{1,60}=(?=[^=])/;

/** A run may be `name=value` or a path whose one segment is random: the whole, or else its parts. */
function randomParts(text: string, start: number, end: number): Span[] {
  const name = assignedName.exec(text.slice(start, Math.min(end, start + 64)))?.[0] ?? '';
  // The `//` of an address is no part of what stands in it.
  const slashes = text[start - 1] === ':' && text.startsWith('//', start) ? 2 : 0;
  const from = start + (slashes || name.length);
  if (end - from < MIN_LENGTH) return [];
  const whole = text.slice(from, end);
  const parts = isRandomRun(whole.slice(0, SAMPLE)) ? [{ start: from, end }] : partsOf(whole, from);
  return parts.length > 0 && (isHarmless(text, start) || isHarmless(text, from)) ? [] : parts;
}

function partsOf(whole: string, start: number): Span[] {
  const parts: Span[] = [];
  let from = 0;
  for (let at = 0; at <= whole.length; at++) {
    const code = whole.charCodeAt(at);
    // `/`, `=`, or the end
    if (code !== 47 && code !== 61 && at < whole.length) continue;
    if (
      at - from >= MIN_LENGTH &&
      at - from < whole.length &&
      isRandomRun(whole.slice(from, Math.min(at, from + SAMPLE)))
    )
      parts.push({ start: start + from, end: start + at });
    from = at + 1;
  }
  return parts;
}

/** Identifiers of documents and pages stand in addresses, up to the query. */
function isHarmless(text: string, start: number): boolean {
  return (
    /:\/\/[^\s?]{0,400}$/.test(text.slice(Math.max(0, start - 420), start)) ||
    /^(?:bh=|build_?id=|sha-?(?:256|384|512)[-=/])/i.test(text.slice(start, start + 10)) ||
    harmlessBefore.test(text.slice(Math.max(0, start - 40), start)) ||
    publicHalf.test(text.slice(start, start + 20)) ||
    isSigned(text, start)
  );
}

/** What is searched for backwards is looked for plainly first. */
function isSigned(text: string, start: number): boolean {
  const before = text.slice(Math.max(0, start - 1_600), start);
  if (/dkim|arc-|\bk=/i.test(before) && inSignedMail.test(before)) return true;
  const block = text.slice(Math.max(0, start - 4_100), start);
  const begin = block.lastIndexOf('-----BEGIN');
  return begin !== -1 && inPublicBlock.test(block.slice(begin));
}

/** Two dots, six characters apart, as between the parts of a Discord token; the first is 23 long and more, the last 27 and more. */
function hasDiscordDots(text: string): boolean {
  for (let at = text.indexOf('.', 24); at !== -1 && at + 35 <= text.length; at = text.indexOf('.', at + 1))
    if (text.charCodeAt(at + 7) === 46) return true;
  return false;
}
const discordToken = /(?<![\w.-])[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,40}/g;

export const secretTextRules: readonly TextRule[] = [
  ...kubernetesRules,
  ...listedRules,
  {
    id: 'discord-token',
    category: 'vendor_token',
    source: 'discord.com/developers: bot tokens (base64 user id, time, HMAC); detect-secrets discord',
    hint: hasDiscordDots,
    spans: (text) =>
      [...text.matchAll(discordToken)]
        .filter(([token]) => looksRandom(token))
        .map(({ index, 0: token }) => ({ start: index, end: index + token.length })),
  },
  {
    id: 'high-entropy',
    category: 'high_entropy',
    source:
      'the seed: Shannon entropy ≥ 4.5 over 40 and more characters; detect-secrets high_entropy_strings',
    hint: (text) => text.length >= MIN_LENGTH,
    spans: entropySpans,
  },
];
