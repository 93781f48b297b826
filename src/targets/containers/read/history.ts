import { z } from 'zod';
import { count } from '../../../core/count.ts';
import { age, bytes, more, oneLine } from '../../format.ts';
import { shortId } from '../describe.ts';
import { containerName, containerTool } from '../tool.ts';

const MOST = 40;

interface Layer {
  /** Seconds since 1970. */
  readonly Created: number;
  readonly CreatedBy: string;
  readonly Size: number;
}

/**
 * How the image of a container was made. Data: `{ container, image, image_id, built_seconds_ago, tag_moved, layers: [{ made_by,
 * bytes, seconds_ago }] }`, newest first; `tag_moved`: its tag names another image by now, null when it names none.
 */
export const imageHistory = containerTool.read({
  name: 'container_history',
  description:
    'The image a container was made from: when it was built, its layers with the commands that made them, and whether its tag names another image by now.',
  kind: 'read',
  input: z.strictObject({ container: containerName }),
  timeoutMs: 10_000,
  async run(context, { container: name }) {
    const { engine } = context.system;
    const { name: found, image, imageId } = await engine.container(name, context);
    const history = await engine.get<readonly Layer[]>(
      `/images/${encodeURIComponent(imageId)}/history`,
      `the image of ${found}`,
      context,
    );
    const tagged = await engine
      .get<{ readonly Id: string }>(
        `/images/${encodeURIComponent(image)}/json`,
        `the image ${image}`,
        context,
      )
      .catch(() => null);
    const ago = (created: number) => Math.max(0, Math.round(Date.now() / 1_000 - created));
    const layers = history.map(({ Created: created, CreatedBy: by, Size: size }) => ({
      made_by: oneLine(by.replace(/^\/bin\/sh -c (?:#\(nop\) )?/, ''), 200),
      bytes: size,
      seconds_ago: ago(created),
    }));
    const shown = layers.slice(0, MOST);
    const built = layers[0]?.seconds_ago ?? null;
    const moved = tagged === null ? null : shortId(tagged.Id) !== shortId(imageId);
    return {
      text: [
        `${found} was made from ${image} (${shortId(imageId)}), built ${age(built)} ago, ${count(layers.length, 'layer')}.`,
        ...(moved ? [`The tag ${image} names another image by now: ${shortId(tagged?.Id ?? '')}.`] : []),
        ...shown.map(
          (layer) => `${age(layer.seconds_ago)} ago, ${bytes(layer.bytes)}: ${layer.made_by || '–'}`,
        ),
        ...more(layers.length, shown.length),
      ].join('\n'),
      data: {
        container: found,
        image,
        image_id: shortId(imageId),
        built_seconds_ago: built,
        tag_moved: moved,
        layers: shown,
      },
    };
  },
});
