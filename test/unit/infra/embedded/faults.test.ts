import { expect, test } from 'vitest';
import { OpsError } from '../../../../src/core/errors.ts';
import { postgresFault } from '../../../../src/infra/db/embedded/faults.ts';

const stamp = '2026-11-21 23:13:56.401 UTC [17441]';

test.each([
  [
    `${stamp} PANIC:  could not write to file "pg_wal/xlogtemp.7": No space left on device`,
    'POSTGRES_DISK_FULL',
    true,
  ],
  [
    `${stamp} FATAL:  could not resize shared memory segment: No space left on device`,
    'POSTGRES_MEMORY',
    true,
  ],
  ['initdb: error: could not create directory "/x": Permission denied', 'POSTGRES_PERMISSION', false],
  [`${stamp} FATAL:  data directory "/x" has wrong ownership`, 'POSTGRES_PERMISSION', false],
  ['could not bind IPv4 address "127.0.0.1": Address already in use', 'POSTGRES_PORT_TAKEN', true],
  ['initdb: error: could not create directory "/x": Read-only file system', 'POSTGRES_READ_ONLY', false],
  ['postgres: error while loading shared libraries: libssl.so.1.1', 'POSTGRES_BINARY', false],
  ['something nobody has seen before', 'POSTGRES_FAILED', false],
])('%s is told as %s', (output, code, retryable) => {
  const fault = postgresFault('sentry', 'start', output);
  expect(fault).toMatchObject({ code, retryable });
  expect(fault.hint).toMatch(/\.$/);
  // The system's own words, without time and pid.
  expect(fault.message).toContain(output.replace(`${stamp} `, ''));
});

test('an error of the file system is told by its code, and a fault that is one already stays itself', () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  expect(postgresFault('sentry', 'start', '', full)).toMatchObject({
    code: 'POSTGRES_DISK_FULL',
    cause: full,
  });
  const own = new OpsError('POSTGRES_VERSION', 'x', { hint: 'y' });
  expect(postgresFault('sentry', 'start', '', own)).toBe(own);
});
