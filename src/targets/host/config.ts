import { z } from 'zod';
import type { Severity } from '../../core/alert.ts';
import { lineMatcher } from '../../safety/grep/line-matcher.ts';
import { absolute, folder, plain } from '../../safety/paths/root-folder.ts';
import { isInside } from '../../safety/paths/system-folders.ts';
import type { EntryOf, TargetConfig } from '../kind.ts';
import { readSsh, type SshTarget, sshFields } from './ssh-config.ts';

/** A folder of a host that may be read, and, with `patch`, patched. */
export interface HostRoot {
  readonly path: string;
  readonly patch: boolean;
}

/** A service that may be looked at and restarted: nothing else of the host can be. */
export type HostService =
  | {
      readonly name: string;
      readonly kind: 'systemd';
      readonly unit: string;
      /** Where it takes connections on its machine, if it does. */
      readonly port?: number;
    }
  | {
      readonly name: string;
      readonly kind: 'command';
      /** Program by absolute path and its arguments; run without a shell. */
      readonly restart: readonly string[];
      /** Holds the pid of its main process. */
      readonly pidFile: string;
      readonly port?: number;
    };

/** A host as configured: this machine, with the rights of Sentry's own account, or another one by its login there. */
export interface HostConfig extends TargetConfig {
  readonly roots: readonly HostRoot[];
  readonly services: readonly HostService[];
  /** Hosts that `curl` may ask; an entry that starts with a dot also stands for what is below it. */
  readonly curlHosts: readonly string[];
  readonly watch: readonly HostLog[];
  /** Left out: it is this machine. */
  readonly ssh?: SshTarget;
}

/** A log that is watched: what of it opens incidents. */
export interface HostLog {
  readonly from:
    | { readonly kind: 'file'; readonly path: string }
    | { readonly kind: 'unit'; readonly unit: string };
  /** Tried in this order; the first that fits names the alert. RE2. */
  readonly patterns: ReadonlyArray<{
    readonly match: string;
    readonly name: string;
    readonly severity: Severity;
  }>;
  /** Fits the first line of a record of several, like a stack trace; without it each line is one. RE2. */
  readonly starts?: string;
}

const serviceName = z
  .string()
  .regex(/^[a-zA-Z0-9][a-zA-Z0-9._@-]{0,62}$/, 'letters, digits, ".", "_", "@", "-"; at most 63');
const unit = z
  .string()
  .regex(/^[A-Za-z0-9_@:][A-Za-z0-9_.@:-]{0,246}\.service$/, 'expected the name of a unit, like web.service');
const curlHost = z
  .string()
  .regex(/^\.?[a-z0-9][a-z0-9.-]{0,252}$|^\[[0-9a-f:]+\]$/, 'expected a host name or address in lower case');

const service = z
  .strictObject({
    name: serviceName,
    unit: unit.optional(),
    restart: z.tuple([absolute], plain.max(1000)).optional(),
    pid_file: absolute.optional(),
    port: z.number().int().min(1).max(65_535).optional(),
  })
  .superRefine((value, context) => {
    const declared = value.restart !== undefined || value.pid_file !== undefined;
    if (value.unit !== undefined ? declared : !(value.restart && value.pid_file))
      context.addIssue(
        'expected either "unit", or "restart" (a program by absolute path, and arguments) and "pid_file"',
      );
  })
  .transform(
    ({ name, unit: named, restart = [], pid_file: pidFile = '', port }): HostService => ({
      ...(named === undefined
        ? { name, kind: 'command', restart, pidFile }
        : { name, kind: 'systemd', unit: named }),
      ...(port === undefined ? {} : { port }),
    }),
  );

const re2 = z.string().superRefine((pattern, context) => {
  const read = lineMatcher({ pattern, ignoreCase: false, literal: false });
  if (!read.ok) context.addIssue(read.reason);
});
const pattern = z.preprocess(
  (given) => (typeof given === 'string' ? { match: given } : given),
  z.strictObject({
    match: re2,
    name: plain.max(100).default('LogLine'),
    severity: z.enum(['critical', 'error', 'warning', 'info']).default('error'),
  }),
);
const log = z
  .strictObject({
    file: absolute.optional(),
    unit: unit.optional(),
    patterns: z.array(pattern).min(1, 'name at least one pattern').max(50),
    starts: re2.optional(),
  })
  .transform(({ file, unit: named, patterns, starts }, context): HostLog => {
    if ((file === undefined) === (named === undefined)) context.addIssue('expected either "file" or "unit"');
    return {
      from: file === undefined ? { kind: 'unit', unit: named ?? '' } : { kind: 'file', path: file },
      patterns,
      ...(starts === undefined ? {} : { starts }),
    };
  });

