/** An entry's text apart from its headings. A heading that repeats the title is neither. */
export function fieldsOf(
  title: string,
  source: string,
): { readonly headings: readonly string[]; readonly text: string } {
  const headings: string[] = [];
  const text: string[] = [];
  let fenced = false;
  for (const line of source.split('\n')) {
    if (/^\s*(```|~~~)/.test(line)) {
      fenced = !fenced;
      continue;
    }
    const heading = fenced ? null : /^#{1,6}\s+(.+)$/.exec(line);
    if (!heading) text.push(line);
    else if (heading[1]?.trim().toLowerCase() !== title.trim().toLowerCase()) headings.push(heading[1] ?? '');
  }
  return { headings, text: text.join('\n') };
}
