import { existsSync, readFileSync } from 'node:fs';
import { readPolicy } from '../actions/policy/read-policy.ts';
import { wordsForNobody } from '../actions/policy/rule.ts';
import type { WorkspaceSettings } from '../actions/policy/workspace-settings.ts';
import { openRepositories } from '../code/open-repositories.ts';
import type { Config } from '../config/config.ts';
import { readConfigFile } from '../config/config-file.ts';
import { count } from '../core/count.ts';
import { messageOf, OpsError } from '../core/errors.ts';
import type { Finding as Looked } from '../core/finding.ts';
import type { Log } from '../core/log.ts';
import { within } from '../core/within.ts';
import type { ScheduleConfig } from '../escalation/escalation-config.ts';
import { createSchedule } from '../escalation/schedules/create-schedule.ts';
import { makeFolder } from '../infra/process/make-folder.ts';
import { mappingFaults } from '../ingest/match-target.ts';
import { createBackend, modelName } from '../llm/create-backend.ts';
import { loadRunbooks } from '../runbooks/load-runbooks.ts';
import { createAuditLog } from '../safety/audit/audit-chain.ts';
import { verifyHere } from '../safety/audit/audit-check.ts';
import { createKillSwitch, modeNow } from '../safety/kill-switch/kill-switch.ts';
import { createCostBreaker } from '../safety/limits/cost-breaker.ts';
import type { AskedSlack } from '../slack/outbound/ask-slack.ts';
import { addMappings, webhookSources } from '../sources/registry.ts';
import { allTools } from '../targets/all-tools.ts';
import { domainsOf } from '../targets/domains.ts';
import type { TargetConfig } from '../targets/kind.ts';
import { kinds } from '../targets/kinds.ts';
import { kindOf } from '../targets/systems.ts';
import type { McpServerConfig } from '../tools/mcp/server-config.ts';
import { createRegistry } from '../tools/registry.ts';
import { checkChangesFrom } from './changes-from.ts';
import { checkUsual } from './check-usual.ts';
import { checkChroma } from './chroma.ts';
import { layersNow } from './layers.ts';
import { policySubjects } from './policy-subjects.ts';
import { settingsInForce } from './settings-in-force.ts';
import { openStore } from './store.ts';

export interface Finding extends Looked {
  /** Sentry cannot work without it. */
  readonly required: boolean;
}

interface Check {
  readonly part: string;
  readonly required: boolean;
  run(): Promise<string>;
}

const CHECK_TIMEOUT_MS = 60_000;
/** Of one question to a repository. */
const REPOSITORY_MS = 20_000;

/** Tries every part that a start with this configuration would use, and leaves all of them as they were. */
export async function doctor(config: Config, log: Log): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const check of checksFor(config, log)) findings.push(await examine(check));
  return once([
    ...findings,
    ...(await workspaceFindings(config, log)),
    ...(await layerFindings(config, log)),
  ]);
}

/** Of a part that was looked at twice, in the settings and in Slack: what is wrong first, else what was seen last. */
function once(findings: readonly Finding[]): readonly Finding[] {
  const byPart = new Map<string, Finding>();
  for (const each of findings) if (byPart.get(each.part)?.ok ?? true) byPart.set(each.part, each);
  return [...byPart.values()];
}

/** Has Slack check what Sentry would post there; one finding for all that it would show, one for each that it would not. */
export async function checkMessages({ slack }: Pick<Config, 'slack'>, log: Log): Promise<readonly Finding[]> {
  const part = 'Messages';
  if (slack.kind === 'playground')
    return [
      { part, required: false, ok: true, says: 'no tokens set: the local workspace takes them', todo: null },
    ];
  try {
    const { checkPayloads } = await import('../slack/outbound/check-payloads.ts');
    const refused = await checkPayloads(slack, log);
    if (refused.length === 0)
      return [
        { part, required: false, ok: true, says: 'Slack would show every message and window', todo: null },
      ];
    // One of a kind is enough: each point of an incident's course has its own.
    return [...new Map(refused.map((each) => [each.name, each])).values()].map(
      ({ name, problems, simplerIsShown }) => ({
        part,
        required: false,
        ok: simplerIsShown,
        says: `Slack would not show ${name}: ${problems.join('; ')}`,
        todo: simplerIsShown
          ? 'Nothing to do: this workspace does not know it yet and is sent a simpler form by itself.'
          : 'Report it with this line. Until it is mended, people there get its text alone, without buttons.',
      }),
    );
  } catch (error) {
    const todo = error instanceof OpsError ? error.hint : 'Read the message.';
    return [{ part, required: false, ok: false, says: messageOf(error), todo }];
  }
}

