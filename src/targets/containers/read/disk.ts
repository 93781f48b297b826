import { z } from 'zod';
import { count } from '../../../core/count.ts';
import { measureAt } from '../../../core/measure.ts';
import type { SessionOptions } from '../../../tools/ports.ts';
import { bytes, more, withoutBreaks } from '../../format.ts';
import { shortId } from '../describe.ts';
import type { Engine } from '../engine.ts';
import { containerTool } from '../tool.ts';

const MOST = 20;

export interface Image {
  readonly Id: string;
  readonly RepoTags?: readonly string[] | null;
  /** Bytes. */
  readonly Size: number;
  /** How many were made from it. */
  readonly Containers: number;
  /** Seconds since 1970. */
  readonly Created?: number;
}

const isDangling = ({ RepoTags: tags, Containers: users }: Image): boolean =>
  users <= 0 && (tags ?? []).every((tag) => /^<none>(?::<none>)?$/.test(tag));

const useOf = (engine: Engine, options: SessionOptions) =>
  engine.get<DiskUse>('/system/df', 'its disk', options);

/** Images without a name that no container was made from. */
export async function danglingImages(engine: Engine, options: SessionOptions): Promise<readonly Image[]> {
  return ((await useOf(engine, options)).Images ?? []).filter(isDangling);
}

/** https://docs.docker.com/reference/api/engine/version/v1.41/#tag/System/operation/SystemDataUsage */
interface DiskUse {
  readonly Images?: readonly Image[] | null;
  readonly Containers?: readonly { readonly Names: readonly string[]; readonly SizeRw?: number }[] | null;
  readonly Volumes?:
    | readonly {
        readonly Name: string;
        readonly UsageData?: { readonly Size: number; readonly RefCount: number } | null;
      }[]
    | null;
  readonly BuildCache?: readonly { readonly Size: number; readonly InUse: boolean }[] | null;
}

/**
 * Where the engine's disk goes. Data: `{ images: { count, bytes, dangling, dangling_bytes }, containers: [{ name, bytes }],
 * volumes: [{ name, bytes, used_by }], unused_volumes_bytes, build_cache_bytes }`, the largest first.
 */
export const engineDisk = containerTool.read({
  name: 'container_disk',
  description:
    'Where the disk of the engine goes: images (and dangling ones, which nothing names or uses), what each container has written in its own layer, volumes and who uses them, build cache. Logs of containers are not among it.',
  kind: 'read',
  measures: [
    measureAt('images.dangling_bytes', {
      name: 'dangling_images',
      label: 'bytes in dangling images',
      well: 'dangling images hold {bound}',
      unit: 'bytes',
      healthy: 'at_most',
      bound: 0,
    }),
  ],
  input: z.strictObject({}),
  timeoutMs: 60_000,
  async run(context) {
    const { engine } = context.system;
    const use = await useOf(engine, context);
    const images = use.Images ?? [];
    const dangling = images.filter(isDangling);
    const written = (use.Containers ?? [])
      .map(({ Names: [name = '–'], SizeRw: size = 0 }) => ({ name: name.replace(/^\//, ''), bytes: size }))
      .toSorted((a, b) => b.bytes - a.bytes);
    const volumes = (use.Volumes ?? [])
      .map(({ Name: name, UsageData: usage }) => ({
        name: /^[0-9a-f]{64}$/.test(name) ? shortId(name) : name,
        bytes: Math.max(0, usage?.Size ?? 0),
        used_by: Math.max(0, usage?.RefCount ?? 0),
      }))
      .toSorted((a, b) => b.bytes - a.bytes);
    const sum = (sizes: readonly { readonly Size: number }[]) =>
      sizes.reduce((all, { Size: size }) => all + size, 0);
    const unused = volumes.filter((each) => each.used_by === 0).reduce((all, each) => all + each.bytes, 0);
    const data = {
      images: {
        count: images.length,
        bytes: sum(images),
        dangling: dangling.length,
        dangling_bytes: sum(dangling),
      },
      containers: written.slice(0, MOST),
      volumes: volumes.slice(0, MOST),
      unused_volumes_bytes: unused,
      build_cache_bytes: sum(use.BuildCache ?? []),
    };
    return {
      text: [
        `${count(images.length, 'image')}: ${bytes(data.images.bytes)}; ${dangling.length} dangling: ${bytes(data.images.dangling_bytes)}; build cache: ${bytes(data.build_cache_bytes)}`,
        ...data.containers
          .filter((each) => each.bytes > 0)
          .map((each) => `container ${each.name} has written ${bytes(each.bytes)} into its own layer`),
        ...data.volumes.map(
          (each) => `volume ${each.name}: ${bytes(each.bytes)}, used by ${count(each.used_by, 'container')}`,
        ),
        ...more(volumes.length, data.volumes.length),
      ]
        .map(withoutBreaks)
        .join('\n'),
      data,
    };
  },
});
