/** `<instance>` and `{{ $labels.pod }}` are where a rule's values stand: their names say nothing about the problem. */
export function withoutPlaceholders(text: string): string {
  return text.replace(/<[A-Za-z_][\w .-]{0,60}>/g, ' . ').replace(/\{\{[^{}]{0,200}\}\}/g, ' . ');
}
