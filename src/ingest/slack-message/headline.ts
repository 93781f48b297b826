import { isSeverityWord } from '../correlate.ts';

export interface Headline {
  /** Null when the line does not say. */
  readonly status: 'firing' | 'resolved' | null;
  /** The alert rule's name where the line is known to carry it, else null. */
  readonly name: string | null;
  /** The line without status and ornaments. */
  readonly title: string;
  /** The source's word, when the line has one. */
  readonly severity: string | null;
  /** Label values whose names the line does not tell. */
  readonly values: readonly string[];
}

/** These begin no other sentence; the rest (`Error rate …`, `Open files …`) count only as `[ERROR] …`, `ERROR: …`, `ERROR - …`. */
const begins = /^\W*(firing|alerting|triggered|re-triggered|alert triggered)\b(?::\d+)?\W*/i;
const beginsMarked =
  /^\W*(problem|opened|open|new alert|critical|warning|error|alarm|down|alert)\b(?:\]\W*|\s?:\s|\s[-–|]\s)/i;
const ends = /^\W*(resolved|recovered)\b(?::\d+)?\W*/i;
const endsMarked = /^\W*(ok|recovery|closed|cleared|normal|up)\b(?:\]\W*|\s?:\s|\s[-–|]\s)/i;
/** `[FIRING:2] …`, `[RESOLVED] …`: Alertmanager's and Grafana's template. */
const template = /^\W*\[(firing|resolved)(?::\d+)?(?:,\s*\w+:\d+)*\]\s*/i;
const filler = new Set(['for', 'on', 'in', 'at', 'of', 'is', 'the', 'and', '-', '–', '|']);

/** The title line of an alert message. */
export function readHeadline(line: string): Headline {
  const templated = template.exec(line);
  if (templated) {
    return {
      status: templated[1]?.toLowerCase() === 'resolved' ? 'resolved' : 'firing',
      ...readTemplate(line.slice(templated[0].length)),
    };
  }
  const ended = ends.exec(line) ?? endsMarked.exec(line);
  const begun = ended ? null : (begins.exec(line) ?? beginsMarked.exec(line));
  const marker = ended ?? begun;
  const title = marker ? line.slice(marker[0].length).trim() : line.trim();
  const word = begun?.[1]?.toLowerCase() ?? '';
  return {
    status: ended ? 'resolved' : begun ? 'firing' : null,
    // `[Alerting] name` is how Grafana's older alerts are titled: what follows is the rule's name.
    name: marker && /^\W*\[(?:alerting|ok)\]/i.test(line) && title !== '' ? title : null,
    title: title === '' ? line.trim() : title,
    severity: ['critical', 'warning', 'error'].includes(word) ? word : null,
    values: [],
  };
}

/** `<values of the group's labels> (<values of the other common labels>)`, the alert's name first in one of them. */
function readTemplate(rest: string): Omit<Headline, 'status'> {
  const [, group = rest, others = ''] =
    /^(.*?)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s*$/.exec(rest.trim()) ?? [];
  // `name="value"` is read elsewhere, with its name.
  const inGroup = wordsOf(group);
  const inOthers = wordsOf(others.replace(/\w+="[^"]*",?/g, ''));
  const first = inGroup[0];
  const other = inOthers[0];
  const looksLikeName = (word: string | undefined) => word !== undefined && /^[A-Z]\w*[a-z]\w*$/.test(word);
  const name = (!looksLikeName(first) && looksLikeName(other) ? other : (first ?? other)) ?? null;
  const words = [...inGroup, ...inOthers].filter((word) => word !== name);
  return {
    name,
    title: name ?? (rest.trim() || 'Alert'),
    severity: words.find(isSeverityWord) ?? null,
    values: words.filter((word) => !isSeverityWord(word) && !filler.has(word.toLowerCase())),
  };
}

function wordsOf(text: string): readonly string[] {
  return text.split(/[\s,;]+/).filter((word) => /\w/.test(word));
}
