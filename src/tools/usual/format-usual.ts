import { clipLine } from '../../core/clip.ts';
import { count } from '../../core/count.ts';
import {
  describeUnread,
  isUsualKnown,
  type Spread,
  sayNumber,
  sayRange,
  type UsualValue,
  type UsualValues,
} from '../../core/usual.ts';

/** For people and models: what is unusual first, then each number with how much is known of it. Times are UTC. */
export function formatUsual({ target, at, values, unread, leftOut }: UsualValues): string {
  const isUnusual = ({ unusual }: UsualValue): boolean => unusual === 'higher' || unusual === 'lower';
  const unusual = values.filter(isUnusual);
  const judged = values.filter((value) => value.unusual !== null);
  return [
    `${target} at ${at.replace(/\.\d+Z$/, 'Z')}: ${headOf(unusual.length, judged.length, values)}`,
    ...unusual.map(lineOf),
    ...values.filter((value) => !isUnusual(value)).map(lineOf),
    ...unread.map((line) => clipLine(`Could not be read: ${line}`, 300)),
    ...(leftOut > 0
      ? [`${count(leftOut, 'sample')} left out: an incident of ${target} was open when they were taken.`]
      : []),
  ].join('\n');
}

function headOf(unusual: number, judged: number, values: readonly UsualValue[]): string {
  if (judged === 0)
    return isUsualKnown(values)
      ? 'COULD NOT BE READ, so nothing was compared.'
      : 'no usual yet, so nothing can be said.';
  const unread = describeUnread(values);
  const gap = unread === null ? '' : ` ${unread}`;
  return unusual === 0
    ? `none of ${count(judged, 'number')} is unusual, which does not show that it is healthy.${gap}`
    : `${unusual} of ${count(judged, 'number')} UNUSUAL, a lead and no cause.${gap}`;
}

function lineOf(value: UsualValue): string {
  const { now, hour, all, samples, unusual, label } = value;
  const head =
    unusual === 'higher' || unusual === 'lower'
      ? `UNUSUAL (${unusual}): `
      : unusual === 'no'
        ? 'usual: '
        : '';
  const said = now === null ? `${label}: not read` : sayNumber(value, now);
  const usual = [
    ...(hour === null ? [] : [`at this hour ${ofSpread(hour)}`]),
    ...(all === null ? [] : [`at any hour ${ofSpread(all)}`]),
  ];
  return `${head}${said}; ${usual.length > 0 ? `usually ${usual.join('; ')}` : `no usual yet (${count(samples, 'sample')})`}`;
}

const ofSpread = (spread: Spread): string =>
  `${sayRange(spread)}, median ${spread.median.toLocaleString('en-US', { maximumFractionDigits: 1 })} (${count(spread.samples, 'sample')} of ${count(spread.days, 'day')})`;
