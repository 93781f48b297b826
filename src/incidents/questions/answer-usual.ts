import type { IncidentRecord } from '../../core/incident-record.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import {
  describeUnread,
  describeUsual,
  isUsualKnown,
  type UsualValue,
  type UsualValues,
} from '../../core/usual.ts';
import type { Line } from './answer-lines.ts';

const TOOL = 'usual_values';
const MOST = 3;

/** When now was last compared with what is usual, by the record; undefined: nobody has. */
export const comparedLast = ({ toolCalls }: Pick<IncidentRecord, 'toolCalls'>): ToolCall | undefined =>
  toolCalls.findLast(({ tool, state }) => tool === TOOL && state === 'ok');

/** What of the target was unusual when it was looked at, and what was not; never that all is well. */
export function usualOf(record: IncidentRecord): readonly Line[] {
  const call = comparedLast(record);
  if (call === undefined) return [['What it is like has not been compared with what is usual here.']];
  const { target, at, values } = call.result as unknown as UsualValues;
  const judged = values.filter(({ unusual }) => unusual !== null);
  const usual = judged.filter(({ unusual }) => unusual === 'no');
  const unusual = judged.filter((value) => value.unusual !== 'no');
  const unread = describeUnread(values);
  const gap = unread === null ? [] : [[unread]];
  if (judged.length === 0)
    return isUsualKnown(values)
      ? [
          [
            `What ${target} is like could not be read at `,
            { at },
            ', so it was not compared with what is usual.',
          ],
        ]
      : [
          [
            `There is no usual of ${target} yet: too few samples were taken while no incident of it was open. Looked at `,
            { at },
            '.',
          ],
        ];
  if (unusual.length === 0)
    return [
      [
        `Nothing of ${target} that I keep was unusual at `,
        { at },
        `: ${named(usual)}. That does not show that it is healthy.`,
      ],
      ...gap,
    ];
  return [
    [`Not usual for ${target} at `, { at }, `: ${named(unusual)}. That is a lead, no cause.`],
    ...(usual.length === 0 ? [] : [[`As usual: ${named(usual)}.`]]),
    ...gap,
  ];
}

function named(values: readonly UsualValue[]): string {
  const said = values.flatMap((value) => describeUsual(value) ?? []);
  const more = said.length - MOST;
  return `${said.slice(0, MOST).join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}
