import { describe, expect, it } from 'vitest';
import { firstScreen } from '../../../src/app/first-screen.ts';
import type { Running } from '../../../src/app/start.ts';
import { loadConfig } from '../../../src/config/config.ts';

const screenOf = (env: Readonly<Record<string, string>>, over: object = {}): string =>
  firstScreen(
    {
      config: loadConfig(env),
      workspace: { pageUrl: 'http://127.0.0.1:1' },
      httpUrl: 'http://127.0.0.1:2',
      app: { runbooks: [], problems: [] },
      shop: [],
      chroma: 'embedded',
      ...over,
    } as unknown as Running,
    1_000,
  );

/** In a Slack of one's own. */
const connected = (slack: object, approvers: readonly object[] = []): string =>
  screenOf(
    { SLACK_BOT_TOKEN: 'xoxb-1', SLACK_APP_TOKEN: 'xapp-1' },
    {
      workspace: null,
      app: { runbooks: [], problems: [], settings: { approvers }, slack: { health: () => slack } },
    },
  );

describe('the first screen', () => {
  it('says that Slack is connected only when it is', () => {
    const well = { ok: true, mode: 'socket', problem: null };
    expect(connected(well)).toMatch(/Slack +connected by Socket Mode\n/);
    expect(connected({ ...well, mode: 'http' })).toMatch(/Slack +connected over HTTP/);
    const away = connected({ ...well, ok: false, problem: 'Slack cannot be reached' });
    expect(away).toMatch(/Slack +not connected yet: Slack cannot be reached/);
    expect(away).not.toContain(' connected by');
  });

  it('says how somebody comes to approve, until somebody may', () => {
    const well = { ok: true, mode: 'socket', problem: null };
    expect(connected(well)).toContain('Nobody may approve yet: type /sentry settings in Slack');
    expect(connected(well, [{ kind: 'user', id: 'U1' }])).not.toContain('Nobody may approve');
    // The playground has its own.
    expect(screenOf({})).not.toContain('Nobody may approve');
  });

  it('says which engine’s containers the playground cannot offer, and why', () => {
    const remote = screenOf({ DOCKER_HOST: 'tcp://127.0.0.1:2375', CONTAINER_HOST: 'ssh://127.0.0.1' });
    expect(remote).toContain('DOCKER_HOST is no unix:// socket');
    expect(remote).toContain('CONTAINER_HOST is no unix:// socket');
    expect(screenOf({ DOCKER_HOST: 'unix:///run/docker.sock' })).not.toContain('unix://');
  });

  it('says which package of the embedding is not installed, and what to do', () => {
    const said = 'Memory: @chroma-core/no-such-one is not installed';
    expect(screenOf({ SENTRY_EMBEDDING: 'no-such-one' })).toContain(said);
    expect(screenOf({ SENTRY_EMBEDDING: 'no-such-one' })).toContain('npm install @chroma-core/no-such-one');
    expect(screenOf({ SENTRY_EMBEDDING: 'no-such-one', MEMORY_ENABLED: 'false' })).not.toContain(said);
    expect(screenOf({})).not.toContain('is not installed');
  });
});
