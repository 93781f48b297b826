import { outwardText } from '../../safety/screen/boundary.ts';
import type { Report, ReportLine } from './post-incident.ts';

/** What somebody is called, by Slack user id. */
type NameOf = (userId: string) => string;

/**
 * A report as Markdown, times in UTC: a file and a canvas know no reader's zone. Texts of others are literal: nothing in them links,
 * mentions or formats. Each is screened for secrets before its marks are escaped, since a secret between escapes is not found.
 */
export function reportMarkdown(report: Report, nameOf: NameOf): string {
  return `# ${escaped(report.title)}\n\n${reportBody(report, nameOf)}`;
}

/** The same without its title, for what has a title of its own. */
export function reportBody({ parts }: Report, nameOf: NameOf): string {
  const line = (pieces: ReportLine): string =>
    `- ${pieces.map((piece) => markdownOf(piece, nameOf)).join('')}`;
  return parts
    .map(
      ({ heading, lines, whenEmpty }) =>
        `## ${heading}\n\n${lines.length > 0 ? lines.map(line).join('\n') : whenEmpty}\n`,
    )
    .join('\n');
}

/** A report in the lines of `why`, as a thread shows it: times in the reader's zone. */
export function reportStory({ title, parts }: Report, nameOf: NameOf): string {
  const line = (pieces: ReportLine): string => `• ${pieces.map((piece) => storyOf(piece, nameOf)).join('')}`;
  return [
    `*${title.replaceAll('*', '')}*`,
    ...parts.flatMap(({ heading, lines, whenEmpty }) => [
      '',
      `*${heading}*`,
      ...(lines.length > 0 ? lines.map(line) : [whenEmpty]),
    ]),
  ].join('\n');
}

/** Everybody whom it names, by Slack user id. */
export const peopleIn = ({ parts }: Report): readonly string[] => [
  ...new Set(
    parts.flatMap(({ lines }) =>
      lines.flat().flatMap((piece) => (typeof piece === 'object' && 'person' in piece ? [piece.person] : [])),
    ),
  ),
];

type ReportPiece = ReportLine[number];

function markdownOf(piece: ReportPiece, nameOf: NameOf): string {
  if (typeof piece === 'string') return escaped(piece);
  if ('person' in piece) return escaped(`@${nameOf(piece.person)}`);
  if ('at' in piece) return utc(piece.at);
  if ('url' in piece) return `[${escaped(piece.text)}](${outwardText(addressOf(piece.url))})`;
  return inCode(outwardText(piece.code));
}

function storyOf(piece: ReportPiece, nameOf: NameOf): string {
  if (typeof piece === 'string') return piece;
  if ('person' in piece) return `@${nameOf(piece.person)}`;
  if ('at' in piece) return `${piece.at.slice(0, 19)}Z`;
  return 'url' in piece ? `${piece.text}: ${piece.url}` : `\`${piece.code.replaceAll('`', 'ˋ')}\``;
}

/** Written so that nothing in it ends the link. */
const addressOf = (url: string): string =>
  (URL.canParse(url) ? new URL(url).href : encodeURI(url)).replace(/[()]/g, (mark) =>
    mark === '(' ? '%28' : '%29',
  );

const utc = (iso: string): string => `${iso.slice(0, 19).replace('T', ' ')} UTC`;

/** Literal in CommonMark, in its dialects with tables and bare links, and in a canvas. */
function escaped(text: string): string {
  return (
    outwardText(text)
      .replace(/[\\`*[\]<>~|#&]/g, '\\$&')
      // Within a word it begins nothing.
      .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')
      .replaceAll('://', ':\\//')
      .replace(/\bwww\./gi, (found) => `${found.slice(0, -1)}\\.`)
  );
}

/** Fenced by more marks than stand in it. */
function inCode(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  const pad = longest > 0 ? ' ' : '';
  return `${fence}${pad}${text}${pad}${fence}`;
}
