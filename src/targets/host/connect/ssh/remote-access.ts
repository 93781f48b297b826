import { refuse } from '../../../../core/errors.ts';
import { logRootOf } from '../../../../safety/commands/grammars/tail.ts';
import { refuseNoLog, refuseNoLogs } from '../../../../safety/commands/open-logs.ts';
import { defaultCommandPolicy } from '../../../../safety/commands/policy.ts';
import { descriptorWords, withNames } from '../../../../safety/commands/run-command.ts';
import { searchInside } from '../../../../safety/grep/search-inside.ts';
import { type CheckedPath, checkPath } from '../../../../safety/paths/check-path.ts';
import { NO_PATCH_OVER_SSH } from '../../config.ts';
import type { HostAccess } from '../../system.ts';
import { readRemote, remoteEnds, remotePaths, walkRemote } from './remote-files.ts';
import { DIAGNOSE } from './scripts.ts';
import { type RemoteShell, whole } from './shell.ts';

const TIMEOUT_MS = 10_000;
const never = new AbortController().signal;

const noPatch = async () => refuse('HOST_NO_PATCH', NO_PATCH_OVER_SSH);

/** The files and diagnostics of a host over ssh, by the same rules as those of this machine. */
export function remoteAccess(shell: RemoteShell): HostAccess {
  const paths = remotePaths(shell);
  return {
    check: (root, text) => checkPath(root, text, paths),
    read: (root, text, options) => readRemote(shell, root, text, options),
    walk: (root, text, options) => walkRemote(shell, root, text, options),
    search: (root, text, pattern, options) =>
      searchInside(root, text, pattern, options, {
        walk: (from, path, limits) => walkRemote(shell, from, path, limits),
        ends: (_root, files, maxBytes, signal) => remoteEnds(shell, files, maxBytes, signal),
      }),
    async run(command, { policy = defaultCommandPolicy, timeoutMs = 35_000, maxOutputBytes, signal } = {}) {
      const files: CheckedPath[] = [];
      for (const index of command.files) {
        const path = command.argv[index] ?? '';
        const root = logRootOf(path, policy);
        if (!root) return refuseNoLogs(path);
        const checked = await checkPath(root.root, path, paths);
        if (!checked.ok) return checked;
        if (checked.kind === 'missing') return refuse('PATH_MISSING', 'There is no such file.');
        if (checked.kind !== 'file') return refuse('PATH_NOT_A_FILE', 'The path is a folder, not a file.');
        const refusal = refuseNoLog(root, path, checked.resolved);
        if (refusal) return refusal;
        files.push(checked);
      }
      const began = performance.now();
      const words = [
        String(files.length),
        ...files.map(({ resolved }) => resolved),
        command.binary,
        ...descriptorWords(command),
      ];
      const run = await shell.script(DIAGNOSE, words, {
        timeoutMs,
        signal: signal ?? never,
        ...(maxOutputBytes === undefined ? {} : { maxBytes: maxOutputBytes }),
      });
      if (run.isLost) whole(run);
      if (run.code === 127)
        return refuse('NOT_INSTALLED', `${command.binary} is not installed on this host.`);
      if (run.code === 125)
        return refuse(
          'PATH_CHANGED',
          'The file was replaced while it was opened, or may not be read. Try again.',
        );
      // Ended by the host itself, a moment before it would have been from here.
      const isLate = run.killed === null && (run.code === null || run.code === 137);
      return {
        ok: true,
        exitCode: isLate ? null : run.code,
        stdout: withNames(run.stdout.toString('utf8'), files),
        stderr: withNames(run.stderr.toString('utf8'), files),
        killed: isLate ? 'timeout' : run.killed,
        durationMs: Math.round(performance.now() - began),
      };
    },
    plan: noPatch,
    apply: noPatch,
    undo: noPatch,
    async space(path) {
      const options = { timeoutMs: TIMEOUT_MS, signal: AbortSignal.timeout(TIMEOUT_MS) };
      const { stdout } = whole(await shell.run(['stat', '-f', '-c', '%S %b %a', '--', path], options));
      const [unit = 0, blocks = 0, free = 0] = stdout.toString('utf8').split(' ').map(Number);
      return { size: unit * blocks, free: unit * free };
    },
  };
}
