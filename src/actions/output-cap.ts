/** Characters of output kept of one call: enough for a person to page through, small enough to keep thousands. */
const MAX_CHARACTERS = 200_000;
/** More is not even screened: rules cost about a microsecond a character. */
const MAX_SCREENED = 5 * MAX_CHARACTERS;
/** What stands across the end of the screened part may be half a secret, which no rule knows: this much is left out there. */
const MAX_SECRET = 16_000;

/** Screens at most the first megabyte of a text; `left` is how many characters were left out of it. */
export function screenBounded(
  text: string,
  screen: (text: string) => string,
): { readonly text: string; readonly left: number } {
  if (text.length <= MAX_SCREENED) return { text: screen(text), left: 0 };
  const shown = screen(text.slice(0, MAX_SCREENED));
  return {
    text: shown.slice(0, Math.max(0, shown.length - MAX_SECRET)),
    left: text.length - MAX_SCREENED + MAX_SECRET,
  };
}

/** Cuts at a line's end, and says so. `left`: characters that are missing already. */
export function capOutput(text: string, left = 0): { readonly text: string; readonly truncated: boolean } {
  if (text.length <= MAX_CHARACTERS && left === 0) return { text, truncated: false };
  const line = text.lastIndexOf('\n', MAX_CHARACTERS);
  const kept = text.slice(0, line > MAX_CHARACTERS / 2 ? line : MAX_CHARACTERS);
  return { text: `${kept}\n… cut: ${text.length - kept.length + left} more characters`, truncated: true };
}
