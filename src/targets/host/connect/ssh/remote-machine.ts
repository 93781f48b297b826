import { anySignal } from '../../../../core/any-signal.ts';
import { messageOf, OpsError } from '../../../../core/errors.ts';
import type { SessionOptions } from '../../../../tools/ports.ts';
import type { Machine, PidFile } from '../../machine.ts';
import type { SshTarget } from '../../ssh-config.ts';
import { ageOf } from '../declared-service.ts';
import { pidFileNotRead } from '../pid-file-fault.ts';
import { restartCommand } from '../restart-command.ts';
import type { DeclaredRun } from '../run-declared.ts';
import { openConnection, type RemoteRun, type SshConnection } from './connection.ts';
import { remoteAccess } from './remote-access.ts';
import { remotePaths } from './remote-files.ts';
import { LACKS, PID_FILE, RESTART } from './scripts.ts';
import { createShell, type RemoteShell, whole } from './shell.ts';

const TIMEOUT_MS = 10_000;
const within = (): SessionOptions => ({ timeoutMs: TIMEOUT_MS, signal: AbortSignal.timeout(TIMEOUT_MS) });
const BOOT_ID = '/proc/sys/kernel/random/boot_id';
const SYSTEMCTL = '/usr/bin/systemctl';
const PROGRAMS = ['cat', 'date', 'env', 'find', 'head', 'readlink', 'sh', 'stat', 'tail', 'timeout', 'uname'];

/** A machine over ssh. Nothing is connected before it is first asked. */
export function sshMachine(target: SshTarget): Machine {
  const connection = openConnection(target);
  const shell = createShell(connection);
  const text = async (argv: readonly string[]): Promise<string> =>
    whole(await shell.run(argv, within())).stdout.toString('utf8');
  const asRoot = (argv: readonly string[]) => (target.sudo ? ['/usr/bin/sudo', '-n', '--', ...argv] : argv);
  const run: Machine['run'] = async (argv, { timeoutMs, signal, capture }) =>
    declaredRun(whole(await shell.run(argv, { timeoutMs, signal })), capture);
  return {
    access: remoteAccess(shell),
    async identity() {
      const id = await text(['cat', '/etc/machine-id', '/var/lib/dbus/machine-id']);
      const [found] = /^[0-9a-f]{32}$/mu.exec(id) ?? [];
      return found ?? `host:${(await text(['uname', '-n'])).trim()}`;
    },
    async clock() {
      const [boot = '', uptime = ''] = (await text(['cat', BOOT_ID, '/proc/uptime'])).split('\n');
      return clockOf(boot, uptime);
    },
    async describe() {
      const name = /^PRETTY_NAME="?([^"\n]+)"?$/mu.exec(await text(['cat', '/etc/os-release']))?.[1];
      const [system = '', kernel = '', machine = ''] = (await text(['uname', '-srm'])).trim().split(' ');
      return { os: name ?? system, kernel, architecture: architectures[machine] ?? machine };
    },
    async process(pid, options) {
      const paths = [BOOT_ID, '/proc/uptime', '/proc/1/stat', `/proc/${pid}/stat`];
      const { stdout } = whole(await shell.run(['cat', ...paths], options));
      const [boot = '', uptime = '', init = '', ...stat] = stdout.toString('utf8').split('\n');
      // Where others' processes are hidden, one that is not seen may well run.
      if (!init.startsWith('1 (')) throw cannotSee(target);
      return processOf(boot, uptime, stat.join('\n'));
    },
    async programOf(pid, options) {
      const { code, stdout } = whole(await shell.run(['readlink', '-n', `/proc/${pid}/exe`], options));
      const file = stdout.toString('utf8');
      return code !== 0 || file.endsWith(' (deleted)') ? null : file;
    },
    pidFile: (path, options) => remotePidFile(shell, path, options),
    systemctl: () => SYSTEMCTL,
    hasProgram: async (path) => whole(await shell.run(['test', '-x', path], within())).code === 0,
    run,
    async restart(argv, { deadline, steady, maxMs, capture }, signal) {
      const [boot = '', seconds = ''] = deadline.clock?.split('/') ?? [];
      const until = Math.floor(Number(seconds) * 100 + deadline.withinMs / 10);
      const words = [
        boot,
        String(until),
        String(steady?.main_pid ?? 0),
        steady?.started_at.split('/')[1] ?? '',
        capture ? 'heard' : 'quiet',
      ];
      const ended = await shell.script(RESTART, [...words, ...asRoot(argv)], { timeoutMs: maxMs, signal });
      const lost = ended.isLost ? { lost: `the connection to ${target.host} broke while it ran` } : {};
      return { ...declaredRun(ended, capture), ...lost };
    },
    reach: (port, options) => reachRemote(connection, port, options),
    async mayUse(folder, right) {
      const rights = right === 'write' ? ['-a', '-w', folder] : [];
      const argv = ['test', '-r', folder, '-a', '-x', folder, ...rights];
      return whole(await shell.run(argv, within())).code === 0;
    },
    async lacks(services) {
      const { stdout } = whole(await shell.script(LACKS, PROGRAMS, within()));
      const missing = stdout.toString('utf8').split('\n').filter(Boolean);
      if (!target.sudo) return missing;
      for (const service of services) {
        const argv = restartCommand(service, SYSTEMCTL);
        const { code } = whole(await shell.run(['/usr/bin/sudo', '-n', '-l', '--', ...argv], within()));
        if (code !== 0)
          missing.push(`${target.user} may not run by sudo, or is asked for a password: ${argv.join(' ')}`);
      }
      return missing;
    },
    close: () => connection.close(),
  };
}

