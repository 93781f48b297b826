/** Bytes of output kept of one call: enough for a person to page through, small enough to keep thousands. */
const MAX_CHARACTERS = 200_000;

/** Cuts at a line's end, and says so. */
export function capOutput(text: string): { readonly text: string; readonly truncated: boolean } {
  if (text.length <= MAX_CHARACTERS) return { text, truncated: false };
  const cut = text.lastIndexOf('\n', MAX_CHARACTERS);
  const kept = text.slice(0, cut > 0 ? cut : MAX_CHARACTERS);
  return { text: `${kept}\n… cut: ${text.length - kept.length} more characters`, truncated: true };
}
