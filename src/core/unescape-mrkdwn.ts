/** Slack escapes `&`, `<` and `>` in a text, and only these; `&amp;` comes last, so that `&amp;lt;` stays what was written. */
export function unescapeMrkdwn(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
