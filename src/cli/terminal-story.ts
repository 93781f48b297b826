import type { Config } from '../config/config.ts';
import type { IncidentRecord } from '../core/incident-record.ts';
import { within } from '../core/within.ts';
import { OWN_CODE, OWN_TIME } from '../incidents/questions/own-marks.ts';
import { markedWhy } from '../incidents/questions/why.ts';
import { createLog } from '../infra/log/log.ts';
import { askNames } from '../slack/outbound/ask-slack.ts';

/** Who reads this at night waits for the story, not for names. */
const NAMES_WITHIN_MS = 3_000;
const PERSON = /<@([UW][A-Z0-9]+)>/g;

/** What happened, for a terminal, with the people whom Slack knows by name. */
export async function tellStory(record: IncidentRecord, { slack }: Pick<Config, 'slack'>): Promise<string> {
  const text = markedWhy(record);
  const ids = [...text.matchAll(PERSON)].map(([, id = '']) => id);
  return terminalStory(text, await namesOf(ids, slack));
}

/** What Slack calls them; undefined where it cannot be asked now. */
export async function namesOf(
  ids: readonly string[],
  slack: Config['slack'],
): Promise<ReadonlyMap<string, string> | undefined> {
  return slack.kind === 'playground'
    ? undefined
    : within(NAMES_WITHIN_MS, askNames(slack, [...ids], createLog('error')), () => undefined);
}

/** The lines of `markedWhy` for a terminal: no markup of ours, people by name, our times in the zone of who reads there. */
export function terminalStory(
  text: string,
  names: ReadonlyMap<string, string> = new Map(),
  zone?: string,
): string {
  const timeOf = new Intl.DateTimeFormat('sv-SE', {
    dateStyle: 'short',
    timeStyle: 'medium',
    ...(zone === undefined ? {} : { timeZone: zone }),
  });
  return text
    .split('\n')
    .map((line) =>
      line
        .replace(/^\*([^*]+)\*/, '$1')
        .replace(new RegExp(OWN_CODE, 'g'), '$1')
        .replace(PERSON, (_, id: string) => names.get(id) ?? 'somebody in Slack')
        .replace(new RegExp(OWN_TIME, 'g'), (_, iso: string) => timeOf.format(new Date(iso)))
        .replace(/^(\d{4}-\d\d-\d\d) \d\d:\d\d:\d\d:$/, '$1:')
        .replace(/^\d{4}-\d\d-\d\d (\d\d:\d\d:\d\d {2})/, '$1'),
    )
    .join('\n');
}
