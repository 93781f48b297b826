/** What another program wrote, for a log or a terminal: without what those would obey, or not draw. */
export const plainWords = (text: string, max = 500): string =>
  text
    .replace(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
    .slice(0, max);
