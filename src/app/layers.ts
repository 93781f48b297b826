import { existsSync, readFileSync } from 'node:fs';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Config } from '../config/config.ts';
import { count } from '../core/count.ts';
import { messageOf } from '../core/errors.ts';
import { roles } from '../core/incident.ts';
import type { Sql } from '../core/sql.ts';
import type { AuditEntry, AuditLog } from '../safety/audit/audit-chain.ts';
import { notWhole } from '../safety/audit/audit-check.ts';
import type { Verified } from '../safety/audit/audit-verify.ts';
import type { KillSwitch } from '../safety/kill-switch/kill-switch.ts';
import { type LayerStatus, layerNames, layerOf, layerStatus, off, on, part } from '../safety/layers.ts';
import type { CostBreaker } from '../safety/limits/cost-breaker.ts';
import { formatBreaker } from '../safety/limits/format-breaker.ts';
import type { Tool } from '../tools/define.ts';

interface LayerParts {
  readonly config: Config;
  readonly tools: readonly Tool[];
  readonly sql: Sql;
  readonly killSwitch: KillSwitch;
  readonly breaker: Pick<CostBreaker, 'view'>;
  /** What verifying the audit log has shown; null: that is not done yet. May throw. */
  readonly verified: () => Verified | null | Promise<Verified | null>;
}

/** How each of the seed's fifteen layers stands at this moment: for `sentry doctor`, App Home and the metrics. */
export function layersNow({
  config,
  tools,
  sql,
  killSwitch,
  breaker,
  verified,
}: LayerParts): Promise<readonly LayerStatus[]> {
  return layerStatus(
    {
      'identity vault': async () => {
        const [row] = await sql<{ roles: number; live: number }>`
          SELECT count(DISTINCT name) FILTER (WHERE kind = 'role') AS roles,
                 (SELECT count(*) FROM credential WHERE expires_at > statement_timestamp() AND revoked_at IS NULL) AS live
            FROM identity WHERE rotated_at IS NULL AND revoked_at IS NULL`;
        const says = `${row?.roles} of ${count(roles.length, 'role')} have an identity; ${row?.live} credentials are good now`;
        return row?.roles === roles.length ? on(says) : part(`${says}; sentry identity list --all`);
      },
      'AI gateway': () => {
        const { injection, privateIps } = config.modelGuard;
        const addresses = privateIps ? 'all addresses' : 'public addresses';
        return on(
          `what reads like instructions is ${injection === 'block' ? 'kept from the model' : 'marked as data'}; secrets, names and ${addresses} hidden`,
        );
      },
      'audit log': async () => {
        const found = await verified();
        if (found?.ok === false) return off(notWhole(found));
        const [row] = await sql<{ entries: number | null; may_change: boolean }>`
          SELECT (SELECT seq FROM audit_head) AS entries, has_table_privilege(current_user, 'audit_entry', 'UPDATE, DELETE, TRUNCATE') AS may_change`;
        const where = config.auditChannel
          ? `, checkpoints to #${config.auditChannel}`
          : ', checkpoints in the data folder';
        const isWhole = found ? ', as they were written' : '';
        const says = `${row?.entries ?? 0} entries${isWhole}${where}`;
        return row?.may_change === false
          ? on(`${says}; this database user may only append`)
          : part(`${says}; this database user owns it: triggers refuse changes, and it could take them away`);
      },
      throttle: () => {
        const limits = Object.entries(config.throttle).map(
          ([kind, { calls, seconds }]: [string, { calls: number; seconds: number }]) =>
            `${kind} ${calls} in ${seconds / 60} min`,
        );
        return limits.length > 0 ? on(limits.join(', ')) : off('SENTRY_THROTTLE names no limit');
      },
      'tool registry': () =>
        on(`${count(tools.length, 'tool')}; what is not in the table is refused (sentry access)`),
      'human switch': async () =>
        on(
          (await killSwitch.stopped(['*']))?.reason ??
            'ACTIVE: approved fixes run; /sentry stop or STOP_SENTRY ends that',
        ),
      'path validation': () => on('inside the roots of the targets only'),
      'command whitelist': () => on('argument grammars, no shell'),
      'URL allow-list': () =>
        on(config.docsHosts.length > 0 ? `only ${config.docsHosts.join(', ')}` : 'no host is allowed'),
      'input sanitisation': () => on('strict schemas; what is hidden, too long or too deep is refused'),
      'restart rate limit': () => on('a service restarts once in 10 minutes, over all processes'),
      'cost breaker': async () => {
        const view = await breaker.view();
        return (view.state === 'closed' ? on : part)(formatBreaker(view));
      },
      'diff validation': () => on('only files under a root, tried on a copy first, the old one kept'),
      container,
      HTTP: () => {
        const { host, webhookSecret, rate } = config.http;
        const says = `${rate} requests a minute and source`;
        if (webhookSecret !== null) return on(`${says}; alerts need the secret`);
        return /^(127\.|::1$|localhost$)/.test(host)
          ? on(`${says}; without SENTRY_WEBHOOK_SECRET only this machine may call`)
          : part(`${says}; ${host} is open to others: set SENTRY_WEBHOOK_SECRET`);
      },
    },
    messageOf,
  );
}

