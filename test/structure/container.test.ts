import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
interface Service {
  readonly restart?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly privileged?: boolean;
  readonly cap_add?: readonly string[];
  readonly ports?: readonly string[];
  readonly networks: readonly string[];
  readonly container_name?: string;
  readonly volumes?: readonly (string | { readonly source: string; readonly read_only?: boolean })[];
  readonly environment: Readonly<Record<string, string>>;
}
const compose = parse(read('compose.yaml'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
};
const services = Object.entries(compose.services);

describe('compose.yaml', () => {
  it.each(services)(
    'keeps %s without capabilities, without new privileges and on a root nobody can write',
    (_, service) => {
      expect(service.cap_drop).toEqual(['ALL']);
      expect(service.cap_add).toBeUndefined();
      expect(service.privileged).toBeUndefined();
      expect(service.security_opt).toEqual(['no-new-privileges:true']);
      expect(service.read_only).toBe(true);
    },
  );

  it.each(services)('starts %s again, whatever ended it, until somebody stops it', (_, service) => {
    expect(service.restart).toBe('unless-stopped');
  });

  it('publishes one port on this machine alone, and gives the databases no way out', () => {
    expect(services.flatMap(([name, { ports = [] }]) => ports.map((port) => `${name} ${port}`))).toEqual([
      'balancer 127.0.0.1:3000:3000',
    ]);
    expect(compose.networks['inside']?.internal).toBe(true);
    for (const name of ['postgres', 'chroma']) expect(compose.services[name]?.networks).toEqual(['inside']);
  });

  it('mounts nothing of the machine but what is read, no socket of an engine, and changes nothing until it is told to', () => {
    const mounts = services
      .flatMap(([, { volumes = [] }]) => volumes)
      .filter((volume) => typeof volume !== 'string');
    expect(mounts.map(({ source, read_only: readOnly }) => [source, readOnly])).toEqual([
      ['./sentry.yaml', true],
      ['./deploy/haproxy/haproxy.cfg', true],
    ]);
    expect(read('compose.yaml')).not.toContain('docker.sock');
    expect(compose.services['sentry']?.environment['SENTRY_MODE']).toBe('${SENTRY_MODE:-AUDIT}');
  });
});

describe('compose.yaml --scale sentry=3 [C10]', () => {
  const { sentry, balancer } = compose.services;
  const haproxy = read('deploy/haproxy/haproxy.cfg');

  it('finds nothing in the service that only one container can have', () => {
    expect(sentry?.ports).toBeUndefined();
    expect(sentry?.container_name).toBeUndefined();
    // A named volume would be one data folder for all; without a source each container gets its own.
    const written = (sentry?.volumes ?? []).filter((volume) => typeof volume === 'string');
    expect(written).toEqual(['/data']);
    expect(read('Dockerfile')).toContain('SENTRY_DATA_DIR=/data');
  });

  it('asks for the key that all of them need', () => {
    expect(sentry?.environment['SENTRY_VAULT_KEY']).toMatch(/^\$\{SENTRY_VAULT_KEY:\?/);
  });

  it('puts before them what knows each, asks whether it is ready, and else answers 503 and when to come again', () => {
    expect(balancer?.networks.filter((network) => sentry?.networks.includes(network))).toEqual(['outside']);
    expect(haproxy).toMatch(/^ {2}server-template sentry- \d+ sentry:3000$/m);
    expect(read('Dockerfile')).toContain('SENTRY_HTTP_PORT=3000');
    expect(haproxy).toMatch(/^ {2}bind :3000$/m);
    expect(haproxy).toContain('uri /ready');
    expect(haproxy).toMatch(/http-error status 503 .* hdr Retry-After \d+/);
  });
});

describe('Dockerfile', () => {
  const lines = read('Dockerfile')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map((line) => line.trim());

  it('has one base, named once with its version, so that it can be pinned', () => {
    expect(lines.filter((line) => line.startsWith('ARG BASE='))).toEqual(['ARG BASE=node:20-bookworm-slim']);
    expect(
      lines.filter((line) => line.startsWith('FROM ')).every((line) => line.startsWith('FROM ${BASE}')),
    ).toBe(true);
  });

  it('runs Sentry as a user of its own, says how it is, and carries a list of what is inside', () => {
    const last = lines.slice(lines.lastIndexOf('FROM ${BASE}'));
    expect(last).toContain('USER 10001:10001');
    // Nothing is run or copied as root after it.
    expect(
      last.slice(last.indexOf('USER 10001:10001') + 1).some((line) => /^(RUN|COPY|ADD|USER)/.test(line)),
    ).toBe(false);
    expect(last.some((line) => line.startsWith('HEALTHCHECK') && line.includes('/health'))).toBe(true);
    expect(last.some((line) => line.includes('sbom.cdx.json'))).toBe(true);
    // No address to fetch from, and no script of a package is run while it is built.
    expect(lines.some((line) => /^ADD |curl |wget /.test(line))).toBe(false);
    for (const line of lines.filter((each) => each.includes('npm ci')))
      expect(line).toContain('--ignore-scripts');
  });
});
