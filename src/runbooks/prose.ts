import { splitMarkdown } from './markdown.ts';

/** What a model reads of a runbook or document: its prose. Steps for the playbook are for the playbook. */
export function proseOf(markdown: string, title: string): string {
  return splitMarkdown(markdown.trimStart())
    .sections.map(({ trail, text }) => {
      const heading = trail.at(-1);
      return heading === undefined || heading === title ? text : `## ${heading}\n${text}`;
    })
    .join('\n\n');
}
