import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { RepositoryConfig } from '../code/repository.ts';
import { REOPEN_MINUTES } from '../core/alert.ts';
import type { ApiToken } from '../core/api-token.ts';
import { closestName } from '../core/closest-name.ts';
import { isObject, jsonOf } from '../core/json-of.ts';
import type { MaintenanceWindow } from '../core/maintenance-window.ts';
import { postgresUrlFault } from '../core/postgres-url.ts';
import type { Principal } from '../core/principal.ts';
import type { EscalationConfig } from '../escalation/escalation-config.ts';
import type { ModelAccess } from '../llm/create-backend.ts';
import { DEFAULT_MODEL } from '../llm/gateway.ts';
import type { CostLimits } from '../safety/limits/cost-breaker.ts';
import { readLimits, type ThrottleLimits } from '../safety/limits/throttle.ts';
import type { SlackConnection } from '../slack/ports.ts';
import type { TargetConfig } from '../targets/kind.ts';
import type { McpServerConfig } from '../tools/mcp/server-config.ts';
import { readConfigFile } from './config-file.ts';
import { type CorrelationConfig, correlationOf } from './correlation.ts';
import { readEscalation } from './escalation.ts';
import {
  apiTokens,
  costLimit,
  docsHosts,
  dollars,
  file,
  flag,
  folder,
  hostNames,
  httpUrl,
  limits,
  list,
  networks,
  numberFrom,
  principals,
  retention,
  token,
  webhookSecrets,
  whole,
} from './kinds.ts';
import { maintenanceOf } from './maintenance.ts';
import { type McpCallerConfig, mcpSecret, readMcpCallers, readMcpServers } from './mcp.ts';
import { readModelAccess } from './model.ts';
import { packageRoot } from './package-root.ts';
import { readRepositories } from './repositories.ts';
import { type StatusPage, statusPagesOf } from './status-pages.ts';
import { type TargetsFile, targetsOf } from './targets.ts';
import { wrong } from './wrong.ts';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

