import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../../src/infra/process/free-port.ts';
import { missingPackages } from './missing-packages.ts';
import { scratchDir } from './scratch-dir.ts';
import { waitFor } from './wait-for.ts';

/** Why there can be no real Prometheus with its exporters; null: there can. */
export const prometheusMissing = (): string | null =>
  missingPackages('Prometheus', [
    ['prometheus', 'prometheus'],
    ['promtool', 'prometheus'],
    ['prometheus-node-exporter', 'prometheus-node-exporter'],
    ['prometheus-postgres-exporter', 'prometheus-postgres-exporter'],
  ]);

/** Who may ask a scratch Prometheus: the hash is of the password. */
export const PROMETHEUS_USER = { username: 'sentry', password: 'prometheus-test' } as const;
const PASSWORD_HASH = '$2b$04$abcdefghijklmnopqrstuuqUxhvcID/Cc5Cuy/HRHHXBOHXDFI7na';

export interface Served {
  readonly port: number;
  stop(): Promise<void>;
}

/** What a test measures by itself: a page of metrics that it may change at any time; null: the page is away. */
export interface OwnExporter extends Served {
  page: string | null;
}

export async function ownExporter(page: string): Promise<OwnExporter> {
  const server = createServer((_, response) => {
    response.statusCode = exporter.page === null ? 503 : 200;
    response.end(exporter.page ?? '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const exporter: OwnExporter = {
    page,
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return exporter;
}

/** Of this machine: its load. */
export async function nodeExporter(): Promise<Served> {
  const port = await freePort();
  const listen = `--web.listen-address=127.0.0.1:${port}`;
  return served(port, '/metrics', 'prometheus-node-exporter', [
    '--collector.disable-defaults',
    '--collector.loadavg',
    '--collector.meminfo',
    listen,
  ]);
}

export async function postgresExporter(databaseUrl: string): Promise<Served> {
  const port = await freePort();
  const url = new URL(databaseUrl);
  url.searchParams.set('sslmode', 'disable');
  const args = [`--web.listen-address=127.0.0.1:${port}`];
  return served(port, '/', 'prometheus-postgres-exporter', args, { DATA_SOURCE_NAME: url.href });
}

interface Scene {
  /** By job. */
  readonly scrape: Readonly<Record<string, Served | readonly Served[]>>;
  /** A group of rules, as YAML below `rules:`. */
  readonly rules: string;
  /** What was measured before: OpenMetrics with timestamps. */
  readonly past?: string;
}

export interface OwnPrometheus extends Served {
  readonly url: string;
  /** It goes by another configuration from now on. */
  reload(scene: Omit<Scene, 'past'>): void;
}

/** Looks each second, and lets nobody but `PROMETHEUS_USER` ask. */
export async function startPrometheus({ past, ...scene }: Scene): Promise<OwnPrometheus> {
  const dir = scratchDir();
  const file = (name: string, text: string): string => {
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  };
  const configure = ({ scrape, rules }: Omit<Scene, 'past'>): string => {
    const jobs = Object.entries(scrape).map(([job, served]) => {
      const targets = [served].flat().map(({ port }) => `'127.0.0.1:${port}'`);
      return `  - job_name: ${job}\n    static_configs: [{ targets: [${targets.join(', ')}] }]\n`;
    });
    file('rules.yml', `groups:\n- name: test\n  rules:\n${rules}`);
    return file(
      'prometheus.yml',
      `global: { scrape_interval: 1s, evaluation_interval: 1s }\nrule_files: [rules.yml]\nscrape_configs:\n${jobs.join('')}`,
    );
  };
  const config = configure(scene);
  const web = file('web.yml', `basic_auth_users:\n  ${PROMETHEUS_USER.username}: ${PASSWORD_HASH}\n`);
  const data = join(dir, 'data');
  if (past !== undefined)
    execFileSync('promtool', ['tsdb', 'create-blocks-from', 'openmetrics', file('past.txt', past), data], {
      stdio: 'ignore',
    });
  const port = await freePort();
  const server = await served(port, '/-/ready', 'prometheus', [
    `--config.file=${config}`,
    `--web.config.file=${web}`,
    `--storage.tsdb.path=${data}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ]);
  return {
    ...server,
    url: `http://127.0.0.1:${port}`,
    reload(changed) {
      configure(changed);
      server.hangUp();
    },
  };
}

/** Why there can be no real Alertmanager; null: there can. */
export const alertmanagerMissing = (): string | null =>
  missingPackages('Alertmanager', [['prometheus-alertmanager', 'prometheus-alertmanager']]);

/** It notifies nobody, and lets nobody but `PROMETHEUS_USER` ask. */
export async function startAlertmanager(): Promise<Served & { readonly url: string }> {
  const dir = scratchDir();
  const file = (name: string, text: string): string => {
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  };
  const config = file('alertmanager.yml', 'route: { receiver: nobody }\nreceivers: [{ name: nobody }]\n');
  const web = file('web.yml', `basic_auth_users:\n  ${PROMETHEUS_USER.username}: ${PASSWORD_HASH}\n`);
  const port = await freePort();
  const server = await served(port, '/-/ready', 'prometheus-alertmanager', [
    `--config.file=${config}`,
    `--web.config.file=${web}`,
    `--storage.path=${join(dir, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--cluster.listen-address=',
  ]);
  return { ...server, url: `http://127.0.0.1:${port}` };
}

async function served(
  port: number,
  path: string,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Served & { hangUp(): void }> {
  // oxlint-disable-next-line node/no-process-env -- what every program needs
  const child = spawn(program, args, { stdio: 'ignore', env: { ...process.env, ...env } });
  await waitFor(`${program} answers`, () => isReady(child, `http://127.0.0.1:${port}${path}`));
  return {
    port,
    hangUp: () => void child.kill('SIGHUP'),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function isReady(child: ChildProcess, url: string): Promise<boolean> {
  if (child.exitCode !== null) throw new Error(`it ended with code ${child.exitCode}`);
  const user = Buffer.from(`${PROMETHEUS_USER.username}:${PROMETHEUS_USER.password}`).toString('base64');
  const answer = await fetch(url, { headers: { authorization: `Basic ${user}` } }).catch(() => null);
  await answer?.body?.cancel();
  return answer?.ok === true;
}
