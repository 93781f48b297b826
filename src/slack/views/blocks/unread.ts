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

/** One read that showed nothing, with what a person can do about it, or who is at it; in short where it has one line. */
export function drawOpenRead(read: OpenRead, isShort = false): readonly Block[] {
  const { call, why, asked, before } = read;
  const [input, reason] = isShort ? [24, 40] : [200, 250];
  const what = `${formatRead(read, input)}: ${cut(oneLine(why.reason), reason)}`;
  if (asked)
    return [
      prose(
        ...(isShort ? [] : [paragraph(words(`Could not be read: ${what}`))]),
        paragraph(
          words(
            isShort
              ? `Being read again: ${formatRead(read, input)}, as asked by `
              : 'Being read again, as asked by ',
          ),
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
  const said = `Could not be read: ${what}`;
  const line = lineWith(isShort ? cut(said, 110) : said, button(shape));
  return before === null
    ? [line]
    : [
        line,
        prose(
          paragraph(
            ...(isShort ? [] : [words(`${call.tool} was `)]),
            words(isShort ? 'Tried again for ' : 'tried again for '),
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

/** What would be run: exactly that, where there is room. */
function formatRead({ call }: OpenRead, max: number): string {
  const input = canonicalJson(call.input);
  const where = call.target === null ? '' : ` on ${max < 100 ? cut(oneLine(call.target), 30) : call.target}`;
  return `${max < 100 ? cut(call.tool, 40) : call.tool}${where}${input === '{}' ? '' : ` ${cut(input, max)}`}`;
}
