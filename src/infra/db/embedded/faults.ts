import { messageOf, OpsError } from '../../../core/errors.ts';

/** What goes wrong most often, in PostgreSQL's and the system's own words, and what the operator does about it. */
const known: readonly {
  readonly when: RegExp;
  readonly code: string;
  readonly retryable: boolean;
  readonly hint: string;
}[] = [
  {
    when: /could not resize shared memory segment|could not create shared memory|Cannot allocate memory/i,
    code: 'POSTGRES_MEMORY',
    retryable: true,
    hint: 'Free memory or enlarge /dev/shm (in a container: --shm-size=256m), then start again.',
  },
  {
    when: /No space left on device|ENOSPC|Disk quota exceeded|EDQUOT/i,
    code: 'POSTGRES_DISK_FULL',
    retryable: true,
    hint: 'Free some disk space (PostgreSQL needs about 100 MB), then start again. Nothing that was committed is lost.',
  },
  {
    when: /Read-only file system|EROFS/i,
    code: 'POSTGRES_READ_ONLY',
    retryable: false,
    hint: 'The data folder is on a read-only file system. Point SENTRY_DATA_DIR at a writable one, or set DATABASE_URL.',
  },
  {
    when: /Address already in use|could not bind/i,
    code: 'POSTGRES_PORT_TAKEN',
    retryable: true,
    hint: 'Every port that was tried is taken. End the program that takes them, or set DATABASE_URL.',
  },
  {
    when: /has wrong ownership|invalid permissions|Permission denied|EACCES|EPERM/i,
    code: 'POSTGRES_PERMISSION',
    retryable: false,
    hint: 'The data folder belongs to another user. Start Sentry as that user, or give the folder to this one (chown -R).',
  },
  {
    when: /pre-existing shared memory block|lock file .* already exists/i,
    code: 'POSTGRES_IN_USE',
    retryable: true,
    hint: 'Another PostgreSQL still uses this data folder. Wait some seconds or end it, then start again.',
  },
  {
    when: /ENOENT|error while loading shared libraries|GLIBC|ENOEXEC|Exec format error/i,
    code: 'POSTGRES_BINARY',
    retryable: false,
    hint: 'The embedded PostgreSQL cannot run on this system. Set DATABASE_URL to a PostgreSQL 14 or newer.',
  },
];

/**
 * The fault as the operator should read it.
 *
 * @param doing what was tried, as "start", "initialise".
 * @param output the end of what the program printed, empty when it never ran.
 */
export function postgresFault(name: string, doing: string, output: string, cause?: unknown): OpsError {
  if (cause instanceof OpsError) return cause;
  const text = `${output}\n${cause === undefined ? '' : messageOf(cause)}`;
  const match = known.find((fault) => fault.when.test(text));
  const said = lastLines(output) || (cause === undefined ? 'it said nothing' : messageOf(cause));
  return new OpsError(
    match?.code ?? 'POSTGRES_FAILED',
    `cannot ${doing} the embedded PostgreSQL "${name}": ${said}`,
    {
      retryable: match?.retryable ?? false,
      hint:
        match?.hint ??
        'Read server.log in its data folder; or set DATABASE_URL to use a PostgreSQL of your own.',
      cause,
    },
  );
}

/** The last lines, without time and pid: a FATAL one is often only the end of the reason. */
function lastLines(output: string): string {
  const lines = output.split('\n').map((line) => line.replace(/^[\d-]+ [\d:.]+ \w+ \[\d+\] /, '').trim());
  return lines
    .filter((line) => line !== '')
    .slice(-4)
    .join(' | ')
    .slice(-800);
}
