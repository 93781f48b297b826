import { join } from 'node:path';
import { expect, it } from 'vitest';
import { shopHostFolder } from '../../../src/app/playground.ts';
import { isSecretFile } from '../../../src/safety/paths/secret-files.ts';

it.each(['/srv/sentry/.sentry', '/srv/.sentry/one', '/var/lib/sentry'])(
  'the host of the playground in %s has files that may be read',
  (dataDir) => {
    const file = join(shopHostFolder(dataDir), 'logs', 'worker.log');
    expect(isSecretFile(file)).toBe(false);
    expect(isSecretFile(join(dataDir, 'vault.key'))).toBe(true);
  },
);
