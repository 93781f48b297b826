import { count } from '../core/count.ts';
import { missingPackage } from '../infra/embeddings/open-embedder.ts';
import type { SlackHealth } from '../slack/slack.ts';
import { defaultSource, webhookPath } from '../sources/registry.ts';
import type { Running } from './start.ts';

const shopSays: Readonly<Record<string, string>> = {
  'shop-db': 'a real database to break and have mended',
  'shop-host': 'a service with its files and log, likewise',
  'shop-docker': 'containers in this machine’s Docker, likewise; no others are touched',
  'shop-podman': 'containers in this machine’s Podman, likewise; no others are touched',
  'shop-cluster': 'a Kubernetes API with controllers, likewise; its containers only pretend',
};

/** The one screen after a start: what runs where, what to open, and what is missing for real use. */
export function firstScreen(running: Running, tookMs: number): string {
  const { config, workspace, httpUrl, app, shop } = running;
  const row = (name: string, text: string): string => `  ${name.padEnd(12)} ${text}\n`;
  const slack = workspace ? `local workspace at ${workspace.pageUrl}` : slackOf(app.slack.health());
  const { enabled, embedding } = config.memory;
  const notInstalled = enabled ? missingPackage(embedding) : null;
  const missing = [
    ...(workspace
      ? ['Slack: set SLACK_BOT_TOKEN and SLACK_APP_TOKEN. docs/connect.md says how (5 minutes).']
      : []),
    ...(!workspace && app.settings.approvers.length === 0
      ? ['Nobody may approve yet: type /sentry settings in Slack, as an owner or admin of the workspace.']
      : []),
    ...(config.llm
      ? []
      : ['Claude: set ANTHROPIC_API_KEY (console.anthropic.com). Without it the runbooks investigate.']),
    ...(config.playgroundTarget
      ? ['Your databases: name them in sentry.yaml (docs/connect.md, "Connect your databases").']
      : []),
    // Both have a usual socket: none is left only where the variable names something else.
    ...(workspace && config.playgroundEngines.docker.length === 0
      ? ['Docker: DOCKER_HOST is no unix:// socket, so the playground offers no containers of it.']
      : []),
    ...(workspace && config.playgroundEngines.podman.length === 0
      ? ['Podman: CONTAINER_HOST is no unix:// socket, so the playground offers no containers of it.']
      : []),
    ...(notInstalled === null
      ? []
      : [
          `Memory: ${notInstalled} is not installed, so search goes by words alone. Run npm install ${notInstalled}, or set SENTRY_EMBEDDING=offline.`,
        ]),
    ...(config.mode === 'AUDIT'
      ? ['Mode AUDIT: nothing is changed. SENTRY_MODE=ACTIVE lets approved fixes run.']
      : []),
  ];
  return [
    `\n  Sentry is ready (${(tookMs / 1000).toFixed(1)} s)\n\n`,
    row('Slack', slack),
    row('Webhook', `${httpUrl}${webhookPath(defaultSource)} (others: docs/alert-sources.md)`),
    row('Health', `${httpUrl}/health`),
    row(
      'PostgreSQL',
      config.databaseUrl ? 'yours (DATABASE_URL)' : `embedded, in ${config.dataDir}/postgres`,
    ),
    row('Chroma', running.chroma),
    ...shop.map((name) => row(name, shopSays[name] ?? 'likewise')),
    row(
      'Investigator',
      config.llm ? `Claude (${config.model}), runbooks when it fails` : count(app.runbooks.length, 'runbook'),
    ),
    ...(app.problems.length > 0
      ? [row('Runbooks', `${count(app.problems.length, 'problem')}: sentry runbooks validate`)]
      : []),
    ...(missing.length > 0 ? ['\n  For real use:\n', ...missing.map((line) => `  · ${line}\n`)] : []),
    workspace
      ? `\n  Open ${workspace.pageUrl}\n  and press “Cause an incident”. Ctrl-C stops everything.\n\n`
      : '\n  Ctrl-C stops everything.\n\n',
  ].join('');
}

/** Over HTTP nothing tells that requests arrive before one does. */
function slackOf({ ok, mode, problem }: SlackHealth): string {
  if (!ok) return `not connected yet: ${problem}; it is tried again (sentry doctor says more)`;
  return mode === 'http' ? 'connected over HTTP (/slack/events)' : 'connected by Socket Mode';
}
