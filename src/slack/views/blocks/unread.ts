import { canonicalJson } from '../../../core/canonical-json.ts';
import type { OpenRead } from '../../../incidents/failed-reads/open-reads.ts';
import {
  type Block,
  type ButtonShape,
  button,
  lineWith,
  moment,
  paragraph,
  person,
  prose,
  words,
} from './build.ts';
import { ACTIONS } from './slot.ts';
import { cut, oneLine } from './text.ts';

/** One read that showed nothing, with what a person can do about it, or who is at it. */
export function drawOpenRead(read: OpenRead): readonly Block[] {
  const { call, why, asked, before } = read;
  const what = `Could not be read: ${formatRead(read)}: ${cut(oneLine(why.reason), 250)}`;
  if (asked)
    return [
      prose(
        paragraph(words(what)),
        paragraph(
          words('Being read again, as asked by '),
          person(asked.by),
          words(' at '),
          moment(asked.at),
          words('.'),
        ),
      ),
    ];
  const shape: ButtonShape =
    why.way === 'run'
      ? { text: 'Run it', action: ACTIONS.readAgain, value: readValue(read) }
      : { text: 'Grant it', action: ACTIONS.grant, value: readValue(read) };
  const line = lineWith(what, button(shape));
  return before === null
    ? [line]
    : [
        line,
        prose(
          paragraph(
            words(`${call.tool} was tried again for `),
            person(before.by),
            words(' at '),
            moment(before.at),
            words(': still not.'),
          ),
        ),
      ];
}

/** What a button carries: which read, and the hash of all it is. */
export const readValue = ({ call, hash }: Pick<OpenRead, 'call' | 'hash'>): string =>
  `${call.incidentId}:${call.id}:${hash}`;

/** Exactly what would be run. */
function formatRead({ call }: OpenRead): string {
  const input = canonicalJson(call.input);
  return `${call.tool} on ${call.target ?? 'nothing'}${input === '{}' ? '' : ` ${cut(input, 200)}`}`;
}
