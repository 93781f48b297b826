/** The first line of an output that says something, as a quote of it; null: it is empty. */
export function firstLineOf(text: string): string | null {
  const line = text.split('\n').find((one) => one.trim() !== '');
  return line?.trim() ?? null;
}
