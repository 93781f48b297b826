import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Call, DenialsRig } from './denials-rig.ts';

/** Each kind of thing that a tool of ours can touch. */
export interface Kind {
  readonly kind: string;
  /** Calls on one thing: another tool, another name of its target, or another way to it. */
  calls(rig: DenialsRig): Promise<readonly [Call, Call, ...Call[]]>;
  /** A call on the first one's target that touches something else. */
  beside(rig: DenialsRig): Call;
}

export const session = (tool: string, target: string, key: object): Call => ({
  tool,
  target,
  input: { ...key },
});

const set = (target: string, name: string, value: string): Call => ({
  tool: 'postgres_set_setting',
  target,
  input: { name, value },
});

/** The file's one line, changed by a unified diff. */
const patch = (target: string, file_path: string, relative: string, from: string, to: string): Call => ({
  tool: 'apply_patch',
  target,
  input: { file_path, diff: `--- a/${relative}\n+++ b/${relative}\n@@ -1 +1 @@\n-${from}\n+${to}\n` },
});

// Each time another value, or nothing would be changed.
let others = 0;
const otherSetting = (): Call => {
  others += 1;
  return set('shop-db', 'idle_in_transaction_session_timeout', `${others}min`);
};
const otherFile = (rig: DenialsRig): Call => {
  others += 1;
  const path = join(rig.host.dir, 'app', 'conf.d', 'other.conf');
  writeFileSync(path, `other=${others}\n`);
  return patch('web-1', path, 'conf.d/other.conf', `other=${others}`, `other=${others + 1}`);
};

export const sessions: Kind = {
  kind: 'session',
  async calls(rig) {
    const key = await rig.busySession(`app-${Math.random().toString(36).slice(2, 8)}`);
    return [
      session('postgres_terminate_backend', 'shop-db', key),
      session('postgres_cancel_query', 'shop-db', key),
      session('postgres_terminate_backend', 'checkout-db', key),
      // The same moment, written otherwise.
      session('postgres_terminate_backend', 'shop-db', {
        ...key,
        backend_start: key.backend_start.replace('T', ' ').replace('Z', '+00'),
      }),
    ];
  },
  beside: otherSetting,
};

export const settings: Kind = {
  kind: 'setting',
  calls: async () => [
    set('shop-db', 'idle_session_timeout', '10min'),
    set('shop-db', 'idle_session_timeout', '20min'),
    set('checkout-db', 'idle_session_timeout', '10min'),
  ],
  beside: otherSetting,
};

const tables: Kind = {
  kind: 'table',
  async calls(rig) {
    await rig.shop.admin.unsafe(`
      CREATE TABLE IF NOT EXISTS clicks (at int) PARTITION BY RANGE (at);
      CREATE TABLE IF NOT EXISTS clicks_1 PARTITION OF clicks FOR VALUES FROM (0) TO (10)`);
    const vacuum = (target: string, table: string): Call => ({
      tool: 'postgres_vacuum_table',
      target,
      input: { schema: 'public', table, analyze: true },
    });
    // Whoever vacuums the whole goes through the part.
    return [vacuum('shop-db', 'clicks_1'), vacuum('checkout-db', 'clicks_1'), vacuum('shop-db', 'clicks')];
  },
  beside: otherSetting,
};

export const services: Kind = {
  kind: 'service',
  async calls() {
    const restart = (target: string, service: string): Call => ({
      tool: 'restart_service',
      target,
      input: { service },
    });
    return [restart('web-1', 'worker'), restart('web-2', 'jobs')];
  },
  beside: otherFile,
};

const files: Kind = {
  kind: 'file',
  async calls(rig) {
    const change = (target: string, root: string): Call =>
      patch(target, join(rig.host.dir, root, 'conf.d', 'pool.conf'), 'conf.d/pool.conf', 'pool=4', 'pool=8');
    return [change('web-1', 'app'), change('web-2', 'current')];
  },
  beside: otherFile,
};

export const kinds: readonly Kind[] = [sessions, settings, tables, services, files];
