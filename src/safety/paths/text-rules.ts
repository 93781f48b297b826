/** One way a path's text can say something else than it seems to say. */
interface TextRule {
  readonly code: string;
  readonly reason: string;
  readonly hit: (text: string) => boolean;
}

/** Characters that look like a dot or a separator and that NFKC leaves alone. */
const lookalikes = /\u0337|\u0338|[\u2044\u2215\u2216\u29f5\u29f8\u29f9\u3002\u0589\ua60e]/u;

/** Controls, format characters (zero width, bidi), lone surrogates, private use, odd spaces, the replacement character. */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\ufffd]|(?! )\p{Zs}/u;

/** `0x2e` and its like; the percent sign of `%2f` lost on the way (`..2f`, `2e2e2f`). */
const hexNotation =
  /(?:0x(?:2e|2f|5c)){2}|0x(?:2e|2f|5c)(?![0-9a-f])|\.\.(?:2f|5c|c0|c1)|(?:^|\/)(?:2e2e|\.2e|2e\.)(?:2f|5c|$|\/)/iu;

const scheme =
  /^[a-z][a-z0-9+.-]*:\/|^(?:file|data|php|phar|expect|glob|zip|zlib|bzip2|compress\.[a-z0-9]+|ogg|rar|ssh2|jar|netdoc|view-source|gopher|dict|ldap|ftp|https?):/iu;

/** Order matters only for which reason is told. Applied to the text as given and to what its escapes stand for. */
export const textRules: readonly TextRule[] = [
  {
    code: 'PATH_CONTROL',
    reason: 'The path holds a control, zero-width, bidirectional or otherwise invisible character.',
    hit: (text) => invisible.test(text),
  },
  {
    code: 'PATH_BACKSLASH',
    reason: 'The path holds a backslash. Write separators as "/".',
    hit: (text) => text.includes('\\'),
  },
  {
    code: 'PATH_LOOKALIKE',
    reason: 'The path holds a character that looks like, or is normalised to, a plain ASCII one.',
    hit: (text) => lookalikes.test(text) || Array.from(text).some(foldsToAscii),
  },
  {
    code: 'PATH_SCHEME',
    reason: 'The path starts like a URL, a stream wrapper or a drive. Write a plain file path.',
    hit: (text) => scheme.test(text) || /^[a-z]:/iu.test(text) || text.includes('::$'),
  },
  {
    code: 'PATH_EXPANSION',
    reason: 'The path holds a character that only a shell expands; nothing is expanded here.',
    hit: (text) => /[*?"<>|;`]|\$[({A-Z_]|^[~$&!]/u.test(text),
  },
  {
    code: 'PATH_ENCODED',
    reason: 'The path spells dots or separators as numbers. Write the path itself.',
    hit: (text) => hexNotation.test(text),
  },
  {
    code: 'PATH_SPACE',
    reason: 'The path starts or ends with a space.',
    hit: (text) => text !== text.trim(),
  },
];

function foldsToAscii(character: string): boolean {
  if (character <= '\u007f') return false;
  return /[\u0021-\u007f]/u.test(character.normalize('NFKC'));
}
