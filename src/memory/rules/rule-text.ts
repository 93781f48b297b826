import { clipLine } from '../../core/clip.ts';
import { count } from '../../core/count.ts';
import { scan } from '../../safety/screen/scan.ts';
import type { IncidentGroup } from './group-incidents.ts';
import type { PastIncident } from './past-incident.ts';

const SHOWN = 5;
const TEXT = 300;
const LEFT_OUT = '(left out by the safety scanner)';

/** A rule as a document: what always holds is counted from the record, the advice may be a model's. */
export function ruleText(group: IncidentGroup, advice: string): string {
  const { incidents } = group;
  return [
    `# ${ruleTitle(group)}`,
    advice.trim(),
    '## Seen',
    [
      `- ${count(incidents.length, 'incident')}, ${day(incidents[0])} to ${day(incidents.at(-1))}`,
      `- Targets: ${counted(incidents.map(({ target }) => target ?? 'unknown'))}`,
      `- Alerts: ${counted(incidents.map(({ alertName, title }) => alertName ?? title))}`,
    ].join('\n'),
    '## Sources',
    incidents.map(({ id }) => id).join(', '),
  ].join('\n\n');
}

export function ruleTitle({ key }: IncidentGroup): string {
  return `Rule of thumb: ${key.replaceAll('-', ' ')}`;
}

/** What the record says without anybody's reasoning: the causes that were found, what helped and what did not. */
export function templateAdvice({ incidents }: IncidentGroup): string {
  const causes = incidents.flatMap(({ cause }) => (cause === null ? [] : [clipLine(cause, TEXT)]));
  const tried = incidents.flatMap((incident) => incident.tried);
  const helped = tried.filter(({ success }) => success === true);
  const failed = tried.filter(({ success }) => success === false);
  const unhelped = incidents.length - incidents.filter((one) => one.tried.length > 0).length;
  return [
    listed('Causes found', causes, 'No cause was found in any of them.'),
    listed(
      'What helped',
      helped.map(({ command }) => clipLine(command, TEXT)),
      'Nothing that was run is known to have helped.',
    ),
    ...(failed.length > 0
      ? [
          listed(
            'What did not help',
            failed.map(({ command }) => clipLine(command, TEXT)),
            '',
          ),
        ]
      : []),
    ...(unhelped > 0 ? [`${unhelped} of ${incidents.length} ended without anything being run.`] : []),
    'Look at the live system before acting on this: it says what was, not what is.',
  ].join('\n\n');
}

function listed(what: string, texts: readonly string[], none: string): string {
  if (texts.length === 0) return none;
  const lines = tally(texts).map(([text, n]) => `- ${text}${n > 1 ? ` (${n} times)` : ''}`);
  return `${what}:\n\n${lines.join('\n')}`;
}

function counted(texts: readonly string[]): string {
  return tally(texts)
    .map(([text, n]) => `${text}${n > 1 ? ` (${n})` : ''}`)
    .join(', ');
}

/** The most frequent first. What must not stand in everybody's memory is left out: one planted title is no end of a rule. */
function tally(texts: readonly string[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const text of texts.map((one) => (scan(one, { scope: 'workspace' }).blocked ? LEFT_OUT : one)))
    counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, SHOWN);
}

function day(incident: PastIncident | undefined): string {
  return incident?.endedAt.slice(0, 10) ?? '';
}
