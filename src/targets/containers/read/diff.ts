import { z } from 'zod';
import { count } from '../../../core/count.ts';
import { more, withoutBreaks } from '../../format.ts';
import { containerName, containerTool } from '../tool.ts';

const MOST = 100;
/** https://docs.docker.com/reference/api/engine/version/v1.41/#tag/Container/operation/ContainerChanges */
const KINDS = ['changed', 'added', 'deleted'] as const;

/** What a container has changed in its files. Data: `{ container, files: [{ path, kind }], count }`. */
export const containerDiff = containerTool.read({
  name: 'container_diff',
  description:
    'Files that a container has added, changed or deleted since it was made from its image; not those of volumes. Shows a log or a cache that fills its layer.',
  kind: 'read',
  input: z.strictObject({ container: containerName }),
  timeoutMs: 30_000,
  async run(context, { container: name }) {
    const { engine } = context.system;
    const { id, name: found } = await engine.container(name, context);
    const changes =
      (await engine.get<readonly { readonly Path: string; readonly Kind: number }[] | null>(
        `/containers/${id}/changes`,
        `the files of ${found}`,
        context,
      )) ?? [];
    const files = changes.map(({ Path: path, Kind: what }) => ({ path, kind: KINDS[what] ?? 'changed' }));
    const shown = files.slice(0, MOST);
    return {
      text: [
        `${count(files.length, 'file')} of ${found} differ from its image.`,
        ...shown.map(({ path, kind: what }) => withoutBreaks(`${what} ${path}`)),
        ...more(files.length, shown.length),
      ].join('\n'),
      data: { container: found, files: shown, count: files.length },
    };
  },
});