/** Every variable Sentry reads. docs/settings.md has a row for each of them. */
const environment = z.object({
  DATABASE_URL: z
    .string()
    .superRefine((text, context) => {
      const fault = postgresUrlFault(text);
      if (fault !== null) context.addIssue(fault);
    })
    .optional(),
  CHROMA_HOST: httpUrl.optional(),
  SLACK_BOT_TOKEN: token(
    'xoxb-',
    'a bot token',
    'Slack app settings → OAuth & Permissions → Bot User OAuth Token.',
  ).optional(),
  SLACK_APP_TOKEN: token(
    'xapp-',
    'an app-level token',
    'Slack app settings → Basic Information → App-Level Tokens, with connections:write.',
  ).optional(),
  SLACK_SIGNING_SECRET: z
    .string()
    .min(8, 'too short; Slack app settings → Basic Information → Signing Secret')
    .optional(),
  SLACK_API_URL: httpUrl.optional(),
  SENTRY_ALERT_CHANNELS: list(''),
  SENTRY_EVERY_MESSAGE_CHANNELS: list(''),
  SENTRY_SLACK_EDITS: whole(6, 1_000).default(45),
  SENTRY_AUDIT_CHANNEL: z
    .string()
    .regex(/^#?[^\s#]+$/, 'expected the name of one channel, such as sentry-audit')
    .optional(),
  SENTRY_ADMIN_CHANNEL: z.string().optional(),
  SENTRY_APPROVALS_CHANNEL: z
    .string()
    .regex(/^#?[^\s#]+$/, 'expected the name of one channel, such as approvals')
    .optional(),
  SENTRY_APPROVERS: principals,
  SENTRY_ADMINS: principals,
  SENTRY_ONCALL_GROUP: z.string().optional(),
  ANTHROPIC_API_KEY: z.string().min(1).optional(),
  ANTHROPIC_BASE_URL: httpUrl.optional(),
  SENTRY_MODEL: z.string().min(1).default(DEFAULT_MODEL),
  SENTRY_FALLBACK_MODEL: z.string().min(1).optional(),
  SENTRY_SCEPTIC: flag(true),
  SENTRY_MODEL_BACKEND: z
    .enum(['anthropic', 'bedrock', 'access-gateway'], {
      error: 'expected anthropic, bedrock or access-gateway',
    })
    .default('anthropic'),
  AWS_REGION: z.string().min(1).optional(),
  AWS_BEARER_TOKEN_BEDROCK: z.string().min(1).optional(),
  SENTRY_MODE: z
    .enum(['AUDIT', 'ACTIVE'], { error: 'expected AUDIT (nothing is changed) or ACTIVE' })
    .optional(),
  SENTRY_COST_LIMIT: costLimit.default('5/10m'),
  SENTRY_COST_PER_INCIDENT: dollars(10),
  SENTRY_COST_PER_DAY: dollars(100),
  SENTRY_INJECTION: z.enum(['mark', 'block'], { error: 'expected mark or block' }).default('mark'),
  SENTRY_HIDE_PRIVATE_IPS: flag(false),
  SENTRY_THROTTLE: limits.default('role=30000/10m,tool=6000/10m,target=12000/10m,incident=300/1h'),
  SENTRY_VAULT_KEY: z
    .string()
    .regex(/^([0-9a-f]{64}|[A-Za-z0-9+/]{43}=)$/, 'expected 32 bytes, as 64 hex digits or base64')
    .optional(),
  SENTRY_DATA_DIR: z.string().min(1).default('.sentry'),
  SENTRY_CONFIG: z.string().min(1).optional(),
  SENTRY_POLICY: file('a policy (docs/operations.md)').optional(),
  SENTRY_RUNBOOKS_DIR: folder('a folder of runbooks (docs/runbooks.md)').optional(),
  SENTRY_SOURCES_DIR: folder('a folder of mapping files (docs/recipes/alert-source.md)').optional(),
  SENTRY_DOCS_HOSTS: docsHosts,
  SENTRY_HTTP_HOST: z.string().min(1).default('127.0.0.1'),
  SENTRY_HTTP_HOSTS: hostNames,
  SENTRY_HTTP_PROXIES: networks,
  SENTRY_HTTP_PORT: whole(0, 65_535).default(3000),
  SENTRY_HTTP_RATE: whole(1, 10_000_000).default(6000),
  SENTRY_WEBHOOK_SECRET: z.string().min(8, 'at least 8 characters').optional(),
  SENTRY_WEBHOOK_SECRETS: webhookSecrets,
  SENTRY_ADMIN_TOKEN: z.string().min(16, 'at least 16 characters; openssl rand -hex 24 makes one').optional(),
  SENTRY_API_TOKENS: apiTokens,
  SENTRY_MCP_SECRET: mcpSecret.optional(),
  SENTRY_MCP_URL: httpUrl.optional(),
  SENTRY_APPROVAL_MINUTES: whole(1, 1440).default(30),
  SENTRY_SOURCE_WAIT_MINUTES: whole(0, 1_440).default(10),
  SENTRY_REOPEN_MINUTES: whole(0, 10_080).optional(),
  SENTRY_LOOK_MINUTES: whole(0, 59).default(5),
  SENTRY_USUAL_MINUTES: whole(0, 60)
    .refine((minutes) => minutes === 0 || minutes >= 15, 'expected 15 to 60, or 0')
    .default(60),
  SENTRY_PLAYGROUND_PORT: whole(0, 65_535).optional(),
  DOCKER_HOST: z.string().default(''),
  CONTAINER_HOST: z.string().default(''),
  MEMORY_ENABLED: flag(true),
  MEMORY_CONTEXT_TOKEN_BUDGET: whole(0, 100_000).default(2200),
  SENTRY_EPISODE_DAYS: whole(1, 36_500).default(365),
  SENTRY_RETENTION: retention.prefault('365d'),
  SENTRY_EMBEDDING: z
    .string()
    .regex(
      /^[a-z0-9][a-z0-9-]*$/,
      'expected "offline", "all-minilm-l6-v2" or the name of an @chroma-core package',
    )
    .default('offline'),
  SENTRY_EMBEDDING_OPTIONS: z
    .string()
    .default('{}')
    .transform((text, context): Readonly<Record<string, unknown>> => {
      const options = jsonOf(text);
      if (isObject(options)) return options;
      context.addIssue('expected a JSON object, as the package’s embedding function takes it');
      return z.NEVER;
    }),
  // Above an agent's draft (0.45): what nobody has reviewed is never trusted, whatever is set.
  MEMORY_TRUST_THRESHOLD: numberFrom(
    0.5,
    1,
    'expected a number from 0.5 (drafts cannot be trusted) to 1',
  ).default(0.85),
  LOG_LEVEL: z.enum(LOG_LEVELS, { error: `expected one of ${LOG_LEVELS.join(', ')}` }).default('info'),
});

type SlackConfig =
  /** The local workspace of the playground; its URL and tokens come from the process that runs it. */
  { readonly kind: 'playground'; readonly port: number; readonly portIsDefault: boolean } | SlackConnection;

export interface Config {
  /** What is probably not meant as it stands, a sentence each. */
  readonly notes: readonly string[];
  readonly dataDir: string;
  readonly databaseUrl: string | null;
  readonly chromaHost: string | null;
  readonly slack: SlackConfig;
  /** Channel ids or names (without #) whose other-app messages are alerts; the first gets the incidents of webhooks. Empty: not said here. */
  readonly alertChannels: readonly string[];
  /** Those of them in which every message of another app is an alert. */
  readonly everyMessageChannels: readonly string[];
  /** Null: not said here. */
  readonly adminChannel: string | null;
  /** Where each proposal that waits has a line; null: nowhere. */
  readonly approvalsChannel: string | null;
  /** Where checkpoints of the audit log are posted; null: nowhere. */
  readonly auditChannel: string | null;
  /** Edits of messages in any minute, over all processes. */
  readonly slackEditsPerMinute: number;
  readonly approvers: readonly Principal[];
  readonly admins: readonly Principal[];
  readonly oncallGroup: string | null;
  /** How the model is reached; null: no model, the playbook investigates. */
  readonly llm: ModelAccess | null;
  readonly model: string;
  /** Goes on where the model refuses; null: the playbook does. */
  readonly fallbackModel: string | null;
  /** A second, independent call looks at what the model found before it is shown. */
  readonly sceptic: boolean;
  readonly mode: 'AUDIT' | 'ACTIVE';
  /** How many calls of tools there may be, over all processes. */
  readonly throttle: ThrottleLimits;
  /** What model calls may cost. */
  readonly cost: CostLimits;
  /** What becomes of text that reads like instructions to the model, and whether it sees private addresses. */
  readonly modelGuard: { readonly injection: 'mark' | 'block'; readonly privateIps: boolean };
  /** 32 bytes that seal the identity vault; null: a key of this data folder, made once. */
  readonly vaultKey: Buffer | null;
  readonly targets: readonly TargetConfig[];
  /** Where they come from, and are read again while Sentry runs. */
  readonly targetsFile: TargetsFile;
  /** Windows in which alerts wait, as they were at the start. */
  readonly maintenance: readonly MaintenanceWindow[];
  readonly correlation: CorrelationConfig;
  /** Whose code may be read. */
  readonly repositories: readonly RepositoryConfig[];
  /** Of services that others run. */
  readonly statusPages: readonly StatusPage[];
  /** Where `fetch_docs` may go. */
  readonly docsHosts: readonly string[];
  /** True when no target is configured: the playground's shop-db is the system under care. */
  readonly playgroundTarget: boolean;
  /** Where the playground looks for container engines: sockets on this machine, the first that answers. */
  readonly playgroundEngines: { readonly docker: readonly string[]; readonly podman: readonly string[] };
  readonly runbooksDir: string;
  /** The operator's own mapping files of alert sources; null: none. */
  readonly sourcesDir: string | null;
  readonly http: {
    readonly host: string;
    readonly port: number;
    /** Nobody asked for this port: another may be taken when it is not free. */
    readonly portIsDefault: boolean;
    /** Names under which it is reached, beside those of this machine. */
    readonly names: readonly string[];
    /** Addresses and networks whose word it takes for who calls. */
    readonly proxies: readonly string[];
    readonly webhookSecret: string | null;
    /** Of sources that have one of their own, by name. */
    readonly ownWebhookSecrets: ReadonlyMap<string, string>;
    /** Opens what admins do with memory; null: nobody does. */
    readonly adminToken: string | null;
    /** Who may call the HTTP API. */
    readonly apiTokens: readonly ApiToken[];
    /** Requests a minute and source, over all processes. */
    readonly rate: number;
  };
  readonly mcp: {
    /** Who may call `/mcp`; none: it is off. */
    readonly callers: readonly McpCallerConfig[];
    /** Names under which this server is reached, beside those of this machine. */
    /** Other programs' servers whose tools may be used. */
    readonly servers: readonly McpServerConfig[];
    /** For `sentry mcp`: where the bot's `/mcp` is; null: on this machine. */
    readonly url: string | null;
  };
  /** Who is called when nobody answers, and how; null: nobody is. */
  readonly escalation: EscalationConfig | null;
  /** Who may approve what; `isNamed`: it has to be there. */
  readonly policy: { readonly path: string; readonly isNamed: boolean };
  readonly approvalMinutes: number;
  /** How long a fix whose own check holds waits for a source that still fires; 0: it does not wait. */
  readonly sourceWaitMinutes: number;
  /** The same alert within this time of its incident's end goes on in the same thread; 0: always a new incident. */
  readonly reopenMinutes: number;
  /** How often Sentry looks at what its systems are made of, for what was changed; null: never. */
  readonly lookMinutes: number | null;
  /** How often the few numbers of each system are kept, for what is usual there; null: never. */
  readonly usualMinutes: number | null;
  readonly memory: {
    readonly enabled: boolean;
    /** Tokens of memory a turn of a model. */
    readonly tokenBudget: number;
    /** Memories of this trust and above stand in the trusted block. */
    readonly trustThreshold: number;
    /** Days after which an episode is archived. */
    readonly episodeDays: number;
    readonly embedding: { readonly name: string; readonly options: Readonly<Record<string, unknown>> };
  };
  /** Details of incidents that ended so many days ago are deleted; null: none are. */
  readonly retentionDays: number | null;
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';
}

/** Reads the configuration from the environment and `sentry.yaml`. Throws OpsError CONFIG naming every wrong variable. */
// oxlint-disable-next-line node/no-process-env -- the one reader
export function loadConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  const present = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = environment.safeParse(present);
  if (!parsed.success)
    throw wrong(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`));
  const values = parsed.data;
  const twin = values.SENTRY_API_TOKENS.find(({ secret }) => secret === values.SENTRY_ADMIN_TOKEN);
  if (twin)
    throw wrong([`SENTRY_API_TOKENS: "${twin.name}" has the secret of SENTRY_ADMIN_TOKEN: give it its own`]);
  const file = targetsFile(present);
  const written = readConfigFile(file);
  const targets = targetsOf(written, present);
  const slack = slackOf(values);
  const model = readModelAccess(values);
  if ('problem' in model) throw wrong([model.problem]);
  const playgroundTarget = targets.length === 0;
  return {
    notes: [...misspelt(Object.keys(present)), ...(written.isEmpty ? [emptyNote(file)] : [])],
    dataDir: resolve(values.SENTRY_DATA_DIR),
    databaseUrl: values.DATABASE_URL ?? null,
    chromaHost: values.CHROMA_HOST ?? null,
    slack,
    alertChannels: values.SENTRY_ALERT_CHANNELS.map(withoutHash),
    everyMessageChannels: values.SENTRY_EVERY_MESSAGE_CHANNELS.map(withoutHash),
    slackEditsPerMinute: values.SENTRY_SLACK_EDITS,
    auditChannel: values.SENTRY_AUDIT_CHANNEL?.replace(/^#/, '') ?? null,
    adminChannel: values.SENTRY_ADMIN_CHANNEL?.replace(/^#/, '') ?? null,
    approvalsChannel: values.SENTRY_APPROVALS_CHANNEL?.replace(/^#/, '') ?? null,
    approvers: values.SENTRY_APPROVERS,
    admins: values.SENTRY_ADMINS,
    oncallGroup: values.SENTRY_ONCALL_GROUP ?? null,
    llm: model.access,
    model: values.SENTRY_MODEL,
    fallbackModel: values.SENTRY_FALLBACK_MODEL ?? null,
    sceptic: values.SENTRY_SCEPTIC,
    mode: values.SENTRY_MODE ?? (slack.kind === 'playground' && playgroundTarget ? 'ACTIVE' : 'AUDIT'),
    targets,
    targetsFile: file,
    maintenance: maintenanceOf(written),
    correlation: correlationOf(written),
    repositories: readRepositories(written, present),
    statusPages: statusPagesOf(written),
    docsHosts: values.SENTRY_DOCS_HOSTS,
    playgroundTarget,
    playgroundEngines: engineSockets(values.DOCKER_HOST, values.CONTAINER_HOST),
    throttle: readLimits(values.SENTRY_THROTTLE) as ThrottleLimits,
    cost: costOf(values),
    modelGuard: { injection: values.SENTRY_INJECTION, privateIps: values.SENTRY_HIDE_PRIVATE_IPS },
    vaultKey: vaultKeyOf(values.SENTRY_VAULT_KEY),
    runbooksDir: resolve(values.SENTRY_RUNBOOKS_DIR ?? join(packageRoot(), 'runbooks')),
    sourcesDir: values.SENTRY_SOURCES_DIR === undefined ? null : resolve(values.SENTRY_SOURCES_DIR),
    http: {
      host: values.SENTRY_HTTP_HOST,
      names: values.SENTRY_HTTP_HOSTS,
      proxies: values.SENTRY_HTTP_PROXIES,
      port: values.SENTRY_HTTP_PORT,
      portIsDefault: present['SENTRY_HTTP_PORT'] === undefined,
      webhookSecret: values.SENTRY_WEBHOOK_SECRET ?? null,
      ownWebhookSecrets: values.SENTRY_WEBHOOK_SECRETS,
      adminToken: values.SENTRY_ADMIN_TOKEN ?? null,
      apiTokens: values.SENTRY_API_TOKENS,
      rate: values.SENTRY_HTTP_RATE,
    },
    mcp: {
      callers: readMcpCallers(written, present, values.SENTRY_MCP_SECRET),
      servers: readMcpServers(written, present),
      url: values.SENTRY_MCP_URL ?? null,
    },
    escalation: readEscalation(written, present),
    policy: {
      path: resolve(values.SENTRY_POLICY ?? 'policy.yaml'),
      isNamed: values.SENTRY_POLICY !== undefined,
    },
    approvalMinutes: values.SENTRY_APPROVAL_MINUTES,
    sourceWaitMinutes: values.SENTRY_SOURCE_WAIT_MINUTES,
    // In the playground every fault is an incident of its own, so that one sees what memory makes of the second.
    reopenMinutes: values.SENTRY_REOPEN_MINUTES ?? (playgroundTarget ? 0 : REOPEN_MINUTES),
    lookMinutes: values.SENTRY_LOOK_MINUTES || null,
    usualMinutes: values.SENTRY_USUAL_MINUTES || null,
    memory: {
      enabled: values.MEMORY_ENABLED,
      tokenBudget: values.MEMORY_CONTEXT_TOKEN_BUDGET,
      episodeDays: values.SENTRY_EPISODE_DAYS,
      embedding: { name: values.SENTRY_EMBEDDING, options: values.SENTRY_EMBEDDING_OPTIONS },
      trustThreshold: values.MEMORY_TRUST_THRESHOLD,
    },
    retentionDays: values.SENTRY_RETENTION,
    logLevel: values.LOG_LEVEL,
  };
}

/** Where the targets stand, without reading it: for who looks at a file that may be wrong. */
// oxlint-disable-next-line node/no-process-env -- the one reader
export function targetsFile(env: Readonly<Record<string, string | undefined>> = process.env): TargetsFile {
  const named = env['SENTRY_CONFIG'] || null;
  return { path: named ?? 'sentry.yaml', isNamed: named !== null, env };
}

/** Names of our own form that nobody reads and that are nearly one that is read. Others may be anybody's. */
function misspelt(names: readonly string[]): readonly string[] {
  const known = Object.keys(environment.shape);
  return names
    .filter((name) => /^(SENTRY|MEMORY|SLACK)_/.test(name) && !known.includes(name))
    .flatMap((name) => {
      const meant = closestName(name, known);
      return meant === null ? [] : [`${name} is no setting: did you mean ${meant}?`];
    });
}

const emptyNote = ({ path }: TargetsFile): string =>
  `${path} is empty: it names no target. sentry targets add writes one into it.`;

function costOf(values: z.infer<typeof environment>): CostLimits {
  const [usd = '', minutes = ''] = values.SENTRY_COST_LIMIT.replace('m', '').split('/');
  return {
    usd: Number(usd),
    windowMs: Number(minutes) * 60_000,
    perIncidentUsd: values.SENTRY_COST_PER_INCIDENT,
    perDayUsd: values.SENTRY_COST_PER_DAY,
  };
}

function vaultKeyOf(text: string | undefined): Buffer | null {
  return text === undefined ? null : Buffer.from(text, text.length === 64 ? 'hex' : 'base64');
}

function slackOf(values: z.infer<typeof environment>): SlackConfig {
  const {
    SLACK_BOT_TOKEN: botToken,
    SLACK_APP_TOKEN: appToken,
    SLACK_SIGNING_SECRET: signingSecret,
  } = values;
  const apiUrl = values.SLACK_API_URL ?? null;
  if (botToken && appToken) return { kind: 'socket', botToken, appToken, apiUrl };
  if (botToken && signingSecret) return { kind: 'http', botToken, signingSecret, apiUrl };
  if (botToken)
    throw wrong([
      'SLACK_BOT_TOKEN is set alone: add SLACK_APP_TOKEN (xapp-…, Socket Mode) or SLACK_SIGNING_SECRET (HTTP); both are under Basic Information in the Slack app settings',
    ]);
  if (appToken || signingSecret)
    throw wrong([
      'SLACK_BOT_TOKEN is missing: Slack app settings → OAuth & Permissions → Bot User OAuth Token (xoxb-…)',
    ]);
  if (apiUrl)
    throw wrong(['SLACK_API_URL is set without SLACK_BOT_TOKEN: give the tokens of the server it points at']);
  return {
    kind: 'playground',
    port: values.SENTRY_PLAYGROUND_PORT ?? 3999,
    portIsDefault: values.SENTRY_PLAYGROUND_PORT === undefined,
  };
}

/** The engines' own variables may also name a machine elsewhere, which is not the playground's to break. */
function engineSockets(dockerHost: string, containerHost: string): Config['playgroundEngines'] {
  const named = (url: string) => (url.startsWith('unix://') ? [url.slice('unix://'.length)] : []);
  return {
    docker: dockerHost
      ? named(dockerHost)
      : ['/var/run/docker.sock', join(homedir(), '.docker', 'run', 'docker.sock')],
    podman: containerHost
      ? named(containerHost)
      : [`/run/user/${process.getuid?.() ?? 0}/podman/podman.sock`, '/run/podman/podman.sock'],
  };
}

const withoutHash = (channel: string): string => channel.replace(/^#/, '');
