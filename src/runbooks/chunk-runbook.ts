import { splitMarkdown } from './markdown.ts';
import type { Runbook } from './runbook.ts';

/** A piece of a runbook as it is embedded and found. */
export interface RunbookChunk {
  /** `<runbook id>#<n>`: the same for the same place, so that seeding again replaces. */
  readonly id: string;
  readonly runbookId: string;
  readonly title: string;
  /** The trail of headings, joined by ` › `. */
  readonly heading: string;
  /** Prose and code for people; machine-readable blocks are left out. */
  readonly text: string;
}

/** The embedding reads about 256 words; longer sections are cut at paragraphs. */
const MAX_CHARACTERS = 1500;

/** The first chunk says by which alerts and words the runbook is known; the others are its sections. */
export function chunkRunbook(runbook: Runbook): readonly RunbookChunk[] {
  const { matches, title } = runbook;
  const known = [
    title,
    `Kind of incident: ${runbook.type.replaceAll('_', ' ')}`,
    ...(matches.alerts.length > 0
      ? [`Alerts: ${matches.alerts.map((name) => name.replaceAll('*', ' ').trim()).join(', ')}`]
      : []),
    ...(matches.text.length > 0 ? [`Also called: ${matches.text.join(', ')}`] : []),
  ].join('\n');
  const sections = splitMarkdown(runbook.body).sections.flatMap((section) =>
    cut(section.text).map((text) => ({ heading: section.trail.join(' › '), text })),
  );
  return [{ heading: title, text: known }, ...sections].map((piece, n) => ({
    id: `${runbook.id}#${n}`,
    runbookId: runbook.id,
    title,
    ...piece,
  }));
}

function cut(text: string): readonly string[] {
  const pieces: string[] = [];
  for (const paragraph of text.split(/\n{2,}/)) {
    const last = pieces.at(-1);
    if (last !== undefined && last.length + paragraph.length + 2 <= MAX_CHARACTERS)
      pieces[pieces.length - 1] = `${last}\n\n${paragraph}`;
    else pieces.push(paragraph);
  }
  return pieces;
}
