import { clip, clipLine } from '../../core/clip.ts';
import { pageTitle } from '../../core/page-key.ts';
import { storable } from '../../core/storable.ts';
import type { Page } from '../ports.ts';

const MOST_LINES = 40;
const LONGEST_LINE = 500;
const LONGEST_TEXT = 10_000;

/** What a page says as one line of at most `max` characters. */
export const headlineOf = (page: Page, max: number): string => pageTitle(page, page.summary, max);

/** What is known, in bounds that every service takes. */
export function evidenceOf({ evidence }: Page): readonly string[] {
  const shown = evidence.slice(0, MOST_LINES).map((line) => clipLine(storable(line), LONGEST_LINE));
  const more = evidence.length - shown.length;
  return more > 0 ? [...shown, `and ${more} more lines, in the thread`] : shown;
}

/** Why somebody is called and what is known, as text. */
export function descriptionOf(page: Page): string {
  const { reason, url } = page;
  const lines = [
    headlineOf(page, 1_024),
    '',
    clipLine(storable(reason), LONGEST_LINE),
    ...evidenceOf(page).map((line) => `- ${line}`),
    ...(url === null ? [] : ['', url]),
  ];
  return clip(lines.join('\n'), LONGEST_TEXT);
}