/** A path alone is a folder that may only be read. */
const root = z.preprocess(
  (given) => (typeof given === 'string' ? { path: given } : given),
  z.strictObject({ path: folder, patch: z.boolean().default(false) }),
);

/** The fields of a host in `sentry.yaml`, besides those of every target. */
export const hostFields = {
  domain: z.string().optional().meta({
    description: 'whose runbooks and memory fit what runs there; docker when left out',
    example: 'postgres',
  }),
  roots: z.array(root).min(1, 'name at least one folder that may be read').max(20).meta({
    description: 'folders that may be read, and with patch: true patched after approval',
    example: '[/var/log/shop, { path: /etc/shop, patch: true }]',
  }),
  services: z.array(service).max(100).default([]).meta({
    description: 'services that may be looked at and, after approval, restarted',
    example: '[{ name: shop-web, unit: shop-web.service }]',
    without: 'no service can be looked at',
  }),
  watch: z.array(log).max(50).default([]).meta({
    description: 'logs whose lines open incidents, by file or unit, with RE2 patterns',
    example: '[{ file: /var/log/shop/app.log, patterns: [{ match: "ERROR|FATAL", name: ShopErrors }] }]',
  }),
  curl_hosts: z.array(curlHost).max(50).default([]).meta({
    description: 'hosts that diagnostics may call with curl',
    example: '[localhost]',
  }),
  ssh: sshFields.optional().meta({
    description: 'how to log in, where it is another machine than this one',
    example:
      '{ host: web-1.internal, user: sentry, host_key: "SHA256:…", key_file: /etc/sentry/web-1_ed25519 }',
  }),
} as const;

/** From its entry in `sentry.yaml`; what is wrong across its fields, as `path: message`. */
export function readHost(
  { curl_hosts: curlHosts, ssh, ...host }: EntryOf<typeof hostFields>,
  env: Readonly<Record<string, string | undefined>>,
): HostConfig | readonly string[] {
  const problems = hostProblems(host);
  if (problems.length > 0) return problems;
  if (ssh === undefined) return { ...host, curlHosts };
  const patched = host.roots.find(({ patch }) => patch);
  if (patched) return [`roots: ${patched.path} has patch: true. ${NO_PATCH_OVER_SSH}`];
  if (host.watch.length > 0) return [`watch: ${NO_WATCH_OVER_SSH}`];
  const target = readSsh(ssh, env);
  return 'host' in target ? { ...host, curlHosts, ssh: target } : target;
}

/** Why files of a host over ssh are read and never changed. */
export const NO_PATCH_OVER_SSH =
  'Over ssh no file is changed: without a program of Sentry on the host nothing can open a file there for writing without following links that somebody swaps meanwhile. Run Sentry on the host, or change the file by hand.';

const NO_WATCH_OVER_SSH =
  'Logs are watched on the machine of Sentry only. Run Sentry on the host, or have its logs sent to a system that alerts.';

function hostProblems(host: Pick<HostConfig, 'services' | 'roots' | 'watch'>): readonly string[] {
  const twice = (values: readonly string[]): string | undefined =>
    values.find((value, index) => values.indexOf(value) !== index);
  const name = twice(host.services.map((each) => each.name));
  const path = twice(host.roots.map((each) => each.path));
  const logs = host.watch.map(({ from }) => (from.kind === 'file' ? from.path : from.unit));
  const log = twice(logs);
  const outside = logs.filter(
    (each) => each.startsWith('/') && !host.roots.some((root) => isInside(root.path, each)),
  );
  return [
    ...(name === undefined ? [] : [`services: two services are called "${name}"`]),
    ...(path === undefined ? [] : [`roots: ${path} is named twice`]),
    ...(log === undefined ? [] : [`watch: ${log} is named twice`]),
    ...outside.map((each) => `watch: ${each} is in none of the folders of "roots"`),
  ];
}
