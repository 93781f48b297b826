import type { Incident } from '../../domain/incident.ts';
import type { RunbookHit } from '../../domain/memory.ts';
import type { Runbook } from '../../memory/runbooks/runbook.ts';

export interface RunbookMatch {
  readonly runbook: Runbook;
  readonly score: number;
  /**
   * What it rests on at best. `memory`: nothing in the alert names it, memory found it similar; then it may show a cause
   * but not that all is well, for the alert may be about something else.
   */
  readonly by: 'alert' | 'text' | 'memory';
  /** For people: `the alert is called PostgresBlockedSessions`. */
  readonly reason: string;
}

// An alert's exact name outweighs everything; a pattern outweighs words; words outweigh memory and labels. Labels alone
// (source_type=database) fit every runbook of a domain, so they only add to another reason.
const EXACT_NAME = 1000;
const NAME_PATTERN = 500;
const WORD_OF_PHRASE = 20;
const LABEL = 5;
const MEMORY = 15;

/** The runbooks that fit an incident, best first; equal ones by id, so that the same incident always gets the same. */
export function matchRunbooks(
  runbooks: readonly Runbook[],
  incident: Incident,
  hints: readonly string[],
  recalled: readonly RunbookHit[],
): readonly RunbookMatch[] {
  const words = wordsOf(
    [incident.alertName ?? '', incident.title, ...Object.values(incident.annotations), ...hints].join(' . '),
  );
  return runbooks
    .filter((runbook) => runbook.domain === incident.domain)
    .map((runbook) => match(runbook, incident, words, recalled))
    .filter((found) => found !== undefined)
    .toSorted((a, b) => b.score - a.score || (a.runbook.id < b.runbook.id ? -1 : 1));
}

function match(
  runbook: Runbook,
  incident: Incident,
  words: readonly string[],
  recalled: readonly RunbookHit[],
): RunbookMatch | undefined {
  const reasons: string[] = [];
  const name = nameScore(runbook, incident.alertName);
  if (name > 0) reasons.push(`the alert is called ${incident.alertName ?? ''}`);

  const phrases = runbook.matches.text.filter((phrase) => containsPhrase(words, wordsOf(phrase)));
  const longest = Math.max(0, ...phrases.map((phrase) => wordsOf(phrase).length));
  const text = phrases.length === 0 ? 0 : longest * WORD_OF_PHRASE + phrases.length;
  if (phrases.length > 0) reasons.push(`the alert speaks of "${phrases.join('", "')}"`);

  const rank = [...new Set(recalled.map((hit) => hit.runbookId))].indexOf(runbook.id);
  const memory = rank === -1 ? 0 : MEMORY / (rank + 1);
  if (rank === 0) reasons.push('memory finds it the most similar');
  else if (rank > 0) reasons.push('memory finds it similar');
  if (name + text + memory === 0) return undefined;

  const labels = Object.entries(runbook.matches.labels).filter(([label, pattern]) =>
    globs(pattern, incident.labels[label] ?? ''),
  ).length;
  return {
    runbook,
    score: name + text + memory + labels * LABEL,
    by: name > 0 ? 'alert' : text > 0 ? 'text' : 'memory',
    reason: reasons.join('; '),
  };
}

/** Among patterns the one that says more wins: `Postgres*Deadlock*` over `Postgres*`. */
function nameScore(runbook: Runbook, alertName: string | null): number {
  if (alertName === null) return 0;
  return Math.max(
    0,
    ...runbook.matches.alerts
      .filter((pattern) => globs(joined(pattern), joined(alertName)))
      .map((pattern) =>
        pattern.includes('*') ? NAME_PATTERN + pattern.replaceAll('*', '').length : EXACT_NAME,
      ),
  );
}

/** `too_many_connections`, `too-many-connections` and `TooManyConnections` are one name. */
const joined = (name: string): string => name.replace(/[\s_-]+/g, '');

/** `*` stands for any characters; case does not count. */
export function globs(pattern: string, text: string): boolean {
  const escaped = pattern.replace(/[\\^$.+?()[\]{}|]/g, '\\$&').replaceAll('*', '.*');
  return new RegExp(`^${escaped}$`, 'is').test(text);
}

/** Words without case and endings: `PostgresBlockedSessions` and "session is blocked" share two. */
export function wordsOf(text: string): readonly string[] {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word.replace(/(?<=..[^s])s$|(?<=...)(ed|ing)$/, ''));
}

/** All words of the phrase in order, with at most one other word between two of them. */
function containsPhrase(words: readonly string[], phrase: readonly string[]): boolean {
  if (phrase.length === 0) return false;
  return words.some((word, start) => {
    if (word !== phrase[0]) return false;
    let at = start;
    return phrase.slice(1).every((next) => {
      at = [at + 1, at + 2].find((place) => words[place] === next) ?? -1;
      return at !== -1;
    });
  });
}
