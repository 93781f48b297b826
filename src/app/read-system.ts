import { existsSync, readFileSync } from 'node:fs';
import { arch, release, type } from 'node:os';
import type { SystemFacts } from '../memory/systems/system-facts.ts';
import type { ReadSystem } from '../memory/systems/systems.ts';
import { programVersion } from '../targets/host/connect/program-version.ts';
import type { Host, HostTargets, PostgresTargets } from '../tools/ports.ts';

const TIMEOUT_MS = 5_000;

/** What a target runs: of a database the server, its platform and its extensions; of this machine the system and the services. */
export function createReadSystem(ports: {
  readonly postgres: PostgresTargets;
  readonly hosts: HostTargets & { has(name: string): boolean };
}): ReadSystem {
  return (target) =>
    ports.hosts.has(target) ? hostFacts(ports.hosts.host(target)) : postgresFacts(ports.postgres, target);
}

const within = () => ({ timeoutMs: TIMEOUT_MS, signal: AbortSignal.timeout(TIMEOUT_MS) });

async function postgresFacts(postgres: PostgresTargets, target: string): Promise<SystemFacts> {
  const options = within();
  const [server, extensions] = await postgres.read(
    target,
    async (session) => [
      await session.query(`SELECT current_setting('server_version') AS version, version() AS whole`),
      await session.query('SELECT extname, extversion FROM pg_extension ORDER BY extname'),
    ],
    options,
  );
  const row = server?.[0] ?? {};
  // "PostgreSQL 17.2 (Debian 17.2-1) on x86_64-pc-linux-gnu, compiled by …"
  const platform = / on ([^,]+)/.exec(String(row['whole']))?.[1];
  return {
    postgresql: String(row['version']).split(' ')[0] ?? '',
    ...(platform ? { os: platform } : {}),
    ...Object.fromEntries(
      (extensions ?? []).map((one) => [`extension ${String(one['extname'])}`, String(one['extversion'])]),
    ),
  };
}

async function hostFacts(host: Host): Promise<SystemFacts> {
  const osRelease = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
  const name = /^PRETTY_NAME="?([^"\n]+)"?$/m.exec(osRelease)?.[1] ?? type();
  return { os: name, kernel: release(), architecture: arch(), ...(await serviceFacts(host)) };
}

/** What each declared service runs. One that is down, or that cannot be asked or looked into now, has none. */
async function serviceFacts(host: Host): Promise<SystemFacts> {
  const facts = await Promise.all(
    host.services.map(async (name) => {
      const version = await programOf(host, name).catch(() => null);
      return version === null ? [] : [[`service ${name}`, version] as const];
    }),
  );
  return Object.fromEntries(facts.flat());
}

async function programOf(host: Host, service: string): Promise<string | null> {
  const { mainPid } = await host.service(service, within());
  return mainPid === null ? null : programVersion(mainPid, within());
}
