/** The lines of `why` for a terminal: no markup, times in the zone of who reads there. */
export function terminalStory(text: string, zone?: string): string {
  const timeOf = new Intl.DateTimeFormat('sv-SE', {
    dateStyle: 'short',
    timeStyle: 'medium',
    ...(zone === undefined ? {} : { timeZone: zone }),
  });
  return text
    .split('\n')
    .map((line) =>
      line
        .replace(/^\*([^*]+)\*/, '$1')
        .replace(/`([^`]+)`/g, '$1')
        .replace(/<@([UW][A-Z0-9]+)>/g, '@$1')
        .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, (iso) => timeOf.format(new Date(iso)))
        .replace(/^(\d{4}-\d\d-\d\d) \d\d:\d\d:\d\d:$/, '$1:')
        .replace(/^\d{4}-\d\d-\d\d (\d\d:\d\d:\d\d {2})/, '$1'),
    )
    .join('\n');
}
