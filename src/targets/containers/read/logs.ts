import { z } from 'zod';
import { count } from '../../../core/count.ts';
import { measureAt } from '../../../core/measure.ts';
import { lineMatcher } from '../../../safety/grep/line-matcher.ts';
import { withoutBreaks } from '../../format.ts';
import { greppedLines, UNSEARCHED } from '../../grepped-lines.ts';
import { containerName, containerTool } from '../tool.ts';

const MOST_LINES = 500;
/** Of what is searched. */
const SEARCHED = 20_000;

/**
 * What a container wrote. Data: `{ container, lines: [{ stream, at, text }], count, matched,
 * complete, lines_per_second, text }`; oldest first. A rate is told of a time that is given: over `since_seconds`, at least, where
 * there are more lines than are searched.
 */
export const containerLogs = containerTool.read({
  name: 'container_logs',
  description:
    'What a container wrote on standard output and standard error, oldest first, with times; also of one that has ended. With grep, the matching lines among the newest 20,000. The end of the log says why it died.',
  kind: 'read',
  measures: [
    measureAt('lines_per_second', {
      name: 'log_rate',
      label: 'lines written a second',
      well: '{bound} are written',
      unit: 'lines/s',
      healthy: 'at_most',
      bound: 20,
      intermittent: true,
    }),
  ],
  input: z.strictObject({
    container: containerName,
    tail: z.number().int().min(1).max(MOST_LINES).default(100).describe('The newest so many lines.'),
    since_seconds: z
      .number()
      .int()
      .min(1)
      .max(7 * 86_400)
      .optional()
      .describe('Not older than so many seconds.'),
    until_seconds: z
      .number()
      .int()
      .min(1)
      .max(7 * 86_400)
      .optional()
      .describe('Not younger than so many seconds.'),
    stream: z.enum(['stdout', 'stderr']).optional(),
    grep: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('A regular expression without look-around; ignores case.'),
  }),
  timeoutMs: 15_000,
  rules(_context, { grep }) {
    const matcher =
      grep === undefined ? undefined : lineMatcher({ pattern: grep, ignoreCase: true, literal: false });
    return matcher && !matcher.ok ? matcher : undefined;
  },
  async run(context, { container: name, tail, since_seconds, until_seconds, stream, grep }) {
    const { engine } = context.system;
    const container = await engine.container(name, context);
    const isChosen = grep !== undefined || stream !== undefined || since_seconds !== undefined;
    const read = await engine.logs(
      container,
      {
        tail: isChosen ? SEARCHED : tail,
        ...(since_seconds === undefined ? {} : { sinceSeconds: since_seconds }),
        ...(until_seconds === undefined ? {} : { untilSeconds: until_seconds }),
      },
      context,
    );
    const ofStream = read.filter((line) => stream === undefined || line.stream === stream);
    const { found, isComplete } = await greppedLines(ofStream, ({ text }) => text, grep, context);
    const lines = found.slice(-tail);
    const complete = isComplete && found.length <= tail && read.length < (isChosen ? SEARCHED : tail);
    return {
      text: [
        `${count(lines.length, 'line')} of ${container.name}.${complete ? '' : ' There are older ones.'}`,
        ...(isComplete ? [] : [UNSEARCHED]),
        ...lines.map((line) =>
          withoutBreaks(`${line.at} ${line.stream === 'stderr' ? 'err' : 'out'} ${line.text}`),
        ),
      ].join('\n'),
      data: {
        container: container.name,
        lines: lines.map((line) => ({ ...line })),
        count: lines.length,
        matched: found.length,
        complete,
        lines_per_second: rateOf(found.length, since_seconds, until_seconds),
        text: lines.map(({ text }) => text).join('\n'),
      },
    };
  },
});

const rateOf = (lines: number, since: number | undefined, until = 0): number | null =>
  since === undefined || since <= until ? null : Math.round((10 * lines) / (since - until)) / 10;
