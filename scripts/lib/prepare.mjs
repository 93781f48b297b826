import { fileURLToPath } from 'node:url';
import { build, isBuilt } from './build-dist.mjs';
import { install, isInstalled } from './install.mjs';
import { withLock } from './lock.mjs';
import { PrepareError } from './prepare-error.mjs';

export { PrepareError };

/** The checkout. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Installs and compiles what is not up to date. Takes the lock only when there is something to do: a checkout that
 * is ready needs no right to write.
 *
 * @returns {Promise<boolean>} whether anything was compiled
 */
export async function prepare(options) {
  if (isInstalled(root) && isBuilt(root, options)) return false;
  return withLock(root, async () => {
    // Whoever had the lock before may have done it all.
    if (!isInstalled(root)) await install(root);
    if (isBuilt(root, options)) return false;
    await build(root, options);
    return true;
  });
}
