import { Command } from 'commander';
import { checkMessages, doctor } from '../app/doctor.ts';
import { loadConfig } from '../config/config.ts';
import { createLog } from '../infra/log/log.ts';
import { exitCodes } from './fail.ts';

export const doctorCommand = new Command('doctor')
  .description('Check every part that a start would use; exit code 1 when a required one is not well.')
  .option('--json', 'the findings as JSON', false)
  .option('--slack', 'also have Slack check every kind of message that is sent to it; none is posted', false)
  .action(async ({ json, slack }: { readonly json: boolean; readonly slack: boolean }) => {
    const [config, log] = [loadConfig(), createLog('fatal')];
    const findings = [...(await doctor(config, log)), ...(slack ? await checkMessages(config, log) : [])];
    if (json) process.stdout.write(`${JSON.stringify(findings, null, 2)}\n`);
    else {
      const width = Math.min(30, Math.max(...findings.map(({ part }) => part.length)));
      for (const { part, ok, required, says, todo } of findings) {
        process.stdout.write(`${ok ? '✓' : required ? '✗' : '!'} ${part.padEnd(width)} ${says}\n`);
        if (todo) process.stdout.write(`  ${' '.repeat(width)} → ${todo}\n`);
      }
    }
    if (findings.some((finding) => finding.required && !finding.ok)) process.exitCode = exitCodes.failed;
  });
