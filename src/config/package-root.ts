import { existsSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OpsError } from '../core/errors.ts';

/** The package's root: where runbooks/, prisma/ and manifest.yml are, from a checkout and from dist/ alike. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json')) || !isAbsolute(folder)) {
    const up = dirname(folder);
    if (up === folder)
      throw new OpsError('BROKEN_INSTALL', 'No package.json above the program.', {
        hint: 'Install Sentry again.',
      });
    folder = up;
  }
  return folder;
}

export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  return version;
}
