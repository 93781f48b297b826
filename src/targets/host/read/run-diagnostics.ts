import { z } from 'zod';
import { OpsError, orThrow, type Refusal, refuse } from '../../../core/errors.ts';
import type { AllowedCommand } from '../../../safety/commands/decision.ts';
import { parseCommand } from '../../../safety/commands/parse-command.ts';
import type { CommandPolicy } from '../../../safety/commands/policy.ts';
import { redact } from '../../../safety/screen/redact.ts';
import { hostTool } from '../tool.ts';

const MAX_OUTPUT = 256 * 1024;

/**
 * One diagnostic command. Data: `{ command, exit_code, stdout, stderr, cut }`; an exit code other than 0 is an answer,
 * `cut` says why it was ended before its end (`timeout`, `output`) or null.
 */
export const runDiagnostics = hostTool.read({
  name: 'run_diagnostics',
  description:
    'Runs one diagnostic command on the host: ps, top, netstat, ss, lsof, df, du, ls, free, vmstat, iostat, dmesg, uptime, nproc, uname, hostname, ip (what it shows), "systemctl status|is-active|list-units UNIT", journalctl -u UNIT -n N, tail -n N LOG, ping -c N HOST, dig NAME, curl URL (GET of allowed hosts). No shell: no pipes, no substitutions; each command has its own allowed arguments, and a refusal says which.',
  kind: 'diagnostic',
  input: z.strictObject({ command: z.string().min(1).max(1000) }),
  timeoutMs: 40_000,
  rules(context, { command }) {
    const judged = judge(command, context.system.commands);
    return judged.ok ? undefined : judged;
  },
  async run(context, { command }) {
    const host = context.system;
    const { allowed } = orThrow(judge(command, host.commands));
    const result = orThrow(
      await host.access.run(allowed, {
        policy: host.commands,
        timeoutMs: Math.max(1_000, context.timeoutMs - 3_000),
        maxOutputBytes: MAX_OUTPUT,
        signal: context.signal,
      }),
    );
    if (result.killed === 'aborted')
      throw new OpsError('STOPPED', 'The command was called off.', {
        hint: 'Call it again.',
        retryable: true,
      });
    const shown = allowed.argv.join(' ');
    const ended =
      result.killed === null
        ? `exit code ${result.exitCode}`
        : `ended at the limit of ${limitOf[result.killed]}`;
    return {
      text: [
        `$ ${shown}  (${ended}, ${result.durationMs} ms)`,
        result.stdout.trimEnd(),
        ...(result.stderr.trim() === '' ? [] : [`stderr: ${result.stderr.trimEnd()}`]),
      ].join('\n'),
      data: {
        command: shown,
        exit_code: result.exitCode,
        stdout: result.stdout,
        stderr: result.stderr,
        cut: result.killed,
      },
    };
  },
});

const limitOf = { timeout: 'time', output: 'output' } as const;

function judge(
  command: string,
  policy: CommandPolicy,
): { readonly ok: true; readonly allowed: AllowedCommand } | Refusal {
  const decision = parseCommand(command, policy);
  if (!decision.allowed)
    return refuse(
      'COMMAND_REFUSED',
      `${decision.rule}: ${decision.reason} Allowed: ${decision.allowedInstead}`,
    );
  // A command is no way to carry a secret anywhere.
  const text = decision.argv.join(' ');
  if (redact(text) !== text) return refuse('COMMAND_SECRET', 'The command holds what looks like a secret.');
  return { ok: true, allowed: decision };
}
