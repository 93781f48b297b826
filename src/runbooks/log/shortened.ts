/** At most so many characters for a headline; the whole of it stands among the evidence. */
export function shortened(text: string, characters = 160): string {
  const all = Array.from(text.replace(/\s+/g, ' ').trim());
  return all.length <= characters
    ? all.join('')
    : `${all
        .slice(0, characters - 1)
        .join('')
        .trimEnd()}…`;
}