/** The app, the channels and the people in Slack; nothing while Slack or its tokens are not well, which is a finding of its own. */
async function workspaceFindings(config: Config, log: Log): Promise<readonly Finding[]> {
  try {
    const found = (await (await askedSlack(config, log))?.examine()) ?? [];
    return found.map((each) => ({
      ...each,
      required: each.part === 'Slack app' || each.part.startsWith('Alert channel'),
    }));
  } catch {
    return [];
  }
}

async function askedSlack(config: Config, log: Log): Promise<AskedSlack | null> {
  if (config.slack.kind === 'playground') return null;
  // Half of what a command would load, for those that have a Slack to ask.
  const { askSlack } = await import('../slack/outbound/ask-slack.ts');
  return askSlack(config.slack, (team) => settingsFor(config, log, team), log);
}

async function settingsFor(config: Config, log: Log, team: string | null): Promise<WorkspaceSettings> {
  const store = await openStore(config, log);
  try {
    return await settingsInForce(store.sql, config, team);
  } finally {
    await store.stop();
  }
}

/** The fifteen layers of security, by what is configured and what stands in the database. */
async function layerFindings(config: Config, log: Log): Promise<readonly Finding[]> {
  try {
    const store = await openStore(config, log);
    const { sql } = store;
    try {
      const killSwitch = createKillSwitch(sql, config);
      const breaker = createCostBreaker({ sql, audit: createAuditLog(sql), limits: config.cost, log });
      const verified = () => verifyHere(sql, config.dataDir);
      const layers = await layersNow({ config, tools: allTools, sql, killSwitch, breaker, verified });
      return layers.map(({ number, name, state, says }) => ({
        part: `Layer ${number}`,
        // Without an audit log that is whole, nobody can tell what was done: the exit code says so, too.
        required: name === 'audit log',
        ok: state !== 'off',
        says: `${name}: ${state === 'part' ? 'in part: ' : ''}${says}`,
        todo: state === 'off' ? 'docs/security.md tells what this layer is for.' : null,
      }));
    } finally {
      await store.stop();
    }
  } catch {
    // The check of PostgreSQL has reported it already; without a database the layers cannot be looked at.
    return [];
  }
}

async function examine({ part, required, run }: Check): Promise<Finding> {
  try {
    const says = await within(CHECK_TIMEOUT_MS, run(), () => {
      throw new OpsError('TIMEOUT', `no answer in ${CHECK_TIMEOUT_MS / 1000} s`, {
        hint: 'Check the address and the network.',
      });
    });
    return { part, required, ok: true, says, todo: null };
  } catch (error) {
    const todo =
      error instanceof OpsError ? error.hint : 'Read the message; docs/settings.md describes every setting.';
    return { part, required, ok: false, says: messageOf(error), todo };
  }
}

