import { z } from 'zod';
import type { ActionOutcome } from '../../../core/action.ts';
import { count } from '../../../core/count.ts';
import { messageOf, OpsError, refuse } from '../../../core/errors.ts';
import type { Deadline } from '../../../tools/define.ts';
import type { SessionOptions } from '../../../tools/ports.ts';
import { bootClock, passed } from '../../boot-clock.ts';
import { bytes, more } from '../../format.ts';
import { shortId } from '../describe.ts';
import type { Engine } from '../engine.ts';
import { danglingImages, type Image } from '../read/disk.ts';
import { containerTool, mayAct } from '../tool.ts';

/** By id: these and no others are removed. */
type Guard = { readonly images: readonly string[] };

/** On the card. */
const MOST_LINES = 20;

/** Removes dangling images: those without a name that no container was made from. Nothing else is ever pruned. */
export const pruneImages = containerTool.active<Record<string, never>, Guard>({
  name: 'container_prune',
  description:
    'Removes dangling images, which have no name and no container: leftovers of builds and pulls. Gives disk back. Never containers, volumes, networks or named images.',
  kind: 'active',
  verbs: {
    does: 'Remove',
    did: 'Removed',
    button: 'Remove dangling images',
    frees: 'Disk space of images that nothing uses.',
    costs: 'The next build may take longer once.',
  },
  input: z.strictObject({}),
  timeoutMs: 60_000,
  command: () => 'image rm (each dangling image of the list)',
  rules: (context) =>
    mayAct(context) ??
    (context.system.isPartial
      ? refuse(
          'ENGINE_NOT_IN_CARE',
          `Of ${context.target.name} only some containers are under care; its images may be the others’.`,
        )
      : undefined),
  async preflight(context) {
    const dangling = await danglingImages(context.system.engine, context);
    if (dangling.length === 0)
      throw new OpsError('GONE', 'There are no dangling images.', { hint: 'Look where the disk goes.' });
    const size = dangling.reduce((all, { Size }) => all + Size, 0);
    const largest = dangling.toSorted((a, b) => b.Size - a.Size || (a.Id < b.Id ? -1 : 1));
    return {
      guard: { images: idsOf(dangling) },
      clock: bootClock(),
      lines: [
        `${count(dangling.length, 'dangling image')}, ${bytes(size)}, with the unnamed layers that nothing else uses`,
        ...largest.slice(0, MOST_LINES).map((image) => `${shortId(image.Id)}: ${bytes(image.Size)}`),
        ...more(largest.length, MOST_LINES),
      ],
      blastRadius:
        'Nothing runs from them and nothing names them; a build that could reuse their layers takes longer once.',
      undo: 'Cannot be undone; they can be built or pulled again.',
      risk: 'low',
    };
  },
  objects: () => [{ kind: 'images', key: 'dangling images', label: 'the dangling images' }],
  async run({ system: { engine }, ...options }, _input, guard, deadline) {
    const now = await danglingImages(engine, options);
    // One that became dangling since, or is none any more, is not what was approved.
    if (idsOf(now).join() !== guard.images.join())
      return { kind: 'failed', text: 'Nothing was done: there are other dangling images by now.' };
    return removeEach(engine, now, options, deadline);
  },
  async look({ system, ...options }, _input, guard) {
    const now = new Set((await danglingImages(system.engine, options)).map(({ Id }) => Id));
    const left = guard.images.filter((id) => now.has(id)).length;
    return left === 0 ? 'done' : left === guard.images.length ? 'not_done' : 'cannot_tell';
  },
  isRepeatable: true,
  effect: () => ({
    steps: [
      {
        tool: 'container_disk',
        input: {},
        holds: 'result.images.dangling == 0',
        says: 'no dangling image is left',
      },
    ],
    holdMs: 1_000,
    timeoutMs: 60_000,
  }),
});

const idsOf = (images: readonly Image[]): readonly string[] => images.map(({ Id }) => Id).toSorted();

/**
 * One by one and by id: the engine's own pruning takes whatever is dangling by the time it gets to it, which is more than a
 * person has seen. The youngest first, as an image may be what another was built on.
 */
async function removeEach(
  engine: Engine,
  images: readonly Image[],
  options: SessionOptions,
  deadline: Deadline,
): Promise<ActionOutcome> {
  let removed = 0;
  const ended = (kind: 'failed' | 'unknown', why: string): ActionOutcome => ({
    kind,
    text:
      removed === 0 && kind === 'failed'
        ? `Nothing was done: ${why}`
        : `Removed ${removed} of ${count(images.length, 'dangling image')}, then stopped: ${why}`,
  });
  for (const { Id: id } of images.toSorted((a, b) => (b.Created ?? 0) - (a.Created ?? 0))) {
    try {
      if (await isNamed(engine, id, options)) return ended('failed', `${shortId(id)} has a name by now.`);
    } catch (error) {
      return ended('failed', messageOf(error));
    }
    if (passed(bootClock(), deadline)) return ended('failed', 'the deadline had passed.');
    try {
      await engine.remove(`/images/${id}`, 'to remove a dangling image', options);
    } catch (error) {
      // With an image go the unnamed ones that it alone was built on, which may be among the others.
      if (!(error instanceof OpsError && error.code === 'ENGINE_NOT_FOUND')) {
        // An answer that refuses is a certain *no effect*; silence leaves it open.
        const isRefusal = error instanceof OpsError && /^ENGINE_(?:4\d\d|DENIED)$/.test(error.code);
        return ended(isRefusal ? 'failed' : 'unknown', messageOf(error));
      }
    }
    removed += 1;
  }
  return { kind: 'succeeded', text: `Removed ${count(removed, 'dangling image')}.` };
}

/** Its removal by id would take its name with it. */
async function isNamed(engine: Engine, id: string, options: SessionOptions): Promise<boolean> {
  try {
    const image = await engine.get<Pick<Image, 'RepoTags'>>(
      `/images/${id}/json`,
      'a dangling image',
      options,
    );
    return (image.RepoTags ?? []).some((tag) => !tag.startsWith('<none>'));
  } catch (error) {
    if (error instanceof OpsError && error.code === 'ENGINE_NOT_FOUND') return false;
    throw error;
  }
}
