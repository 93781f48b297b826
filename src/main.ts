#!/usr/bin/env node
import { Command } from 'commander';
import { accessCommand } from './cli/access.ts';
import { alertCommand } from './cli/alert.ts';
import { auditCommand } from './cli/audit.ts';
import { benchCommand } from './cli/bench.ts';
import { doctorCommand } from './cli/doctor.ts';
import { evalsCommand } from './cli/evals.ts';
import { fail } from './cli/fail.ts';
import { guardCommand } from './cli/guard.ts';
import { identityCommand } from './cli/identity.ts';
import { incidentCommand } from './cli/incident.ts';
import { incidentsCommand } from './cli/incidents.ts';
import { memoryCommand } from './cli/memory.ts';
import { migrateCommand } from './cli/migrate.ts';
import { promotionsCommand } from './cli/promotions.ts';
import { redactCommand } from './cli/redact.ts';
import { runbooksCommand } from './cli/runbooks.ts';
import { scanCommand } from './cli/scan.ts';
import { searchCommand } from './cli/search.ts';
import { settleCommand } from './cli/settle.ts';
import { startCommand } from './cli/start.ts';
import { whyCommand } from './cli/why.ts';

// The engine's PostgreSQL driver warns of a deprecation of its own at every start; nobody here can act on it.
process.noDeprecation = true;

const program = new Command('sentry')
  .description(
    "The on-call engineer's colleague in Slack: investigates, shows its evidence, asks before it acts.",
  )
  .showHelpAfterError('(sentry --help lists the commands)')
  .exitOverride();

for (const command of [
  startCommand,
  doctorCommand,
  migrateCommand,
  alertCommand,
  incidentsCommand,
  incidentCommand,
  whyCommand,
  accessCommand,
  auditCommand,
  settleCommand,
  identityCommand,
  runbooksCommand,
  memoryCommand,
  promotionsCommand,
  searchCommand,
  benchCommand,
  evalsCommand,
  scanCommand,
  redactCommand,
  guardCommand,
])
  program.addCommand(command.exitOverride().showHelpAfterError());

try {
  await program.parseAsync();
} catch (error) {
  fail(error);
}
