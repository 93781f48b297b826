/**
 * How many tokens a text costs, rather too many than too few, without asking anybody. Claude's tokenizer is not published and its counting
 * endpoint is a network call before every turn, so this is counted on the safe side: a token for every four letters of a word,
 * two digits, two spaces beyond one, line end, sign, and two for every character outside ASCII. Byte-pair encodings of
 * English and of code need fewer, so a budget kept by this count is kept by the model's too.
 */
export function countTokens(text: string): number {
  let tokens = 0;
  for (const [piece] of text.matchAll(/[A-Za-z]+|\d+|[ \t]+|\P{ASCII}+|[\s\S]/gu)) {
    const first = piece.charCodeAt(0);
    if (first > 0x7f) tokens += 2 * piece.length;
    else if (isLetter(first)) tokens += Math.ceil(piece.length / 4);
    else if (isDigit(first)) tokens += Math.ceil(piece.length / 2);
    // A single space belongs to the word after it.
    else if (first === 0x20 || first === 0x09) tokens += Math.ceil((piece.length - 1) / 2);
    else tokens += 1;
  }
  return tokens;
}

function isLetter(code: number): boolean {
  return (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
