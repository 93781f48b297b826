import type Docker from 'dockerode';
import { z } from 'zod';
import { count } from '../../../core/count.ts';
import { more, withoutBreaks } from '../../format.ts';
import { unreadLines } from '../describe.ts';
import { containerTool } from '../tool.ts';

const MOST = 50;

/** The volumes, and who mounts them. Data: `{ volumes: [{ name, driver, mounted_by: [name] }], count }`. */
export const engineVolumes = containerTool.read({
  name: 'container_volumes',
  description:
    'The named volumes of the engine and the containers that mount each; how large they are tells the tool for its disk.',
  kind: 'read',
  input: z.strictObject({}),
  timeoutMs: 15_000,
  async run(context) {
    const { engine } = context.system;
    const { Volumes: listed } = await engine.get<{
      readonly Volumes: readonly Docker.VolumeInspectInfo[] | null;
    }>('/volumes', 'its volumes', context);
    const everything = await engine.containers(context);
    const { found: containers } = everything;
    const volumes = (listed ?? []).map(({ Name: name, Driver: driver }) => ({
      name,
      driver,
      mounted_by: containers
        .filter(({ raw }) => raw.Mounts.some((mount) => mount.Name === name))
        .map((each) => each.name),
    }));
    const shown = volumes.slice(0, MOST);
    return {
      text: [
        `${count(volumes.length, 'volume')}.`,
        ...shown.map((each) =>
          withoutBreaks(
            `${each.name} (${each.driver}): ${each.mounted_by.join(', ') || 'mounted by nobody'}`,
          ),
        ),
        ...more(volumes.length, shown.length),
        ...unreadLines(everything),
      ].join('\n'),
      data: { volumes: shown, count: volumes.length },
    };
  },
});