/** What the kernel says of this process (proc(5), `status`): that it is confined counts, not by what. */
function container(): Pick<LayerStatus, 'state' | 'says'> {
  const uid = process.getuid?.() ?? -1;
  const user = uid === 0 ? 'runs as root' : `runs as user ${uid}`;
  if (!existsSync('/proc/self/status')) return part(`${user}; this system does not say more`);
  const status = readFileSync('/proc/self/status', 'utf8');
  const read = (field: string): string => new RegExp(`^${field}:\\s*(\\S+)`, 'm').exec(status)?.[1] ?? '';
  const hasNone = /^0+$/.test(read('CapEff'));
  const mayGain = read('NoNewPrivs') !== '1';
  const says = `${user}, ${hasNone ? 'no capabilities' : 'with capabilities'}, ${mayGain ? 'may gain privileges' : 'no new privileges'}`;
  return uid !== 0 && hasNone && !mayGain ? on(says) : part(`${says}; compose.yaml confines it`);
}

/** The audit log, counting into the metrics which layer refused what, after it is on record. */
export function countingRefusals(audit: AuditLog, metrics: Registry): AuditLog {
  const refusals = new Counter({
    name: 'sentry_layer_refusals_total',
    help: 'What each layer of security has stopped, by layer.',
    labelNames: ['layer'],
    registers: [metrics],
  });
  const entries = new Counter({
    name: 'sentry_audit_entries_total',
    help: 'Entries this process added to the audit log, by kind.',
    labelNames: ['kind'],
    registers: [metrics],
  });
  const count = ({ kind, details }: AuditEntry): void => {
    entries.inc({ kind });
    const code = (details as { readonly code?: unknown } | null)?.code;
    const layer =
      kind === 'injection.found' ? 'AI gateway' : typeof code === 'string' ? layerOf(code) : undefined;
    if (layer) refusals.inc({ layer });
  };
  return {
    async append(entry) {
      await audit.append(entry);
      count(entry);
    },
    async appendIn(tx, entry) {
      const seq = await audit.appendIn(tx, entry);
      count(entry);
      return seq;
    },
  };
}

const LOOK_MS = 30_000;

/** Which layers are on, as a metric: looked at now and then, since the metrics do not wait. Returns how to end it. */
export function watchLayers(look: () => Promise<readonly LayerStatus[]>, metrics: Registry): () => void {
  const gauge = new Gauge({
    name: 'sentry_layer_on',
    help: 'Whether each layer of security is on (1), in part (0.5) or off (0).',
    labelNames: ['layer'],
    registers: [metrics],
  });
  const refresh = (): void =>
    // `layersNow` never rejects: a layer that cannot be asked is off.
    void look().then((found) => {
      for (const { name, state } of found)
        gauge.set({ layer: name }, state === 'on' ? 1 : state === 'part' ? 0.5 : 0);
    });
  refresh();
  const timer = setInterval(refresh, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** One line for App Home; a log that is not whole says so in its own words. */
export function formatLayers(layers: readonly LayerStatus[]): string {
  const notOn = layers.filter(({ state }) => state !== 'on');
  const rest = notOn.map(({ name, state }) => `${name} (${state})`).join(', ');
  const line = `Security layers: ${layers.length - notOn.length} of ${layerNames.length} on${rest ? `; ${rest}` : ''}.`;
  const audit = notOn.find(({ name, state }) => name === 'audit log' && state === 'off');
  return audit ? `${line} ${audit.says}` : line;
}
