import { OpsError, orThrow } from '../../../core/errors.ts';
import { parseCommand } from '../../../safety/commands/parse-command.ts';
import type { ToolContext } from '../../../tools/define.ts';
import type { Host } from '../system.ts';

const MAX_OUTPUT = 1024 * 1024;

/** The lines of a diagnostic command of ours, which passes the same grammar as those of models. Throws when it fails. */
export const commandLines = async (context: ToolContext<Host>, command: string): Promise<readonly string[]> =>
  (await commandOutput(context, command)).lines;

/** The same. `complete` is false where the command says that something of it could not be read. */
export async function commandOutput(
  context: ToolContext<Host>,
  command: string,
): Promise<{ readonly lines: readonly string[]; readonly complete: boolean }> {
  const { access, commands } = context.system;
  const allowed = parseCommand(command, commands);
  if (!allowed.allowed) throw new Error(`${command}: ${allowed.reason}`);
  const { exitCode, killed, stdout, stderr } = orThrow(
    await access.run(allowed, {
      policy: commands,
      timeoutMs: Math.max(1_000, context.timeoutMs - 3_000),
      maxOutputBytes: MAX_OUTPUT,
      signal: context.signal,
    }),
  );
  // `df` exits with 1 when one of many file systems cannot be read: what it printed of the others stands.
  if (killed !== null || (exitCode !== 0 && stdout.trim() === ''))
    throw new OpsError(
      'COMMAND_FAILED',
      `${allowed.binary} ${killed === null ? `ended with exit code ${exitCode}: ${stderr.trim().slice(0, 300)}` : 'did not come to its end'}`,
      { hint: `Look whether ${allowed.binary} works on the host.`, retryable: killed !== null },
    );
  return { lines: stdout.split('\n').filter((line) => line.trim() !== ''), complete: exitCode === 0 };
}
