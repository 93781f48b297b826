import { z } from 'zod';
import { count } from '../../../core/count.ts';
import { lineMatcher } from '../../../safety/grep/line-matcher.ts';
import { withoutBreaks } from '../../format.ts';
import { greppedLines, UNSEARCHED } from '../../grepped-lines.ts';
import type { Pod } from '../objects.ts';
import { podState } from '../pod-state.ts';
import { inCare, kubernetesTool, namespaceName, namespaceOf, objectName } from '../tool.ts';

const MOST_LINES = 500;
/** Of what is searched. */
const SEARCHED = 20_000;
/** What is shown of a line. */
const LINE = 2_000;

/** What a pod wrote. Data: `{ pod, container, previous, lines: [text], count, matched, complete, text }`, oldest first; `text` without the times. */
export const podLogs = kubernetesTool.read({
  name: 'kubernetes_logs',
  description:
    'What a container of a pod wrote, oldest first, with times. previous: of the run before its last restart, which says why it died. With grep, the matching lines among the newest 20,000. Without a container, the one that is in trouble.',
  kind: 'read',
  input: z.strictObject({
    namespace: namespaceName,
    pod: objectName,
    container: objectName.optional(),
    previous: z.boolean().default(false),
    tail: z.number().int().min(1).max(MOST_LINES).default(100).describe('The newest so many lines.'),
    since_seconds: z
      .number()
      .int()
      .min(1)
      .max(7 * 86_400)
      .optional(),
    grep: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('A regular expression without look-around; ignores case.'),
  }),
  timeoutMs: 20_000,
  rules(context, { grep, ...input }) {
    const matcher =
      grep === undefined ? undefined : lineMatcher({ pattern: grep, ignoreCase: true, literal: false });
    return matcher && !matcher.ok ? matcher : inCare(context, input);
  },
  async run(
    context,
    { namespace: given, pod: name, container: wanted, previous, tail, since_seconds, grep },
  ) {
    const { cluster } = context.system;
    const namespace = namespaceOf(context.system, given);
    const pod = await cluster.get<Pod>({ kind: 'pod', namespace, name }, context);
    const container = wanted ?? telling(pod);
    const read = await cluster.log(
      namespace,
      name,
      {
        container,
        previous,
        tail: grep === undefined ? tail : SEARCHED,
        ...(since_seconds === undefined ? {} : { sinceSeconds: since_seconds }),
      },
      context,
    );
    const { found, isComplete } = await greppedLines(read.lines, withoutTime, grep, context);
    const lines = found.slice(-tail).map(shown);
    const complete =
      isComplete &&
      read.isComplete &&
      found.length <= tail &&
      read.lines.length < (grep === undefined ? tail : SEARCHED);
    return {
      text: [
        `${count(lines.length, 'line')} of ${name} [${container}]${previous ? ', of its run before' : ''}.${complete ? '' : ' There are older ones.'}`,
        ...(isComplete ? [] : [UNSEARCHED]),
        ...lines,
      ].join('\n'),
      data: {
        pod: name,
        container,
        previous,
        lines,
        count: lines.length,
        matched: found.length,
        complete,
        text: lines.map(withoutTime).join('\n'),
      },
    };
  },
});

/** The container whose log is worth reading: the one in trouble, else the first. */
export const telling = (pod: Pod): string =>
  podState(pod, Date.now()).container ?? pod.spec.containers[0]?.name ?? '';

/** Each line begins with the time at which it was written. */
export const withoutTime = (line: string): string =>
  line.replace(/^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d) ?/, '');

export const shown = (line: string): string =>
  withoutBreaks(line.length <= LINE ? line : `${line.slice(0, LINE)}… (+${line.length - LINE} characters)`);
