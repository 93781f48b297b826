import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { OpsError } from '../../../core/errors.ts';

/** The user PostgreSQL runs as; undefined means: as ourselves. */
export interface RunAs {
  readonly uid: number;
  readonly gid: number;
}

/**
 * PostgreSQL refuses to run as root. So as root: the user who owns the data already, else the system user
 * `postgres`, which is created when there is none. As anybody else: ourselves.
 *
 * @throws OpsError POSTGRES_NO_USER when root cannot have such a user.
 */
export function postgresUser(cluster: string | undefined): RunAs | undefined {
  if (process.getuid?.() !== 0) return undefined;
  return clusterOwner(cluster) ?? systemUser() ?? createSystemUser();
}

function clusterOwner(cluster: string | undefined): RunAs | undefined {
  if (cluster === undefined) return undefined;
  const stat = statSync(cluster, { throwIfNoEntry: false });
  return stat === undefined || stat.uid === 0 ? undefined : { uid: stat.uid, gid: stat.gid };
}

function systemUser(): RunAs | undefined {
  const uid = id('-u');
  const gid = id('-g');
  return uid === undefined || gid === undefined || uid === 0 ? undefined : { uid, gid };
}

function id(flag: '-u' | '-g'): number | undefined {
  const run = spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' });
  return run.status === 0 ? Number(run.stdout.trim()) : undefined;
}

/** `useradd` alone makes the group as well; it fails when another process was faster, which is as good. */
function createSystemUser(): RunAs {
  const system = ['--system', '--no-create-home', '--shell', '/usr/sbin/nologin'];
  const attempts = [
    ['useradd', [...system, '--user-group', 'postgres']],
    ['useradd', [...system, '--gid', 'postgres', 'postgres']],
    ['adduser', ['-S', '-D', '-H', 'postgres']],
  ] as const;
  const said: string[] = [];
  for (const [command, args] of attempts) {
    const run = spawnSync(command, args, { encoding: 'utf8' });
    const user = systemUser();
    if (user !== undefined) return user;
    said.push(run.error?.message ?? run.stderr.trim());
  }
  throw new OpsError(
    'POSTGRES_NO_USER',
    `PostgreSQL does not run as root, and there is no user for it: ${said.join('; ')}`,
    {
      hint: 'Create a system user named postgres (useradd --system postgres), start Sentry as an ordinary user, or set DATABASE_URL.',
    },
  );
}
