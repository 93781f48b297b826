import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { z } from 'zod';
import { type Config } from '../config/config.ts';
import { packageRoot } from '../config/package-root.ts';
import { parseTargets } from '../config/targets.ts';
import { OpsError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Principal } from '../core/principal.ts';
import { keepRunning } from '../infra/supervisor/keep-running.ts';
import { program } from '../infra/supervisor/program.ts';
import type { SlackConnection } from '../slack/ports.ts';
import type { TargetConfig } from '../targets/kind.ts';
import { playgroundCluster, playgroundEngines, playgroundHost, playgroundTarget } from './targets.ts';

const slackReady = z.object({
  url: z.url(),
  apiUrl: z.url(),
  botToken: z.string(),
  appToken: z.string(),
  approvers: z.array(z.string()),
  admins: z.array(z.string()),
  onCallGroup: z.string(),
  alertWebhookUrl: z.url(),
});
const faultsReady = z.object({
  url: z.url(),
  readUrl: z.string(),
  actUrl: z.string(),
  host: z.object({ dir: z.string(), restart: z.array(z.string()), pidFile: z.string() }),
  engines: z.array(z.object({ kind: z.string(), socket: z.string() })),
  cluster: z.object({ kubeconfigFile: z.string(), namespaces: z.array(z.string()) }),
});

/** The local Slack workspace, as the bot is to be configured with it. */
export interface LocalWorkspace {
  readonly pageUrl: string;
  readonly connection: SlackConnection;
  readonly approvers: readonly Principal[];
  readonly admins: readonly Principal[];
  readonly oncallGroup: string;
  readonly alertWebhookUrl: string;
  stop(): Promise<void>;
}

/** Starts the local workspace as a process of its own. It outlives a killed bot and is adopted by the next start. */
export async function startLocalSlack(
  config: Config,
  ports: { readonly slack: number; readonly faults: number | null },
  log: Log,
): Promise<LocalWorkspace> {
  const kept = await keepRunning(
    program({
      name: 'local Slack',
      log,
      dataDir: join(config.dataDir, 'slack'),
      script: script('slack/main.js'),
      data: 'workspace',
      args: [
        '--port',
        String(ports.slack),
        ...(ports.faults === null ? [] : ['--faults-url', `http://127.0.0.1:${ports.faults}`]),
      ],
      parse: (ready) => slackReady.parse(ready),
      isHealthy: ({ url }) => answers(url),
      readyMs: 30_000,
    }),
  );
  const info = kept.current();
  const user = (id: string): Principal => ({ kind: 'user', id });
  return {
    pageUrl: info.url,
    connection: { kind: 'socket', botToken: info.botToken, appToken: info.appToken, apiUrl: info.apiUrl },
    approvers: info.approvers.map(user),
    admins: info.admins.map(user),
    oncallGroup: info.onCallGroup,
    alertWebhookUrl: info.alertWebhookUrl,
    stop: kept.stop,
  };
}

/** Starts `shop-db`, the system under care, with its faults and the alerts they raise. */
export async function startFaults(
  config: Config,
  options: {
    readonly port: number;
    readonly alertUrl: string;
    readonly webhookSecret: string | null;
    readonly slackWebhookUrl: string | null;
  },
  log: Log,
): Promise<{
  readonly url: string;
  readonly targets: readonly TargetConfig[];
  stop(): Promise<void>;
}> {
  const secretFile = options.webhookSecret ? join(config.dataDir, 'faults', 'webhook-secret') : null;
  if (secretFile && options.webhookSecret) {
    mkdirSync(join(config.dataDir, 'faults'), { recursive: true });
    writeFileSync(secretFile, options.webhookSecret, { mode: 0o600 });
  }
  const kept = await keepRunning(
    program({
      name: 'shop-db',
      log,
      dataDir: join(config.dataDir, 'faults'),
      script: script('faults/main.js'),
      data: 'data',
      args: [
        '--port',
        String(options.port),
        '--host-data',
        shopHostFolder(config.dataDir),
        '--alert-url',
        options.alertUrl,
        ...(secretFile ? ['--webhook-secret-file', secretFile] : []),
        ...(options.slackWebhookUrl ? ['--slack-webhook-url', options.slackWebhookUrl] : []),
        ...config.playgroundEngines.docker.flatMap((socket) => ['--docker-socket', socket]),
        ...config.playgroundEngines.podman.flatMap((socket) => ['--podman-socket', socket]),
      ],
      parse: (ready) => faultsReady.parse(ready),
      isHealthy: ({ url }) => answers(`${url}/faults`),
      readyMs: 90_000,
    }),
  );
  const info = kept.current();
  try {
    return { url: info.url, targets: shopTargets(info), stop: kept.stop };
  } catch (error) {
    await kept.stop();
    throw error;
  }
}

/**
 * Where the host of the playground has its files: below the data folder, but for its usual name, `.sentry`, below which
 * nothing may ever be read by a tool.
 */
export const shopHostFolder = (dataDir: string): string =>
  join(dataDir, 'faults', 'data', 'shop-host').replaceAll(
    `${sep}.sentry${sep}`,
    `${sep}.sentry-playground${sep}`,
  );

/** The playground's systems, as an operator would declare them in `sentry.yaml`. */
function shopTargets({
  readUrl,
  actUrl,
  host,
  engines,
  cluster,
}: z.infer<typeof faultsReady>): readonly TargetConfig[] {
  const { domain: _own, ...database } = playgroundTarget;
  const { domain: _this, ...shopCluster } = playgroundCluster;
  const targets = [
    { ...database, read_url_env: 'READ_URL', act_url_env: 'ACT_URL' },
    {
      ...playgroundHost,
      roots: [{ path: join(host.dir, 'app'), patch: true }, join(host.dir, 'logs')],
      services: [{ name: 'shop-worker', restart: host.restart, pid_file: host.pidFile }],
    },
    // Of somebody's engine only what the playground has made there.
    ...playgroundEngines.flatMap(({ domain: _its, ...target }) =>
      engines
        .filter(({ kind }) => kind === target.kind)
        .map(({ socket }) => ({ ...target, socket, only: { 'sentry.playground': 'shop' }, acts: true })),
    ),
    {
      ...shopCluster,
      kubeconfig_file: cluster.kubeconfigFile,
      namespaces: cluster.namespaces,
      acts: true,
    },
  ];
  return parseTargets({ targets }, { READ_URL: readUrl, ACT_URL: actUrl }, 'the playground');
}

/** The playground ships compiled beside the program. */
function script(path: string): string {
  const file = join(packageRoot(), 'dist', 'playground', path);
  if (!existsSync(file))
    throw new OpsError('BROKEN_INSTALL', `The playground is not built: ${file} is missing.`, {
      hint: 'Run npm start, which builds it.',
    });
  return file;
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    await response.body?.cancel();
    return response.status < 500;
  } catch {
    // Not answering is the answer.
    return false;
  }
}
