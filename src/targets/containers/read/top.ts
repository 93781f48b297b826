import { z } from 'zod';
import { count } from '../../../core/count.ts';
import { more, table } from '../../format.ts';
import { containerName, containerTool } from '../tool.ts';

const MOST = 50;

/** What runs inside a container. Data: `{ container, titles, processes: [[cell]], count }`. */
export const containerTop = containerTool.read({
  name: 'container_top',
  description: 'The processes inside a running container, as ps shows them.',
  kind: 'read',
  input: z.strictObject({ container: containerName }),
  timeoutMs: 10_000,
  async run(context, { container: name }) {
    const { engine } = context.system;
    const container = await engine.container(name, context);
    const { titles, rows } =
      container.upSeconds === null ? { titles: [], rows: [] } : await engine.processes(container, context);
    const shown = rows.slice(0, MOST);
    return {
      text: [
        `${count(rows.length, 'process').replace('processs', 'processes')} in ${container.name} (${container.state}).`,
        ...table(titles, shown),
        ...more(rows.length, shown.length),
      ].join('\n'),
      data: {
        container: container.name,
        titles: [...titles],
        processes: shown.map((row) => [...row]),
        count: rows.length,
      },
    };
  },
});
