import { clipLine } from '../../core/clip.ts';
import { outwardText } from '../../safety/screen/boundary.ts';
import { type Cluster, remediesOf } from './clusters.ts';
import { formatEnds, formatTimes } from './incident-end.ts';

/** Of the text of the newest incident, of one cause and of one command, in characters. */
const TEXT = 1_500;
const CAUSE = 240;
const COMMAND = 200;
const SHOWN = 3;

/** What memory says of a problem that came once or many times: how often, how it ended, what helped, and the newest one. */
export function clusterText(cluster: Cluster): string {
  const { newest, cases, causes } = cluster;
  const remedies = remediesOf(cases).slice(0, SHOWN);
  const others = causes.filter(({ cause }) => cause !== newest.cause).slice(0, SHOWN - 1);
  const end = `End: ${formatEnds(cases.map((one) => one.end))}.`;
  const lines = [
    ...(cases.length > 1 ? [`Seen ${formatTimes(cases.length)}: ${span(cluster)}.`] : []),
    ...(cases.length === 1 && newest.text?.includes(end) === true ? [] : [end]),
    ...remedies.map(
      ({ command, helped, of }) => `What was run: ${clipLine(command, COMMAND)} (helped ${helped} of ${of}).`,
    ),
    ...others.map(
      ({ cause, times, isWrong }) =>
        `Another cause (${formatTimes(times)}${isWrong ? '; people said it was wrong' : ''}): ${clipLine(cause, CAUSE)}`,
    ),
    ...(cases.length > 1 ? ['', `The newest, ${newest.id}:`] : ['']),
    ...(newest.isCauseWrong ? ['People said that the cause below was wrong.'] : []),
    textOf(cluster),
  ];
  return outwardText(lines.join('\n').trim());
}

function textOf({ newest }: Cluster): string {
  if (newest.text !== null) return newest.text.slice(0, TEXT);
  const { title, incidentType, target, severity, cause } = newest;
  return [
    `Title: ${title}`,
    `Type: ${incidentType ?? 'unknown'}`,
    `Target: ${target ?? 'unknown'}`,
    `Severity: ${severity}`,
    '',
    cause === null ? 'No cause was found.' : `Cause: ${cause.slice(0, TEXT)}`,
  ].join('\n');
}

function span({ newest, cases }: Cluster): string {
  const [first, last] = [cases.at(-1)?.openedAt.slice(0, 10), newest.openedAt.slice(0, 10)];
  return first === last ? `all on ${last}` : `first ${first}, last ${last}`;
}
