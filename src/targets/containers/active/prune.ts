import { z } from 'zod';
import { count } from '../../../core/count.ts';
import { messageOf, OpsError, refuse } from '../../../core/errors.ts';
import { bootClock, passed } from '../../boot-clock.ts';
import { bytes } from '../../format.ts';
import { danglingImages } from '../read/disk.ts';
import { containerTool, mayAct } from '../tool.ts';

type Guard = { readonly images: readonly string[] };

/** Removes dangling images: those without a name that no container was made from. Nothing else is ever pruned. */
export const pruneImages = containerTool.active<Record<string, never>, Guard>({
  name: 'container_prune',
  description:
    'Removes dangling images, which have no name and no container: leftovers of builds and pulls. Gives disk back. Never containers, volumes, networks or named images.',
  kind: 'active',
  verbs: { does: 'Remove', did: 'Removed', button: 'Remove dangling images' },
  input: z.strictObject({}),
  timeoutMs: 60_000,
  command: () => 'image prune --force',
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
    return {
      guard: { images: dangling.map(({ Id }) => Id).toSorted() },
      clock: bootClock(),
      lines: [`${count(dangling.length, 'dangling image')}, ${bytes(size)}`],
      blastRadius:
        'Nothing runs from them and nothing names them; a build that could reuse their layers takes longer once.',
      undo: 'Cannot be undone; they can be built or pulled again.',
      risk: 'low',
    };
  },
  objects: () => [{ kind: 'images', key: 'dangling images', label: 'the dangling images' }],
  async run(context, _input, guard, deadline) {
    const { engine } = context.system;
    const now = (await danglingImages(engine, context)).map(({ Id }) => Id);
    // One that became dangling since is not what was approved.
    if (now.some((id) => !guard.images.includes(id)))
      return { kind: 'failed', text: 'Nothing was done: there are other dangling images by now.' };
    if (passed(bootClock(), deadline))
      return { kind: 'failed', text: 'Nothing was done: the deadline had passed.' };
    try {
      const { SpaceReclaimed: freed = 0 } = await engine.post<{ readonly SpaceReclaimed?: number }>(
        '/images/prune',
        'to remove dangling images',
        context,
        { query: { filters: JSON.stringify({ dangling: ['true'] }) } },
      );
      return { kind: 'succeeded', text: `Removed; ${bytes(freed)} are free again.` };
    } catch (error) {
      return { kind: 'unknown', text: messageOf(error) };
    }
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
