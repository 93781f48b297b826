#!/usr/bin/env node
import { Command } from 'commander';
import { fail } from './cli/fail.ts';

// The engine's PostgreSQL driver warns of a deprecation of its own at every start; nobody here can act on it.
process.noDeprecation = true;

const program = new Command('sentry')
  .description(
    "The on-call engineer's colleague in Slack: investigates, shows its evidence, asks before it acts.",
  )
  .showHelpAfterError('(sentry --help lists the commands)')
  .exitOverride();

/** In the order of the help. Only what is asked for is loaded: each brings its own libraries. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  start: async () => (await import('./cli/start.ts')).startCommand,
  doctor: async () => (await import('./cli/doctor.ts')).doctorCommand,
  migrate: async () => (await import('./cli/migrate.ts')).migrateCommand,
  targets: async () => (await import('./cli/targets.ts')).targetsCommand,
  alert: async () => (await import('./cli/alert.ts')).alertCommand,
  normalize: async () => (await import('./cli/normalize.ts')).normalizeCommand,
  incidents: async () => (await import('./cli/incidents.ts')).incidentsCommand,
  incident: async () => (await import('./cli/incident.ts')).incidentCommand,
  why: async () => (await import('./cli/why.ts')).whyCommand,
  cost: async () => (await import('./cli/cost.ts')).costCommand,
  access: async () => (await import('./cli/access.ts')).accessCommand,
  audit: async () => (await import('./cli/audit.ts')).auditCommand,
  mcp: async () => (await import('./cli/mcp.ts')).mcpCommand,
  watch: async () => (await import('./cli/watch.ts')).watchCommand,
  stop: async () => (await import('./cli/stop.ts')).stopCommand,
  resume: async () => (await import('./cli/stop.ts')).resumeCommand,
  settle: async () => (await import('./cli/settle.ts')).settleCommand,
  identity: async () => (await import('./cli/identity.ts')).identityCommand,
  runbooks: async () => (await import('./cli/runbooks.ts')).runbooksCommand,
  memory: async () => (await import('./cli/memory.ts')).memoryCommand,
  documents: async () => (await import('./cli/documents.ts')).documentsCommand,
  promotions: async () => (await import('./cli/promotions.ts')).promotionsCommand,
  search: async () => (await import('./cli/search.ts')).searchCommand,
  bench: async () => (await import('../bench/commands/bench.ts')).benchCommand,
  evals: async () => (await import('../evals/commands/evals.ts')).evalsCommand,
  replay: async () => (await import('../evals/commands/replay.ts')).replayCommand,
  scan: async () => (await import('./cli/scan.ts')).scanCommand,
  redact: async () => (await import('./cli/redact.ts')).redactCommand,
  guard: async () => (await import('./cli/guard.ts')).guardCommand,
};

const asked = process.argv[2] ?? '';
for (const load of Object.hasOwn(commands, asked) ? [commands[asked]] : Object.values(commands)) {
  const command = await load?.();
  if (command) program.addCommand(command.exitOverride().showHelpAfterError());
}

try {
  await program.parseAsync();
} catch (error) {
  fail(error);
}
