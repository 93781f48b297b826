import { existsSync, readFileSync } from 'node:fs';
import { access, constants, readlink, realpath } from 'node:fs/promises';
import { arch, release, type } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { OpsError } from '../../../core/errors.ts';
import { processIdentity } from '../../../infra/process/process-identity.ts';
import { readRegular } from '../../../infra/process/read-regular.ts';
import { findBinary } from '../../../safety/commands/find-binary.ts';
import { bootClock } from '../../boot-clock.ts';
import type { Machine, PidFile } from '../machine.ts';
import { wrapWithDeadline } from './deadline-guard.ts';
import { ageOf } from './declared-service.ts';
import { machineIdentity } from './host-identity.ts';
import { localAccess } from './local-access.ts';
import { pidFileNotRead } from './pid-file-fault.ts';
import { reachPort } from './reach-port.ts';
import { runDeclared } from './run-declared.ts';
import { systemctlPath } from './systemd-service.ts';

/** A pid, and room for what some programs write after it. */
const PID_FILE_BYTES = 4_096;

/** This machine. */
export const localMachine: Machine = {
  access: localAccess,
  identity: async () => machineIdentity(),
  clock: async () => bootClock(),
  async describe() {
    const osRelease = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
    const name = /^PRETTY_NAME="?([^"\n]+)"?$/m.exec(osRelease)?.[1] ?? type();
    return { os: name, kernel: release(), architecture: arch() };
  },
  async process(pid) {
    const found = processIdentity(pid);
    return found ? { startedAt: found.startedAt, ageSeconds: ageOf(found.startedAt) } : null;
  },
  async programOf(pid) {
    try {
      // Of a program that was replaced while it runs: it is not the installed version.
      const file = await readlink(`/proc/${pid}/exe`);
      return file.endsWith(' (deleted)') ? null : file;
    } catch {
      // Another account's, or no longer there: what is not known is not held against a memory.
      return null;
    }
  },
  pidFile: readPidFile,
  systemctl: systemctlPath,
  hasProgram: async (path) => existsSync(path),
  run: runDeclared,
  restart: (argv, { deadline, steady, maxMs, capture }, signal) =>
    runDeclared(wrapWithDeadline(argv, deadline, steady, maxMs), {
      signal,
      timeoutMs: maxMs + 2_000,
      capture,
    }),
  reach: reachPort,
  async mayUse(folder, right) {
    const mode = right === 'write' ? constants.R_OK | constants.W_OK : constants.R_OK;
    return access(folder, mode).then(
      () => true,
      () => false,
    );
  },
  lacks: async () =>
    (await findBinary('git')) === undefined ? ['git is not installed: patches cannot be checked'] : [],
  close: async () => undefined,
};

async function readPidFile(path: string): Promise<PidFile> {
  const real = await realPath(path);
  try {
    const file = await readRegular(path, PID_FILE_BYTES);
    return {
      realPath: real,
      text: file?.text ?? null,
      writtenSecondsAgo: file ? (Date.now() - file.mtimeMs) / 1000 : 0,
    };
  } catch (error) {
    if (!(error instanceof OpsError)) throw error;
    throw pidFileNotRead(error.message, error);
  }
}

/** With all links followed, also while the file itself is not there. */
async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      return dirname(path) === path ? path : join(await realPath(dirname(path)), basename(path));
    const why =
      code === 'ELOOP' ? 'it is a link in a circle' : `it has no path that can be followed (${code})`;
    throw pidFileNotRead(`${path} was not read: ${why}.`, error);
  }
}
