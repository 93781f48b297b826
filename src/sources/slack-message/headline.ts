export interface Headline {
  /** Null when the line does not say. */
  readonly status: 'firing' | 'resolved' | null;
  /** The alert rule's name where the line is known to carry it, else null. */
  readonly name: string | null;
  /** The line without status and ornaments. */
  readonly title: string;
  /** The source's word, when the line has one. */
  readonly severity: string | null;
}

/** These begin no other sentence; the rest (`Error rate …`, `Open files …`) count only as `[ERROR] …`, `ERROR: …`, `ERROR - …`. */
const begins =
  /^\W*(firing|alerting|triggered|re-triggered|alert triggered|alert firing)\b(?::\d+)?(?: on \{[^}]*\})?\W*/i;
const beginsMarked =
  /^\W*(problem|opened|open|new alert|critical|warning|warn|error|alarm|down|alert|no data)\b(?:\]\W*|\s?:\s|\s[-–|]\s)/i;
const ends =
  /^\W*(resolved|recovered|alert (?:resolved|recovered|closed))\b(?::\d+| in (?:\d+[wdhms]\s?)+| on \{[^}]*\})?\W*/i;
const endsMarked = /^\W*(ok|recovery|closed|cleared|normal|up)\b(?:\]\W*|\s?:\s|\s[-–|]\s)/i;
/** The title line of an alert message. */
export function readHeadline(whole: string): Headline {
  // Datadog begins with how bad it is.
  const [, level = null, line = whole] = /^\s*\[(P[1-5])\]\s*(.+)$/is.exec(whole) ?? [];
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
    severity: ['critical', 'warning', 'error'].includes(word) ? word : level,
  };
}