function checksFor(config: Config, log: Log): readonly Check[] {
  return [
    { part: 'Node.js', required: true, run: async () => `version ${process.versions.node}` },
    { part: 'Settings', required: false, run: () => checkSettings(config) },
    { part: 'Data folder', required: true, run: () => checkDataFolder(config) },
    { part: 'PostgreSQL', required: true, run: () => checkDatabase(config, log) },
    // Memory advises: an investigation goes on without it.
    { part: 'Chroma', required: false, run: () => checkMemory(config, log) },
    { part: 'Slack', required: true, run: () => checkSlack(config, log) },
    { part: 'Approvers', required: false, run: () => checkApprovers(config, log) },
    // Without a good one the next start would not begin.
    { part: 'Policy', required: true, run: () => checkPolicy(config) },
    { part: 'Claude', required: false, run: () => checkClaude(config) },
    ...config.targets.map(targetCheck),
    { part: 'Usual values', required: false, run: () => checkUsual(config, log) },
    { part: 'Alert rules', required: false, run: () => checkMapping(config) },
    ...config.mcp.servers.map(
      (server): Check => ({
        part: `MCP server ${server.name}`,
        required: false,
        run: () => checkMcpServer(config, server, log),
      }),
    ),
    ...openRepositories(config.repositories).map(
      (repository): Check => ({
        part: `Repository ${repository.name}`,
        required: false,
        run: () =>
          repository.look({ signal: AbortSignal.timeout(CHECK_TIMEOUT_MS), timeoutMs: REPOSITORY_MS }),
      }),
    ),
    ...(config.escalation?.schedules ?? []).map(
      (schedule): Check => ({
        part: `Schedule ${schedule.name}`,
        required: false,
        run: () => checkSchedule(schedule),
      }),
    ),
    { part: 'Alert sources', required: true, run: () => checkSources(config) },
    { part: 'Runbooks', required: false, run: () => checkRunbooks(config) },
    { part: 'Mode', required: false, run: () => checkMode(config) },
  ];
}

async function checkSettings({ notes }: Config): Promise<string> {
  if (notes.length > 0)
    throw new OpsError('SETTINGS', notes.join(' '), { hint: 'docs/settings.md lists every setting.' });
  return 'every variable of ours is one that is read';
}

async function checkDataFolder({ dataDir }: Config): Promise<string> {
  makeFolder(dataDir);
  return `${dataDir} can be written`;
}

async function checkSchedule(config: ScheduleConfig): Promise<string> {
  const people = await createSchedule(config).onCall(new Date(), AbortSignal.timeout(CHECK_TIMEOUT_MS));
  if (people.length === 0)
    throw new OpsError('NOBODY_ON_CALL', 'nobody is on call now', {
      hint: 'Correct the schedule, or the levels of escalation in sentry.yaml that mention it.',
    });
  return `on call now: ${people.map(({ name }) => name).join(', ')}`;
}

async function checkDatabase(config: Config, log: Log): Promise<string> {
  const store = await openStore(config, log);
  try {
    const [row] = await store.sql<{ version: string }>`SELECT current_setting('server_version') AS version`;
    return `${config.databaseUrl ? 'yours' : 'embedded'}, version ${row?.version}, migrated`;
  } finally {
    await store.stop();
  }
}

async function checkMemory(config: Config, log: Log): Promise<string> {
  const answer = await checkChroma(config, log);
  const { enabled, embedding } = config.memory;
  if (!enabled) return answer;
  const words = embedding.name === 'offline' ? 'its words' : `its words and ${embedding.name}`;
  return `${answer}; memory is searched by ${words}`;
}

async function checkSlack(config: Config, log: Log): Promise<string> {
  return (await askedSlack(config, log))?.says ?? 'no tokens set: the local workspace';
}

async function checkApprovers(config: Config, log: Log): Promise<string> {
  if (config.slack.kind === 'playground') return "the playground's on-call engineers";
  const people = await settingsFor(config, log, null);
  const { approvers } = people;
  if (approvers.length === 0)
    throw new OpsError('NO_APPROVERS', 'nobody may approve', {
      hint: 'Type /sentry settings in Slack, or set SENTRY_APPROVERS to user ids (U…), group:<handle> or channel:<id>.',
    });
  const policy = existsSync(config.policy.path) ? policyOf(config) : null;
  const warnings = policy && 'rules' in policy ? wordsForNobody(policy.rules, people) : [];
  if (warnings.length > 0)
    throw new OpsError('NO_APPROVERS', `${config.policy.path}: ${warnings.join('; ')}`, {
      hint: 'Type /sentry settings in Slack, or set SENTRY_ONCALL_GROUP or SENTRY_ADMINS; or name others in the rule.',
    });
  return `${approvers.length} named`;
}

const policyOf = ({ policy, mcp, targets }: Config) =>
  readPolicy(readFileSync(policy.path, 'utf8'), policySubjects(allTools, mcp.servers, targets));

