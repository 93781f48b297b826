import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createLog } from '../../../src/infra/log/log.ts';
import { scratchDir } from '../../support/scratch-dir.ts';

it('the log is for its owner, whatever the umask is [F20]', () => {
  const file = join(scratchDir(), 'sentry.log');
  createLog('info', { file }).info({}, 'said');
  expect(statSync(file).mode & 0o777).toBe(0o600);
});
