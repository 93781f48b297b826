/**
 * The last check before a restart, in the process that does it. A Sentry that is paused between its own look and the start
 * of the program would otherwise act late, when somebody else has already judged that it did not: this little
 * program starts after the pause, reads the machine's clock and the service's main process itself, and only then
 * runs the command. What a database does in the statement that has the effect, as close as an operating system gets.
 *
 * Arguments: boot clock (`boot/seconds`, empty: none), ms after it, the command's time, pid (0: none), its start in ticks, then the command.
 * When the command's time (ms) is over, the whole process group is killed, also while Sentry is paused.
 * Exit codes of its own, which no command has by convention: 245 too late, 246 the process is another, 247 the command cannot be started.
 */
export const GUARD_LATE = 245;
export const GUARD_MOVED = 246;
export const GUARD_NO_COMMAND = 247;

const program = `
const { readFileSync } = require('node:fs');
const { spawnSync } = require('node:child_process');
const [clock, withinMs, maxMs, pid, ticks, command, ...words] = process.argv.slice(1);
const read = (path) => { try { return readFileSync(path, 'utf8'); } catch { return ''; } };
if (clock !== '') {
  const [boot, seconds] = clock.split('/');
  const now = Number(read('/proc/uptime').split(' ')[0]);
  if (read('/proc/sys/kernel/random/boot_id').trim() !== boot || !(now * 1000 < Number(seconds) * 1000 + Number(withinMs)))
    process.exit(${GUARD_LATE});
}
if (pid !== '0' && ticks !== '') {
  const stat = read('/proc/' + pid + '/stat');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // A zombie is nobody any more.
  if (fields[19] !== ticks || fields[0] === 'Z' || fields[0] === 'X') process.exit(${GUARD_MOVED});
}
const { status, error } = spawnSync(command, words, {
  cwd: '/', stdio: 'inherit', timeout: Number(maxMs), killSignal: 'SIGKILL',
});
if (error && error.code === 'ETIMEDOUT') process.kill(-process.pid, 'SIGKILL');
process.exit(error ? ${GUARD_NO_COMMAND} : status === null ? 1 : status);
`;

/** The words that run a command behind the deadline guard. `startedAt`: as `processIdentity` gives it, `<boot id>/<ticks>`. */
export function wrapWithDeadline(
  argv: readonly string[],
  deadline: { readonly clock: string | null; readonly withinMs: number },
  steady: { readonly main_pid: number; readonly started_at: string } | null,
  maxMs: number,
): readonly string[] {
  const linux = process.platform === 'linux';
  return [
    process.execPath,
    '-e',
    program,
    '--',
    linux ? (deadline.clock ?? '') : '',
    String(deadline.withinMs),
    String(maxMs),
    String(linux && steady ? steady.main_pid : 0),
    linux && steady ? (steady.started_at.split('/')[1] ?? '') : '',
    ...argv,
  ];
}