async function checkPolicy(config: Config): Promise<string> {
  const { path, isNamed } = config.policy;
  if (!existsSync(path)) {
    if (!isNamed) return 'no policy.yaml: one approver for everything';
    throw new OpsError('POLICY', `${path} is not there`, { hint: 'SENTRY_POLICY names it.' });
  }
  const found = policyOf(config);
  if ('rules' in found) return `${path}: ${count(found.rules.length, 'rule')}`;
  const lines = found.problems.map(({ line, message }) => `${path}:${line}: ${message}`);
  throw new OpsError('POLICY', lines.join('; '), { hint: 'docs/operations.md has an example.' });
}

async function checkClaude(config: Config): Promise<string> {
  if (!config.llm) return 'no key: runbooks investigate';
  const backend = createBackend(config.llm);
  const request = {
    model: modelName(config.llm, config.model),
    system: 'doctor',
    tools: [],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Are you there?' }] }],
    effort: 'low',
    maxTokens: 16,
  } as const;
  const signal = AbortSignal.timeout(15_000);
  // Counting costs nothing; where the server cannot, a few tokens tell.
  if (config.llm.kind === 'anthropic') await backend.countTokens(request, signal);
  else await backend.attempt(request, { signal, timeoutMs: 15_000, onEvent: () => undefined });
  return `${config.model} answers${config.sceptic ? '' : '; no second look at what it finds (SENTRY_SCEPTIC)'}`;
}

/** How one target is, by the doctor of its kind. */
export const examineTarget = (target: TargetConfig): Promise<Finding> => examine(targetCheck(target));

const targetCheck = (target: TargetConfig): Check => ({
  part: `Target ${target.name}`,
  required: false,
  run: () => checkTarget(target),
});

async function checkTarget(target: TargetConfig): Promise<string> {
  const kind = kindOf(kinds, target);
  const connection = kind.connect(target, { ownPorts: [] });
  try {
    return await kind.doctor(target, connection);
  } finally {
    await connection.close();
  }
}

async function checkMapping({ targets }: Config): Promise<string> {
  if (targets.length === 0) return 'no target is configured';
  const faults = mappingFaults(targets);
  if (faults.length > 0)
    throw new OpsError('MAPPING', faults.join('; '), {
      hint: 'Take it out of sentry.yaml, or put the target that should have these alerts first.',
    });
  const rules = targets.flatMap(({ alerts = [] }) => alerts);
  return `alerts find ${count(targets.length, 'target')} by name, alias and ${count(rules.length, 'rule')}`;
}

async function checkMcpServer(config: Config, server: McpServerConfig, log: Log): Promise<string> {
  // Loaded for those who have such servers.
  const { askServer } = await import('../tools/mcp/foreign-servers.ts');
  const store = await openStore(config, log);
  try {
    const { judged } = await askServer(server, { sql: store.sql, log });
    const off = judged.filter(({ state }) => state === 'off');
    if (off.length === 0) return `answers; ${count(judged.length, 'tool')} on`;
    throw new OpsError(
      'MCP_OFF',
      `${off.length} of ${count(judged.length, 'tool')} off: ${off.map(({ tool, why }) => `${tool} (${why})`).join(', ')}`,
      { hint: `Look at what it says of them: sentry mcp approve ${server.name}` },
    );
  } finally {
    await store.stop();
  }
}

async function checkRunbooks(config: Config): Promise<string> {
  const { runbooks, problems } = await loadRunbooks(config.runbooksDir, {
    tools: createRegistry(allTools),
    domains: domainsOf(kinds),
  });
  if (problems.length > 0)
    throw new OpsError('RUNBOOKS', `${count(problems.length, 'problem')} in runbooks`, {
      hint: 'sentry runbooks validate shows file and line.',
    });
  return `${runbooks.length} are good`;
}

async function checkSources(config: Config): Promise<string> {
  addMappings(config.sourcesDir);
  checkChangesFrom(() => readConfigFile(config.targetsFile), config.targets, config.http.apiTokens);
  return count(webhookSources().length, 'webhook');
}

async function checkMode(config: Config): Promise<string> {
  const { mode, byFile } = modeNow(config);
  if (mode === 'ACTIVE') return 'ACTIVE: approved fixes are run';
  return byFile === null ? 'AUDIT: nothing is changed' : `AUDIT: ${byFile}`;
}
