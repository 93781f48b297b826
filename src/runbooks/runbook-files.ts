import { matchesGlob } from '../core/glob.ts';
import type { Incident } from '../core/incident.ts';
import type { RunbookHit } from '../core/memory.ts';
import { distinctiveWords, inverseFrequencies } from '../search/text/distinctive-words.ts';
import { proseOf } from './prose.ts';
import type { Runbook } from './runbook.ts';

/** How an alert names a runbook by the runbook's own matchers; null: it does not. */
export type RunbookFit = 'name' | 'type' | 'text';

/** With fewer telling words in common, a runbook is about something else. */
const LEAST_WORDS = 2;

/** The ones that an alert names, best first: by its name, by the kind that triage gave it, by a phrase of its text. */
export function fittingRunbooks(
  runbooks: readonly Runbook[],
  incident: Incident,
  incidentType: string | null,
): readonly { readonly runbook: Runbook; readonly fit: RunbookFit }[] {
  const text = ` ${textOf(incident).toLowerCase().replace(/\s+/g, ' ')} `;
  const order: readonly RunbookFit[] = ['name', 'type', 'text'];
  return runbooks
    .filter(({ domains }) => domains.includes(incident.domain))
    .flatMap((runbook) => {
      const fit = fitOf(runbook, incident.alertName, incidentType, text);
      return fit === null ? [] : [{ runbook, fit, length: nameLength(runbook, incident.alertName) }];
    })
    .toSorted(
      (a, b) =>
        order.indexOf(a.fit) - order.indexOf(b.fit) ||
        b.length - a.length ||
        (a.runbook.id < b.runbook.id ? -1 : 1),
    );
}

/**
 * The runbooks that fit as the files say it, without search index and vector database: those that the alert names, then by
 * telling words in common.
 */
export function recallFromFiles(
  runbooks: readonly Runbook[],
  incident: Incident,
  incidentType: string | null,
  limit: number,
): readonly RunbookHit[] {
  const named = fittingRunbooks(runbooks, incident, incidentType).map(({ runbook }) => runbook);
  const others = byWords(
    runbooks.filter((one) => one.domains.includes(incident.domain) && !named.includes(one)),
    [incidentType?.replaceAll('_', ' ') ?? '', textOf(incident)].join(' '),
  );
  const found = [...named, ...others].slice(0, limit);
  return found.map((runbook, rank) => hitOf(runbook, (found.length - rank) / found.length));
}

export function hitOf(runbook: Runbook, score: number): RunbookHit {
  const { id, title, body } = runbook;
  return { runbookId: id, title, heading: title, text: proseOf(body, title), score };
}

function byWords(runbooks: readonly Runbook[], text: string): readonly Runbook[] {
  const asked = distinctiveWords(text);
  const words = runbooks.map(({ title, type, matches, body }) =>
    distinctiveWords([title, type, ...matches.alerts, ...matches.text, body].join(' ')),
  );
  const weight = inverseFrequencies(words);
  return runbooks
    .map((runbook, at) => {
      const shared = [...asked].filter((word) => words[at]?.has(word));
      return {
        runbook,
        shared: shared.length,
        score: shared.reduce((sum, word) => sum + weight(word), 0),
      };
    })
    .filter(({ shared }) => shared >= LEAST_WORDS)
    .toSorted((a, b) => b.score - a.score || (a.runbook.id < b.runbook.id ? -1 : 1))
    .map(({ runbook }) => runbook);
}

function fitOf(
  runbook: Runbook,
  alertName: string | null,
  incidentType: string | null,
  text: string,
): RunbookFit | null {
  if (nameLength(runbook, alertName) > 0) return 'name';
  if (incidentType !== null && runbook.type === incidentType) return 'type';
  return runbook.matches.text.some((phrase) => text.includes(` ${phrase.toLowerCase()} `)) ? 'text' : null;
}

/** Letters of the name's longest pattern that fits: `Postgres*Deadlock*` says more than `Postgres*`. 0: none does. */
function nameLength({ matches }: Runbook, alertName: string | null): number {
  if (alertName === null) return 0;
  const fitting = matches.alerts.filter((pattern) => matchesGlob(joined(pattern), joined(alertName)));
  return Math.max(0, ...fitting.map((pattern) => pattern.replaceAll('*', '').length));
}

/** `too_many_connections`, `too-many-connections` and `TooManyConnections` are one name. */
const joined = (name: string): string => name.replace(/[\s_-]+/g, '').toLowerCase();

function textOf({ alertName, title, annotations }: Incident): string {
  return [alertName ?? '', title, ...Object.values(annotations)].join(' ');
}
