import type { Span } from './build.ts';

/** Of a person or a group Slack shows a name, of a moment its words: about so many characters. */
const NAME = 16;
const TIME = 8;
const DAY = 9;

/** How many characters a reader sees of these. */
export const seenLength = (spans: readonly Span[]): number =>
  spans.reduce((sum, span) => sum + lengthOf(span), 0);

function lengthOf(span: Span): number {
  if (span.type === 'text' || span.type === 'link') return span.text?.length ?? 0;
  if (span.type === 'date') return TIME + (span.format.includes('{date') ? DAY : 0);
  return NAME;
}

/** What stands under one header. */
export interface Section {
  readonly title: string;
  /** The most important first. */
  readonly lines: readonly (readonly Span[])[];
}

/** How much shorter than they may be texts are tried, before lines are left out. */
const SCALES = [1, 0.75, 0.5, 0.35];

/**
 * As much of the sections as fits: their texts grow shorter together, then the least important lines of each are left out. `build` gives
 * the sections with their texts cut by `cap`.
 */
export function fitting(
  room: number,
  build: (cap: (most: number) => number) => readonly Section[],
): readonly Section[] {
  let sections: readonly Section[] = [];
  for (const scale of SCALES) {
    sections = build((most) => Math.max(24, Math.round(most * scale)));
    if (sections.reduce((sum, each) => sum + sizeOf(each), 0) <= room) return sections;
  }
  return mostOf(sections, room);
}

/** With its end. */
const lineLength = (spans: readonly Span[]): number => seenLength(spans) + 1;

const sizeOf = ({ title, lines }: Section): number =>
  lines.length === 0 ? 0 : lines.reduce((sum, spans) => sum + lineLength(spans), title.length);

/** The first lines of all, then the second ones, while there is room. */
function mostOf(sections: readonly Section[], room: number): readonly Section[] {
  let left = room;
  const kept = sections.map((): (readonly Span[])[] => []);
  for (let at = 0; sections.some(({ lines }) => at < lines.length); at += 1)
    for (const [which, { title, lines }] of sections.entries()) {
      const spans = lines[at];
      const own = kept[which];
      if (!spans || !own) continue;
      const size = lineLength(spans) + (own.length === 0 ? title.length : 0);
      if (size > left) continue;
      left -= size;
      own.push(spans);
    }
  return sections.map((section, which) => ({ ...section, lines: kept[which] ?? [] }));
}
