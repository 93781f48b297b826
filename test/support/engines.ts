import { type ScratchEngine, startScratchEngine } from '../../evals/record/scratch-engine.ts';
import type { EngineName } from '../../playground/faults/containers/shop-engine.ts';
import { missingPackages, type Needed } from './missing-packages.ts';
import { scratchDir } from './scratch-dir.ts';

/** What an engine and its only image need, by Debian's names. */
const needed: Readonly<Record<EngineName, Needed>> = {
  docker: [
    ['dockerd', 'docker.io'],
    ['busybox', 'busybox-static'],
  ],
  podman: [
    ['podman', 'podman'],
    ['runc', 'runc'],
    ['busybox', 'busybox-static'],
  ],
};

/** Why an engine cannot be started, as a command where that helps; null: it can. CI must have them. */
export function missingFor(kind: EngineName): string | null {
  // An engine of its own needs root: rootless ones need more of the machine than tests may ask for.
  if (process.getuid?.() === 0) return missingPackages(kind, needed[kind]);
  // oxlint-disable-next-line node/no-process-env -- only a test's own switch
  if (process.env['CI'] === 'true') throw new Error(`CI has no ${kind}: it needs root`);
  return 'needs root';
}

/** An engine of the tests' own, in a folder of its own. */
export async function startEngine(kind: EngineName): Promise<ScratchEngine> {
  const engine = await startScratchEngine(kind, scratchDir());
  return {
    ...engine,
    async run(container, options) {
      // A test that is tried again finds what it made before.
      await engine.remove(container);
      return engine.run(container, options);
    },
  };
}
