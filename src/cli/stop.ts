import { Command } from 'commander';
import { configuredTargets } from '../app/targets.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { OpsError, type Refusal } from '../core/errors.ts';
import { namesFile, resumed, stoppedText } from '../incidents/kill-switch/kill-switch-commands.ts';
import { createKillSwitchService } from '../incidents/kill-switch/kill-switch-service.ts';
import { ENDED_FILES } from '../incidents/kill-switch/shared-files.ts';
import { createLog } from '../infra/log/log.ts';
import { createRecords } from '../record/record.ts';
import { createAuditLog } from '../safety/audit/audit-chain.ts';
import { createKillSwitch } from '../safety/kill-switch/kill-switch.ts';
import { aliasesOf, parseKillSwitch } from '../safety/kill-switch/parse-kill-switch.ts';
import { redact } from '../safety/screen/redact.ts';
import { domainsOf } from '../targets/domains.ts';
import { kinds } from '../targets/kinds.ts';
import { operator, withStore } from './with-store.ts';

interface Options {
  readonly for?: string;
  readonly reason: string;
}

export const stopCommand = new Command('stop')
  .description('Keep Sentry from changing anything, in every process; answers when what had begun has ended.')
  .argument('[scope]', 'everything, a domain (postgres) or a target', 'everything')
  .option('--for <time>', '30m, 2h, 1d: it ends by itself then; without it, when somebody resumes')
  .option('--reason <text>', 'why, for everybody to read', '')
  .action((scope: string, options: Options) => {
    const order = orderOf('stop', loadConfig(), scope, options);
    return withBoard(async (board) => {
      const running = await board.stop(order, (claimed) => {
        if (claimed.length > 0)
          process.stderr.write(`The switch is set. Waiting for ${claimed.length} that had begun …\n`);
      });
      process.stdout.write(`${stoppedText(order.scope, running, await board.alsoNamed(order.scope))}\n`);
    });
  });

export const resumeCommand = new Command('resume')
  .description('Take a stop back; incidents it held up are looked at again.')
  .argument(
    '[scope]',
    'as it was stopped: everything, a domain or a target; STOP_SENTRY: files of processes that have ended',
    'everything',
  )
  .option('--reason <text>', 'why, for everybody to read', '')
  .action((scope: string, options: Options) => {
    const order = namesFile(scope)
      ? { scope: ENDED_FILES, reason: options.reason, by: operator() }
      : orderOf('resume', loadConfig(), scope, options);
    return withBoard(async (board) => {
      const answer = await resumed(board, order);
      if (!answer.ok) throw failure(answer);
      process.stdout.write(`${answer.text}\n`);
    });
  });

function withBoard(use: (board: ReturnType<typeof createKillSwitchService>) => Promise<void>): Promise<void> {
  return withStore(({ sql }, config) => {
    const board = createKillSwitchService({
      sql,
      records: createRecords(sql),
      audit: createAuditLog(sql),
      killSwitch: createKillSwitch(sql, { mode: config.mode, dataDir: config.dataDir }),
      targets: new Map(configuredTargets(config).map((target) => [target.name, target])),
      redact,
      log: createLog('error'),
    });
    return use(board);
  });
}

function orderOf(verb: 'stop' | 'resume', config: Config, scope: string, { for: span, reason }: Options) {
  const configured = configuredTargets(config);
  const targets = configured.map((target) => target.name);
  const text = `${scope}${span === undefined ? '' : ` for ${span}`}`;
  const everything = `To ${verb} everything: sentry ${verb} everything`;
  const words = parseKillSwitch(text, {
    domains: domainsOf(kinds),
    targets,
    aliases: aliasesOf(configured),
    everything,
  });
  if (!words.ok) throw new OpsError('USAGE', words.reason, { hint: `sentry ${verb} --help` });
  // What is left of the scope's words would be a reason in a chat; here it is a word too many.
  if (words.reason !== '')
    throw new OpsError('USAGE', `“${scope}” is more than a scope. ${everything}`, {
      hint: `sentry ${verb} <scope> --reason "${words.reason}"`,
    });
  return { scope: words.scope, forMs: words.forMs, reason, by: operator() };
}

function failure({ code, reason }: Refusal): OpsError {
  return new OpsError(code, reason, {
    hint: 'sentry stop --help; `sentry doctor` shows what is configured.',
  });
}
