import { isPlaceholder, isWordless, looksRandom, shannon, turns } from '../randomness.ts';
import type { Span, TextRule } from '../rule.ts';

/** The seed's numbers: Shannon entropy ≥ 4.5 over 40 and more characters. */
const MIN_LENGTH = 40;
const MIN_ENTROPY = 4.5;

const inRun = new Uint8Array(128);
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-')
  inRun[char.charCodeAt(0)] = 1;

/** Digests, pictures and anchors say what they are. */
const harmlessBefore =
  /(?:\bh1:|\bsha\d{1,3}[-:=]|;base64,|integrity["']?[=:]\s?["']?|\bpublic[_-]?key\S{0,4}\s?|ssh-(?:rsa|ed25519) )$/i;

function isRandomRun(run: string): boolean {
  if (shannon(run) < MIN_ENTROPY || turns(run) < 0.25 || isPlaceholder(run)) return false;
  return /\d/.test(run) && isWordless(run, 0.42);
}

function entropySpans(text: string): Span[] {
  const spans: Span[] = [];
  let at = 0;
  while (at + MIN_LENGTH <= text.length) {
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

function inside(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code < 128 && inRun[code] === 1;
}

/** A run may be `name=value` or a path whose one segment is random: the whole, or else its parts. */
function randomParts(text: string, start: number, end: number): Span[] {
  const whole = text.slice(start, end);
  // A sample of a long run decides: entropy does not grow beyond its alphabet.
  const parts = isRandomRun(whole.slice(0, 2_000)) ? [{ start, end }] : partsOf(whole, start);
  return parts.length > 0 && isHarmless(text, start) ? [] : parts;
}

function partsOf(whole: string, start: number): Span[] {
  const parts: Span[] = [];
  if (!whole.includes('/') && !whole.includes('=')) return parts;
  for (const match of whole.matchAll(/[^/=]{40,}/g)) {
    if (isRandomRun(match[0].slice(0, 2_000)))
      parts.push({ start: start + match.index, end: start + match.index + match[0].length });
  }
  return parts;
}

/** Identifiers of documents and pages stand in addresses, up to the query. */
function isHarmless(text: string, start: number): boolean {
  return (
    /:\/\/[^\s?]{0,400}$/.test(text.slice(Math.max(0, start - 420), start)) ||
    /^build_?id=/i.test(text.slice(start, start + 9)) ||
    harmlessBefore.test(text.slice(Math.max(0, start - 24), start))
  );
}

const secretKind = /^[ \t]*["']?kind["']?[ \t]*:[ \t]*["']?Secret["']?[ \t,]*\r?$/im;

/** Values under `data:` and `stringData:` of every YAML document that is a Kubernetes Secret, in one pass over its lines. */
function secretSpans(text: string): Span[] {
  const spans: Span[] = [];
  let from = 0;
  for (const document of text.split(/^(?=---)/m)) {
    if (secretKind.test(document)) spans.push(...dataValues(document, from));
    from += document.length;
  }
  return spans;
}

/** `key: |` begins a block; its value stands in the lines below. */
const opensBlock = /^\s*["']?[\w.-]+["']?[ \t]*:[ \t]*(?:[|>][+-]?\d?)?[ \t]*\r?$/;
const dataLine = /^\s*(?:["']?[\w.-]+["']?[ \t]*:[ \t]*)?["']?([^\s"'|>][^"'\r]{3,})/d;

function dataValues(document: string, from: number): Span[] {
  const spans: Span[] = [];
  let at = from;
  let indent = -1;
  for (const line of document.split('\n')) {
    const depth = line.length - line.trimStart().length;
    const opens = /^[ \t-]*["']?(?:data|stringData)["']?[ \t]*:[ \t]*\{?\r?$/.test(line);
    if (opens) indent = depth;
    else if (indent >= 0 && line.trim() !== '' && depth <= indent) indent = -1;
    else if (indent >= 0) {
      const value = (opensBlock.test(line) ? null : dataLine.exec(line))?.indices?.[1];
      if (value !== undefined && !isPlaceholder(line.slice(...value)))
        spans.push({ start: at + value[0], end: at + value[1] });
    }
    at += line.length + 1;
  }
  return spans;
}

const secretMark = /kind["']?[ \t]*:[ \t]*["']?secret/i;
const discordTail = /\.[\w-]{6}\.[\w-]{27}/;
const discordToken = /(?<![\w.-])[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,40}/g;

export const textRules: readonly TextRule[] = [
  {
    id: 'kubernetes-secret',
    category: 'kubeconfig',
    source: 'kubernetes.io/docs/concepts/configuration/secret; gitleaks kubernetes-secret-yaml',
    hint: (text) =>
      (text.includes('kind') || text.includes('Kind') || text.includes('KIND')) && secretMark.test(text),
    spans: secretSpans,
  },
  {
    id: 'discord-token',
    category: 'vendor_token',
    source: 'discord.com/developers: bot tokens (base64 user id, time, HMAC); detect-secrets discord',
    hint: (text) => text.length > 58 && discordTail.test(text),
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
