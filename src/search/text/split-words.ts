/**
 * The words of a text in lower case, identifiers taken apart: `idle_in_transaction`, `KubePodCrashLooping`. Capitals begin
 * a word, of several in a row only the last does (`PVCs` is one).
 */
export function splitWords(text: string): readonly string[] {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z](?!s(?![a-z]))[a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}
