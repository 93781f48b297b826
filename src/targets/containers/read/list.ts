import { z } from 'zod';
import { count } from '../../../core/count.ts';
import { more } from '../../format.ts';
import { composeOf, containerData, containerLine, runsSteadily, unreadLines } from '../describe.ts';
import type { Container } from '../engine.ts';
import { containerTool } from '../tool.ts';

/**
 * All containers. Data: `{ containers: [as of inspect], total, running, not_running, unread }`, those in trouble first; `unread`: how
 * many could not be read.
 */
export const listContainers = containerTool.read({
  name: 'container_list',
  description:
    'The containers of the engine, running or not: state, health, exit code, restarts, image; those in trouble first. The first look when it is not known which container an alert is about.',
  kind: 'read',
  input: z.strictObject({
    name: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe('Only those whose name, image or compose service contains it.'),
    limit: z.number().int().min(1).max(200).default(50),
  }),
  timeoutMs: 15_000,
  async run(context, { name, limit }) {
    const listed = await context.system.engine.containers(context);
    const { found: all, unread, beyond } = listed;
    const wanted = name === undefined ? all : all.filter((each) => speaksOf(each, name.toLowerCase()));
    const ordered = wanted.toSorted((a, b) => trouble(b) - trouble(a));
    const shown = ordered.slice(0, limit);
    const up = wanted.filter(runsSteadily).length;
    return {
      text: [
        `${count(wanted.length, 'container')}, ${up} of them running.`,
        ...shown.map(containerLine),
        ...more(wanted.length, shown.length),
        ...unreadLines(listed),
      ].join('\n'),
      data: {
        containers: shown.map(containerData),
        total: wanted.length,
        running: up,
        not_running: wanted.length - up,
        unread: unread.length + beyond,
      },
    };
  },
});

const speaksOf = (container: Container, part: string): boolean =>
  [container.name, container.image, composeOf(container).service ?? ''].some((text) =>
    text.toLowerCase().includes(part),
  );

/** What keeps dying, then what is down by a fault, then what is ill. */
function trouble(container: Container): number {
  const { state, exitCode, health, oomKilled, restarts } = container;
  if (state === 'restarting' || state === 'dead') return 5;
  if (oomKilled) return 4;
  if (exitCode !== null && exitCode !== 0) return 3;
  if (health === 'unhealthy') return 2;
  return runsSteadily(container) && restarts === 0 ? 0 : 1;
}
