import { describe, expect, it } from 'vitest';
import { firstScreen } from '../../../src/app/first-screen.ts';
import type { Running } from '../../../src/app/start.ts';
import { loadConfig } from '../../../src/config/config.ts';

const screenOf = (env: Readonly<Record<string, string>>): string =>
  firstScreen(
    {
      config: loadConfig(env),
      workspace: { pageUrl: 'http://127.0.0.1:1' },
      httpUrl: 'http://127.0.0.1:2',
      app: { runbooks: [], problems: [] },
      shop: [],
      chroma: 'embedded',
    } as unknown as Running,
    1_000,
  );

describe('the first screen', () => {
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
