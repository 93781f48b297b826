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
  /^\W*(firing|alerting|triggered|re-triggered|alert triggered|alert firing)\b(?::\d+)?(?: on \{[^}]*\})?/i;
const beginsMarked =
  /^\W*(problem|updated problem|opened|open|new alert|critical|warning|warn|re-warn|error|alarm|down|alert|no data|re-no data|fired|activated)\b(?: in (?:\d+[wdhms]\s?)+| on \{[^}]*\})?(?:\]|\s?:\s|\s[-–|]\s)/i;
const ends =
  /^\W*(resolved|recovered(?: from (?:warn|no data))?|alert (?:resolved|recovered|closed))\b(?::\d+| in (?:\d+[wdhms]\s?)+| on \{[^}]*\})?/i;
const endsMarked = /^\W*(ok|recovery|closed|cleared|normal|up|deactivated)\b(?:\]|\s?:\s|\s[-–|]\s)/i;
/** Between the marker and the title; a bracket or a quotation mark that opens there is the title's. */
const ornaments = /^[^\p{L}\p{N}_([{"'<]*/u;
/** `(High): name`, as scripts write the severity after the marker. */
const severityAfter = /^\(([A-Za-z ]{2,20})\):\s+(?=\S)/;
/** The title line of an alert message. */
export function readHeadline(whole: string): Headline {
  // Datadog begins with how bad it is, and marks what is only tried: that is a problem of its own.
  const [, test = '', level = null, line = whole] =
    /^\s*(\[test\]\s*)?(?:\[(P[1-5])\]\s*)?(.+)$/is.exec(whole) ?? [];
  const ended = ends.exec(line) ?? endsMarked.exec(line);
  const begun = ended ? null : (begins.exec(line) ?? beginsMarked.exec(line));
  const marker = ended ?? begun;
  const rest = marker ? line.slice(marker[0].length).replace(ornaments, '').trim() : line.trim();
  const [, after = null] = (marker && severityAfter.exec(rest)) ?? [];
  const title = test + (after === null ? rest : rest.replace(severityAfter, ''));
  const word = begun?.[1]?.toLowerCase().replace(/^re-/, '') ?? '';
  return {
    status: ended ? 'resolved' : begun ? 'firing' : null,
    // `[Alerting] name` is how Grafana's older alerts are titled: what follows is the rule's name.
    name: marker && /^\W*\[(?:alerting|ok)\]/i.test(line) && title !== '' ? title : null,
    title: title === '' ? line.trim() : title,
    severity: level ?? after ?? (['critical', 'warning', 'warn', 'error'].includes(word) ? word : null),
  };
}
