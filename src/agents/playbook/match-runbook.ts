import type { Incident } from '../../core/incident.ts';
import type { RunbookHit } from '../../core/memory.ts';
import type { Runbook } from '../../runbooks/runbook.ts';
import { splitWords } from '../../search/text/split-words.ts';
import { wordStem } from '../../search/text/word-stem.ts';
import { type AlertDirection, alertDirection } from './alert-direction.ts';

export interface RunbookMatch {
  readonly runbook: Runbook;
  readonly score: number;
  /**
   * What it rests on at best. `alert`: the alert's name, or what a person says it is. `text`: a phrase in the alert's texts, which
   * may be about something else: it may show a cause, by evidence, but nothing is done on its account. `memory`: nothing in the
   * alert names it; then its steps are worth reading, and decide nothing.
   */
  readonly by: 'alert' | 'text' | 'memory';
  /** By the alert's own name, which the runbook lists: without that, nothing is called healthy. */
  readonly isListed: boolean;
  /** The alert says which side of the runbook's measure it means: without that, nothing is called healthy. */
  readonly sided: boolean;
  /** For people, a whole sentence. */
  readonly reason: string;
}

// An alert's exact name outweighs everything; a pattern outweighs words; words outweigh memory and labels. Labels alone
// (source_type=database) fit every runbook of a domain, so they only add to another reason.
const EXACT_NAME = 1000;
const NAME_PATTERN = 500;
const WORD_OF_PHRASE = 20;
const LABEL = 5;
const MEMORY = 15;

interface Asked {
  readonly incident: Incident;
  /** In place of a name, where the alert has none: its title, and what people say in the thread. */
  readonly named: readonly string[];
  readonly words: readonly string[];
  readonly recalled: readonly string[];
}

/**
 * The runbooks that fit an incident, best first; equal ones by id, so that the same incident always gets the same. An alert of the
 * opposite, or that the fault is over, fits none; without a target only an alert's own words name one.
 */
export function matchRunbooks(
  runbooks: readonly Runbook[],
  incident: Incident,
  hints: readonly string[],
  recalled: readonly RunbookHit[],
): readonly RunbookMatch[] {
  const named = [...(incident.alertName === null ? [incident.title] : []), ...hints];
  const texts = [incident.alertName ?? '', incident.title, ...Object.values(incident.annotations), ...hints];
  const asked: Asked = {
    incident,
    named: stemsOf(named.join(' . ')),
    words: stemsOf(texts.join(' . ')),
    recalled: incident.target === null ? [] : [...new Set(recalled.map((hit) => hit.runbookId))],
  };
  return runbooks
    .filter((runbook) => runbook.domains.includes(incident.domain))
    .map((runbook) => match(runbook, asked))
    .filter((found) => found !== undefined)
    .toSorted((a, b) => b.score - a.score || (a.runbook.id < b.runbook.id ? -1 : 1));
}

function match(runbook: Runbook, { incident, named, words, recalled }: Asked): RunbookMatch | undefined {
  const name = nameScore(runbook, incident.alertName);
  const phrases = runbook.matches.text.filter((phrase) => containsPhrase(words, stemsOf(phrase)));
  const isNamed = name > 0 || phrases.some((phrase) => containsPhrase(named, stemsOf(phrase)));
  const longest = Math.max(0, ...phrases.map((phrase) => stemsOf(phrase).length));
  const text = phrases.length === 0 ? 0 : longest * WORD_OF_PHRASE + phrases.length;
  const rank = recalled.indexOf(runbook.id);
  const memory = rank === -1 ? 0 : MEMORY / (rank + 1);
  if (name + text + memory === 0) return undefined;

  const direction = directionOf(runbook, incident, name > 0, phrases);
  if (direction === 'opposite') return undefined;
  const labels = Object.entries(runbook.matches.labels).filter(([label, pattern]) =>
    globs(pattern, incident.labels[label] ?? ''),
  ).length;
  const by = isNamed ? 'alert' : text > 0 ? 'text' : 'memory';
  return {
    runbook,
    score: name + text + memory + labels * LABEL,
    by,
    isListed: name > 0,
    sided: direction === 'same',
    reason: reasonOf(runbook.title, by, phrases),
  };
}

/** Of a text that names it, that text's own; a name that is not the runbook's is about something else. */
function directionOf(
  { requires }: Runbook,
  { alertName, title, annotations }: Incident,
  isNamed: boolean,
  phrases: readonly string[],
): AlertDirection {
  if (requires === undefined) return 'same';
  // A name says what is measured; the title may say that it is over.
  if (isNamed)
    return alertDirection(requires, [title, alertName ?? ''], [Object.values(annotations).join(' . ')]);
  const [first = '', ...others] = [title, ...Object.values(annotations)].filter((text) =>
    phrases.some((phrase) => containsPhrase(stemsOf(text), stemsOf(phrase))),
  );
  return alertDirection(requires, [first], others);
}

function reasonOf(title: string, by: RunbookMatch['by'], phrases: readonly string[]): string {
  switch (by) {
    case 'alert':
      return `The runbook "${title}" fits.`;
    case 'text':
      return `The runbook "${title}" may fit: the alert speaks of "${phrases[0] ?? ''}".`;
    case 'memory':
      return `The runbook "${title}" is the most alike in memory; nothing in the alert names it.`;
  }
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

/** Stems of its words in their order: `PostgresBlockedSessions` and "session is blocked" share two. */
function stemsOf(text: string): readonly string[] {
  return splitWords(text).map(wordStem);
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