/** What Node calls them: one machine has one name, whichever way it is reached. */
const architectures: Readonly<Record<string, string>> = { x86_64: 'x64', aarch64: 'arm64' };

/** `timeout` says 137 of what it killed: how far that came, nobody knows. */
function declaredRun({ code, killed, stdout, stderr }: RemoteRun, capture: boolean): DeclaredRun {
  const isKilled = killed !== null || code === 137;
  return {
    exitCode: isKilled ? null : code,
    output: capture ? `${stdout.toString('utf8')}${stderr.toString('utf8')}` : '',
  };
}

function clockOf(boot: string, uptime: string): string | null {
  const seconds = uptime.split(' ')[0] ?? '';
  return boot === '' || !/^\d+\.\d\d$/u.test(seconds) ? null : `${boot}/${seconds}`;
}

/** By the fields of proc(5) after the command's name. */
function processOf(boot: string, uptime: string, stat: string) {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, ticks] = [fields[0], fields[19]];
  if (state === 'Z' || state === 'X' || ticks === undefined) return null;
  const startedAt = `${boot}/${ticks}`;
  return { startedAt, ageSeconds: ageOf(startedAt, Number(uptime.split(' ')[0])) };
}

function cannotSee({ user, host }: SshTarget): OpsError {
  return new OpsError('HOST_HIDDEN', `${user} on ${host} is not shown the processes of other accounts.`, {
    hint: `Mount /proc there with hidepid=0, or with gid= of a group that ${user} is in.`,
  });
}

async function remotePidFile(shell: RemoteShell, path: string, options: SessionOptions): Promise<PidFile> {
  const at = await remotePaths(shell).resolve(path);
  if (!at.ok) throw pidFileNotRead(`${path} was not read: ${at.reason}`);
  if (at.missing) return { realPath: at.path, text: null, writtenSecondsAgo: 0 };
  const { stdout } = whole(await shell.script(PID_FILE, [path, at.path], options));
  const [head = '', now = '', ...text] = stdout.toString('utf8').split('\n');
  const [, size, written] = /^(\d+) (\d+)$/u.exec(head) ?? [];
  if (size === undefined || Number(size) > 4_096)
    throw pidFileNotRead(`${path} was not read: ${pidFileFaults[head] ?? 'it is no small file'}.`);
  return {
    realPath: at.path,
    text: text.join('\n'),
    writtenSecondsAgo: Math.max(0, Number(now) - Number(written)),
  };
}

const pidFileFaults: Readonly<Record<string, string>> = {
  link: 'it is a link',
  other: 'it is not a regular file',
  unreadable: 'it may not be read',
  changed: 'it was replaced meanwhile',
};

/** Nothing is sent to it; sshd connects, as the host itself would. */
async function reachRemote(connection: SshConnection, port: number, { timeoutMs, signal }: SessionOptions) {
  const limit = anySignal([signal, AbortSignal.timeout(timeoutMs)]);
  const refused: string[] = [];
  for (const address of ['127.0.0.1', '::1']) {
    try {
      const stream = await connection.dial(address, port, limit);
      if (stream) {
        stream.destroy();
        return { port, reachable: true, says: `port ${port} takes connections at ${address}` };
      }
      refused.push(`${address} refused`);
    } catch (error) {
      // Allowed for one of the two is enough, and what it says counts; of a port that may not be asked nobody knows.
      if (address === '::1' && refused.length > 0) refused.push(`${address} not asked: ${messageOf(error)}`);
      else throw error;
    }
  }
  return { port, reachable: false, says: `nobody takes connections at port ${port} (${refused.join(', ')})` };
}
