import { Command } from 'commander';
import { packageVersion } from '../config/package-root.ts';
import { usageInWords } from './usage-in-words.ts';

/** A command and all below it throw what is wrong with their words, instead of ending the process with a code of their own. */
function endingInOrder(command: Command): Command {
  command.commands.forEach(endingInOrder);
  return command
    .exitOverride()
    .showHelpAfterError()
    .configureOutput({ outputError: (text, write) => write(usageInWords(text)) });
}

const root = (): Command =>
  new Command('sentry')
    .description(
      "The on-call engineer's colleague in Slack: investigates, shows its evidence, asks before it acts.",
    )
    .version(packageVersion(), '-V, --version', 'print the version')
    .showHelpAfterError('(sentry --help lists the commands)')
    .exitOverride();

/** In the order of the help. Only what is asked for is loaded: each brings its own libraries. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  start: async () => (await import('./start.ts')).startCommand,
  doctor: async () => (await import('./doctor.ts')).doctorCommand,
  migrate: async () => (await import('./migrate.ts')).migrateCommand,
  backup: async () => (await import('./backup.ts')).backupCommand,
  restore: async () => (await import('./backup.ts')).restoreCommand,
  targets: async () => (await import('./targets.ts')).targetsCommand,
  alert: async () => (await import('./alert.ts')).alertCommand,
  alerts: async () => (await import('./alerts.ts')).alertsCommand,
  normalize: async () => (await import('./normalize.ts')).normalizeCommand,
  changes: async () => (await import('./changes.ts')).changesCommand,
  incidents: async () => (await import('./incidents.ts')).incidentsCommand,
  incident: async () => (await import('./incident.ts')).incidentCommand,
  why: async () => (await import('./why.ts')).whyCommand,
  report: async () => (await import('./report.ts')).reportCommand,
  cost: async () => (await import('./cost.ts')).costCommand,
  access: async () => (await import('./access.ts')).accessCommand,
  audit: async () => (await import('./audit.ts')).auditCommand,
  mcp: async () => (await import('./mcp.ts')).mcpCommand,
  openapi: async () => (await import('./openapi.ts')).openApiCommand,
  watch: async () => (await import('./watch.ts')).watchCommand,
  stop: async () => (await import('./stop.ts')).stopCommand,
  resume: async () => (await import('./stop.ts')).resumeCommand,
  mute: async () => (await import('./mute.ts')).muteCommand,
  unmute: async () => (await import('./mute.ts')).unmuteCommand,
  mutes: async () => (await import('./mute.ts')).mutesCommand,
  settle: async () => (await import('./settle.ts')).settleCommand,
  identity: async () => (await import('./identity.ts')).identityCommand,
  runbooks: async () => (await import('./runbooks.ts')).runbooksCommand,
  memory: async () => (await import('./memory.ts')).memoryCommand,
  documents: async () => (await import('./documents.ts')).documentsCommand,
  promotions: async () => (await import('./promotions.ts')).promotionsCommand,
  search: async () => (await import('./search.ts')).searchCommand,
  scan: async () => (await import('./scan.ts')).scanCommand,
  redact: async () => (await import('./redact.ts')).redactCommand,
  guard: async () => (await import('./guard.ts')).guardCommand,
};

/** Loads a command, by its name. */
type Commands = Readonly<Record<string, () => Promise<Command>>>;

/** The program with the command that is asked for; with all of them when it is none. `others`: commands from around `src`. */
export async function createProgram(asked: string, others: Commands = {}): Promise<Command> {
  const program = root();
  const all = { ...commands, ...others };
  for (const load of Object.hasOwn(all, asked) ? [all[asked]] : Object.values(all)) {
    const command = await load?.();
    if (command) program.addCommand(endingInOrder(command));
  }
  return program;
}
