import type { Registry } from 'prom-client';
import { messageOf } from '../core/errors.ts';
import { within } from '../core/within.ts';
import type { Route } from './route.ts';

export interface ReadyCheck {
  readonly name: string;
  /** Resolves when the part can work; rejects with why not. */
  readonly check: () => Promise<void>;
}

const CHECK_TIMEOUT_MS = 2_000;

/** `/health` (the process lives), `/ready` (it can take alerts) and `/metrics` (Prometheus text). */
export function statusRoutes(options: {
  readonly checks: readonly ReadyCheck[];
  readonly metrics: Registry;
}): readonly Route[] {
  return [
    { method: 'GET', path: '/health', handle: () => ({ status: 200, body: { status: 'ok' } }) },
    {
      method: 'GET',
      path: '/ready',
      async handle() {
        const parts = await Promise.all(options.checks.map(runCheck));
        const ready = parts.every(({ ok }) => ok);
        return { status: ready ? 200 : 503, body: { status: ready ? 'ready' : 'not ready', parts } };
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      handle: async () => ({
        status: 200,
        headers: { 'content-type': options.metrics.contentType },
        body: await options.metrics.metrics(),
      }),
    },
  ];
}

async function runCheck({
  name,
  check,
}: ReadyCheck): Promise<{ name: string; ok: boolean; reason?: string }> {
  try {
    await within(CHECK_TIMEOUT_MS, check());
    return { name, ok: true };
  } catch (error) {
    return { name, ok: false, reason: messageOf(error) };
  }
}
